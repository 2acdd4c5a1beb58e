//===- PlanBase.td - Dialect, types and enums of plan ------*- tablegen -*-===//

#ifndef PLAN_BASE_TD
#define PLAN_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "weft/Interfaces/Segments.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::weft::plan";
  let summary = "Straight-line programs over buffers";
  let description = [{
    Programs for the executor. Their commands read and write named bytes of one
    arena. Every buffer is a `memref` of static shape. A **root** buffer
    (`plan.use` of a state, `plan.input`, `plan.alloc`) is dense and row-major;
    a `plan.view` is a strided part of a root. `weft-plan-memory` gives each
    root its byte `offset`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Module attributes set by plan-memory: sizes in bytes.
    static constexpr ::llvm::StringLiteral kArenaBytesAttr = "plan.arena_bytes";
    /// CTAs that collectives of a device may use while products run.
    static constexpr ::llvm::StringLiteral kCollectiveCtasAttr = "plan.collective_ctas";
    static constexpr ::llvm::StringLiteral kPersistentBytesAttr = "plan.persistent_bytes";
    /// Alignment of every root buffer's offset, in bytes.
    static constexpr ::llvm::StringLiteral kAlignmentAttr = "plan.alignment";
    /// Maximum number of threads of the program, for which workspaces are
    /// sized.
    static constexpr ::llvm::StringLiteral kMaxThreadsAttr = "plan.max_threads";
    void registerAttributes();
  }];
}

//===----------------------------------------------------------------------===//
// Types and enums
//===----------------------------------------------------------------------===//

def Plan_Buffer : MemRefOf<[F32, F16, BF16, F64, I1, I32, I64]>;
/// Bytes without meaning.
def Plan_Workspace : MemRefRankOf<[I8], [1]>;
def Plan_Transient : MemRefOf<[F32, F16, BF16, F64, I1, I8, I32, I64]>;
def Plan_FloatBuffer : MemRefOf<[F32, F16, BF16]>;
def Plan_F32Buffer : MemRefOf<[F32]>;
def Plan_IndexBuffer : MemRefOf<[I32, I64]>;

/// One element.
class Plan_Scalar<Type element> : MemRefRankOf<[element], [0]>;
def Plan_ScalarF32 : Plan_Scalar<F32>;
/// {seed, first row} of random numbers.
def Plan_Integers : MemRefRankOf<[I64], [1]>;

class Plan_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::weft::plan";
  let genSpecializedAttr = 0;
}
/// Stands in an op's own syntax: printed without brackets.
class Plan_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<Plan_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}

def Plan_StateKind : Plan_Enum<"StateKind", "what a persistent tensor holds", [
    I32EnumAttrCase<"Param", 0, "param">,
    I32EnumAttrCase<"Gradient", 1, "gradient">,
    I32EnumAttrCase<"Optimizer", 2, "optimizer">,
    I32EnumAttrCase<"Scaler", 3, "scaler">,
    I32EnumAttrCase<"Working", 4, "working">,
    I32EnumAttrCase<"Accumulator", 5, "accumulator">,
    I32EnumAttrCase<"Presence", 6, "presence">,
    I32EnumAttrCase<"Denominator", 7, "denominator">]>;
def Plan_StateKindAttr : Plan_EnumAttr<Plan_StateKind, "state_kind">;

def Plan_Role : Plan_Enum<"Role", "why a transient buffer exists", [
    I32EnumAttrCase<"Activation", 0, "activation">,
    I32EnumAttrCase<"Temporary", 1, "temporary">,
    I32EnumAttrCase<"Workspace", 2, "workspace">]>;
def Plan_RoleAttr : Plan_EnumAttr<Plan_Role, "role">;

def Plan_Epilogue : Plan_Enum<"Epilogue", "what a product does with its sum", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Relu", 1, "relu">,
    I32EnumAttrCase<"ReluGrad", 2, "relu_grad">,
    I32EnumAttrCase<"Gelu", 3, "gelu">,
    I32EnumAttrCase<"GeluGrad", 4, "gelu_grad">]>;
def Plan_EpilogueAttr : Plan_EnumAttr<Plan_Epilogue, "epilogue">;

def Plan_SegmentAttr : Weft_SegmentAttrOf<Plan_Dialect>;
def Plan_Segments : TypedArrayAttrBase<Plan_SegmentAttr, "a list of segments">;

class Plan_Op<string mnemonic, list<Trait> traits = []>
    : Op<Plan_Dialect, mnemonic, traits>;

#endif // PLAN_BASE_TD
