//===- Segments.td - The attribute of a segment ------------*- tablegen -*-===//

#ifndef WEFT_SEGMENTS_TD
#define WEFT_SEGMENTS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

/// `weft` and `plan` have one each: a plan depends on no other dialect.
class Weft_SegmentAttrOf<Dialect dialect> : AttrDef<dialect, "Segment"> {
  let mnemonic = "segment";
  let summary = "A parameter inside a flat state";
  let description = [{
    Elements `begin` to `end` (not included) of a flat state are the parameter
    of that name and shape, in row-major order, or the state's value for it.
    Positions count elements of all shards together. `source` is the parameter's
    name in the file of initial weights, if it differs.

    `#}] # dialect.name # [{.segment<@fc1.weight [128, 64] at 0 to 8192>`,
    `#}] # dialect.name # [{.segment<@fc1.bias [128] at 8192 to 8320 source "layers.0.bias">`.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$param,
                        ArrayRefParameter<"int64_t">:$shape,
                        "int64_t":$begin, "int64_t":$end,
                        OptionalParameter<"::mlir::StringAttr">:$source);
  let extraClassDeclaration = [{
    ::weft::Segment getSegment() const {
      return {getParam(), ::llvm::SmallVector<int64_t>(getShape()), getBegin(),
              getEnd(), getSource()};
    }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // WEFT_SEGMENTS_TD
