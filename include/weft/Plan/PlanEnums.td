//===- PlanEnums.td - Enums of the plan dialect ------------*- tablegen -*-===//

#ifndef PLAN_ENUMS_TD
#define PLAN_ENUMS_TD

include "mlir/IR/EnumAttr.td"

def Plan_Role : I32EnumAttr<"Role", "role of a transient buffer", [
    I32EnumAttrCase<"Activation", 0, "activation">,
    I32EnumAttrCase<"Temporary", 1, "temporary">,
    I32EnumAttrCase<"Workspace", 2, "workspace">]> {
  let cppNamespace = "::weft::plan";
  let genSpecializedAttr = 0;
}

#endif // PLAN_ENUMS_TD
