//===- PlanBase.td - Dialect, types and enums of plan ------*- tablegen -*-===//

#ifndef PLAN_BASE_TD
#define PLAN_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "weft/Interfaces/Enums.td"
include "weft/Interfaces/Segments.td"
include "weft/Plan/PlanEnums.td"

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
def Plan_I32Buffer : MemRefOf<[I32]>;
def Plan_IndexBuffer : MemRefOf<[I32, I64]>;

/// One element.
class Plan_Scalar<Type element> : MemRefRankOf<[element], [0]>;
def Plan_ScalarF32 : Plan_Scalar<F32>;
/// {seed, first row} of random numbers.
def Plan_Integers : MemRefRankOf<[I64], [1]>;

/// Stands in an op's own syntax: printed without brackets. The enum may be
/// one that other dialects use too.
class Plan_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<Plan_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
  let cppNamespace = dialect.cppNamespace;
  let constBuilderCall = dialect.cppNamespace # "::" # cppClassName
      # "::get($_builder.getContext(), $0)";
}

def Plan_ProgramKindAttr : Plan_EnumAttr<Weft_ProgramKind, "program_kind">;
def Plan_StateKindAttr : Plan_EnumAttr<Weft_StateKind, "state_kind">;
def Plan_RoleAttr : Plan_EnumAttr<Plan_Role, "role">;
def Plan_EpilogueAttr : Plan_EnumAttr<Weft_Epilogue, "epilogue">;

def Plan_SegmentAttr : Weft_SegmentAttrOf<Plan_Dialect>;
def Plan_Segments : TypedArrayAttrBase<Plan_SegmentAttr, "a list of segments">;

class Plan_Op<string mnemonic, list<Trait> traits = []>
    : Op<Plan_Dialect, mnemonic, traits>;

#endif // PLAN_BASE_TD
