//===- Target.h - The interface of a kind of machine ------------*- C++ -*-===//
//
// The driver knows no machine by name: it asks the object that --target names
// for everything that depends on the machine.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PIPELINE_TARGETS_TARGET_H
#define WEFT_PIPELINE_TARGETS_TARGET_H

#include "weft/Base/Flags.h"
#include "weft/Formats/Json.h"
#include "weft/Memory/MemoryReport.h"
#include "weft/Pipeline/Targets/Phase.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <optional>

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace weft {

/// The libraries that executables of a target link in addition to the runtime.
struct TargetLibraries {
  /// Archives in the folder of the runtime, such as "libWeftCpuKernels.a".
  std::vector<std::string> archives;
  /// More flags of the linker, such as libraries of the system: "-ldnnl".
  std::vector<std::string> flags;
  /// A hint for the user when linking fails.
  std::string hint = {};
  /// Other files of the runtime's folder that go into a program, such as
  /// kernels of a device.
  std::vector<std::string> parts = {};
};

/// The most memory that programs for a machine may take, including memory
/// outside their arenas.
struct MemoryBound {
  int64_t bytes;
  /// The flag that sets it: "--device=h100".
  std::string flag;
  /// For errors: "--device=h100 has 78.40 GiB (80 GiB, of which ...)".
  std::string text;
};

/// Compiles kernels by themselves, in parallel with the tables of their
/// programs. Thread-safe.
class KernelCompiler {
public:
  virtual ~KernelCompiler() = default;

  /// Adds the passes that turn the kernels of a module (`weft.kernel`) into the
  /// ops that its target emits.
  virtual void addPasses(const FlagValues &flags,
                         mlir::OpPassManager &passes) const = 0;
  /// A relocatable object with the functions of such ops.
  virtual llvm::FailureOr<std::vector<char>>
  emit(mlir::ModuleOp module) const = 0;
  /// A relocatable object that defines `weft_tables` (PackedTables.h) and names
  /// those functions.
  virtual llvm::FailureOr<std::vector<char>>
  emitTables(mlir::ModuleOp module) const = 0;
};

/// The machine, microarchitecture level or chips that code is made for.
class Target {
public:
  virtual ~Target() = default;

  /// Adds the target's own passes of a phase; most phases need none. They run
  /// before the passes that all targets share (addCommonPasses). In
  /// LowerToTarget they run after the metadata and before the kernel compiler.
  virtual void addPasses(Phase phase, const FlagValues &flags,
                         mlir::OpPassManager &passes) const = 0;
  /// The library that may claim ops (weft/Analysis/KernelLibrary.h).
  virtual llvm::StringRef getKernelLibrary() const = 0;
  /// The alignment of offsets in the arena, in bytes: a power of two.
  virtual int64_t getAlignment() const = 0;
  /// Everything besides flags and model that decides the bytes of the code: the
  /// properties of this machine where --target means this machine, and the
  /// tools other than weft that compile.
  virtual std::string getIdentity() const = 0;

  /// The name of the op that a kernel is after the target's own phases. It
  /// distinguishes a dump written there from a plan.
  virtual llvm::StringRef getKernelOp() const = 0;

  /// A usage error for a flag that means nothing on such a machine, or that
  /// names another one.
  virtual Status checkFlags(const FlagValues &flags) const {
    return Status::success();
  }
  /// The memory of the machine by the flags; nothing if they do not tell.
  virtual std::optional<MemoryBound> getMemory(const FlagValues &flags) const {
    return std::nullopt;
  }

  /// Whether a library computes parts of a plan that kernels of the program can
  /// compute in less memory.
  virtual bool hasOptionalLibrary(mlir::ModuleOp plan) const { return false; }

  /// Estimates of the memory that a program takes outside its arena.
  virtual std::vector<ReservedMemory>
  getReserved(mlir::ModuleOp plan, const FlagValues &flags) const {
    return {};
  }

  /// An input error if a module with planned memory contradicts the flags that
  /// it was planned with.
  virtual Status checkPlan(mlir::ModuleOp module,
                           const FlagValues &flags) const {
    return Status::success();
  }

  /// A usage error if the target cannot emit the value of --emit; `target` is
  /// the value of --target.
  virtual Status checkEmit(llvm::StringRef emit, llvm::StringRef target) const;

  /// The code of a module after all phases. Fails with an error on an op of the
  /// module. Equal modules give equal bytes.
  virtual llvm::FailureOr<std::string>
  emitLlvmIr(mlir::ModuleOp module) const = 0;
  /// The kernels in PTX, where checkEmit takes "ptx".
  virtual llvm::FailureOr<std::string> emitPtx(mlir::ModuleOp module) const;
  /// A relocatable object that defines `weft_tables` (PackedTables.h), kernels
  /// and all.
  virtual llvm::FailureOr<std::vector<char>>
  emitObject(mlir::ModuleOp module) const = 0;
  /// Null where kernels and programs become one object.
  virtual const KernelCompiler *getKernelCompiler() const { return nullptr; }

  virtual TargetLibraries getLibraries() const = 0;
  /// Adds the properties of the machine to the metadata of an executable
  /// (docs/reference/executable.md), such as features that it checks when it
  /// starts, and properties of the plan that only this machine knows.
  virtual void describe(mlir::ModuleOp plan, Json &metadata) const = 0;
  /// The rates that estimate its commands without a cost table
  /// (findKnownRates in weft/Schedule/CostTableFile.h).
  virtual llvm::StringRef getRates() const { return "cpu"; }
  /// Whether programs of several ranks link MPI.
  virtual bool usesMpi() const { return true; }
  /// Whether gathers and reductions share a stream unless --comm-streams says
  /// otherwise.
  virtual bool sharesCommStream() const { return false; }
  /// Whether collectives of a rank must not overlap each other.
  virtual bool runsCollectivesInTurn() const { return false; }
  /// Whether the communication library of its devices can reduce.
  virtual bool hasNativeReductions() const { return false; }
  /// The default of --bucket without --mesh.
  virtual llvm::StringRef getBucketRule() const = 0;
  /// Whether select-kernels asks what products may join across a rounding, so
  /// that it depends on --numerics.
  virtual bool joinsAcrossRoundings() const { return false; }
  /// Whether a kernel widens f16 and bf16 values itself, so that no f32 copies
  /// of them are stored.
  virtual bool widensInReaders() const { return false; }
  /// Whether a kernel that works row by row can also add up the rows.
  virtual bool addsRowsInKernels() const { return false; }
  /// Whether a product with a fused gelu computes it by another formula than a
  /// kernel. Then recomputed values have the same bits only if the product and
  /// the gelu are both recomputed.
  virtual bool hasGeluOfProducts(const FlagValues &flags) const {
    return false;
  }
  /// Whether the forward pass can store dropout bits of attention, so that the
  /// backward pass draws no random numbers.
  virtual bool mayStoreDropoutBits(const FlagValues &flags) const {
    return false;
  }
  /// CTAs that collectives may use while products run; 0 where collectives are
  /// not kernels.
  virtual int64_t getCollectiveCtas() const { return 0; }
};

/// Properties of all targets of a kind, independent of the chosen machine.
struct TargetKind {
  /// The word before the colon of --target: "cpu".
  llvm::StringRef name;
  /// All values of --target that name this kind, for messages.
  std::vector<llvm::StringRef> spellings;
  /// Its phases in order: Import first, LowerToTarget and Emit last.
  std::vector<Phase> phases;
  /// Name and contract of its LowerToTarget: "lower-to-cpu".
  const char *lowering, *loweringContract;
  /// The target that `text`, a value of --target with this word, names; a usage
  /// error if it names none.
  Expected<std::unique_ptr<Target>> (*parse)(llvm::StringRef text);
  /// Registers the dialects, models of commands and translations that its
  /// passes and its code generation need.
  void (*registerDialects)(mlir::DialectRegistry &registry);
  void (*registerPasses)();
};

/// Makes --target accept a kind with a new name. Call it before anything asks
/// for dialects, passes or targets. Not thread-safe.
void registerTarget(TargetKind kind);

/// Every kind, the default one first.
llvm::ArrayRef<TargetKind> targetKinds();

/// The kind of a value of --target; a usage error if no kind has its word.
Expected<const TargetKind *> findTargetKind(llvm::StringRef text);

/// The target that --target names; a usage error for a value that names none.
Expected<std::shared_ptr<const Target>> findTarget(const FlagValues &flags);

/// Rejects combinations of flags that have no meaning, by themselves or for
/// their target.
Status checkSupported(const FlagValues &flags);

/// The rule of weft-bucket for flat states, or "none". Ranks that share a model
/// share its buckets.
std::string bucketRule(const FlagValues &flags, const Target &target);

/// The smaller of --memory-limit and the memory of the device that the flags
/// name; nothing if they set neither.
std::optional<MemoryBound> getMemoryBound(const FlagValues &flags,
                                          const Target &target);

/// Whether the forward pass stores dropout bits of attention.
bool storesDropoutBits(const FlagValues &flags, const Target &target);

/// The memory of a planned module, with what its target reserves.
MemoryReport reportMemory(mlir::ModuleOp module, const FlagValues &flags,
                          const Target &target);

/// "cpu", the machine that compiles, and "cpu:LEVEL".
TargetKind cpuTargetKind();
/// "cuda:sm_80", "cuda:sm_90", "cuda:sm_100", and several of them:
/// "cuda:sm_80,sm_90".
TargetKind cudaTargetKind();

/// Adds the passes of a phase that are the same for all targets, with the
/// options that flags and target ask for.
void addCommonPasses(Phase phase, const FlagValues &flags, const Target &target,
                     mlir::OpPassManager &passes);

} // namespace weft

#endif // WEFT_PIPELINE_TARGETS_TARGET_H
