//===- PlanCommands.td - Base classes of commands ----------*- tablegen -*-===//

#ifndef PLAN_COMMANDS_TD
#define PLAN_COMMANDS_TD

include "weft/Plan/PlanBase.td"
include "weft/Plan/PlanInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

/// A buffer that a command reads, and one whose every byte it writes without
/// reading old ones.
class Plan_Reads<Constraint buffer> : Arg<buffer, "", [MemRead]>;
class Plan_Writes<Constraint buffer> : Arg<buffer, "", [MemWrite]>;

/// A command that the host, another rank or another stream can observe: it is
/// neither dropped nor merged.
def Plan_Outside : Resource<"::weft::plan::Outside">;
def Plan_Observed : MemoryEffects<[MemRead<Plan_Outside>, MemWrite<Plan_Outside>]>;

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// Every operand lies densely in row-major order.
def Plan_Dense : NativeOpTrait<"DenseOperands"> {
  let cppNamespace = "::weft::plan";
}

/// These groups of `operandSegmentSizes` have one operand each: text that names
/// the sizes may say otherwise, and accessors would read the next group.
class Plan_Single<string groups> : ParamNativeOpTrait<"SingleOperands", groups> {
  let cppNamespace = "::weft::plan";
}

/// `scope` is the module path of the op it came from, `flops` its arithmetic,
/// `est_us` the estimate of its time, `stream` the queue that it runs in. Any
/// dialect may have commands.
class Plan_CommandOf<Dialect dialect, string mnemonic, dag operandsAndNumbers,
                     list<Trait> traits = []>
    // The interface is verified last: it asks for single operands.
    : Op<dialect, mnemonic, !listconcat(traits, [DeclareOpInterfaceMethods<CommandOpInterface>])> {
  let arguments = !con(operandsAndNumbers, (ins OptionalAttr<StrAttr>:$scope,
      OptionalAttr<I64Attr>:$flops, OptionalAttr<F64Attr>:$est_us,
      OptionalAttr<I64Attr>:$stream));
}

class Plan_Command<string mnemonic, dag operandsAndNumbers, list<Trait> traits = []>
    : Plan_CommandOf<Plan_Dialect, mnemonic, operandsAndNumbers,
                     !listconcat([HasParent<"ProgramOp">], traits)>;

/// A command whose library routine may need memory to work in: an operand
/// `workspace` behind all others, which a target adds.
class Plan_OptionalWorkspaceCommand<string mnemonic, dag operands, dag numbers, list<Trait> traits = [],
                                    dag workspace = (ins Plan_Writes<Optional<Plan_Workspace>>:$workspace)>
    : Plan_Command<mnemonic, !con(operands, workspace, numbers),
        !listconcat([WorkspaceOpInterface], traits)> {
  string workspaceClause = "(`workspace` `(` $workspace^ `:` type($workspace) `)`)? ";
}

/// The same with further operands that may be left out.
class Plan_WorkspaceCommand<string mnemonic, dag operands, dag numbers, list<Trait> traits = []>
    : Plan_OptionalWorkspaceCommand<mnemonic, operands, numbers,
        !listconcat([AttrSizedOperandSegments], traits)>;

/// The same for a command that reads its target only if it accumulates: it
/// defines its effects itself.
class Plan_AccumulatingCommand<string mnemonic, dag operands, dag numbers, list<Trait> traits = []>
    : Plan_OptionalWorkspaceCommand<mnemonic, operands, numbers,
        !listconcat([AttrSizedOperandSegments,
                     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits),
        (ins Optional<Plan_Workspace>:$workspace)>;

/// `name(%x : type)`; `optional` where the operand may be left out.
class Plan_Clause<string name> {
  string required = "`" # name # "` `(` $" # name # " `:` type($" # name # ") `)` ";
  string optional = "(`" # name # "` `(` $" # name # "^ `:` type($" # name # ") `)`)? ";
}

#endif // PLAN_COMMANDS_TD
