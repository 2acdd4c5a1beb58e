//===- Target.h - What a kind of machine answers for ------------*- C++ -*-===//
//
// The driver compiles for a machine without knowing which ones there are: what
// depends on it is asked of the object that --target names.
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

/// What the executables of a target link beside the runtime.
struct TargetLibraries {
  /// Archives in the folder of the runtime, such as "libWeftCpuKernels.a".
  std::vector<std::string> archives;
  /// More flags of the linker, such as libraries of the system: "-ldnnl".
  std::vector<std::string> flags;
  /// What to look at when linking fails.
  std::string hint = {};
  /// Other files of that folder which go into a program, such as kernels of a
  /// device.
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

/// Makes the code of kernels by themselves: nothing of it depends on the plan
/// that launches them, so that it can be made while there is none yet. Safe in
/// several threads.
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

/// One machine, or one level of a kind of machines, that code is made for.
class Target {
public:
  virtual ~Target() = default;

  /// Adds its own passes of a phase, which run before the passes that all
  /// targets share (CommonPasses.h); most phases need none. In LowerToTarget
  /// the metadata comes before them and the kernel compiler behind them.
  virtual void addPasses(Phase phase, const FlagValues &flags,
                         mlir::OpPassManager &passes) const = 0;
  /// The library that may claim ops (weft/Analysis/KernelLibrary.h).
  virtual llvm::StringRef getKernelLibrary() const = 0;
  /// What offsets in the arena are multiples of, in bytes: a power of two.
  virtual int64_t getAlignment() const = 0;
  /// What decides the bytes of its code beside flags and model: where --target
  /// means this machine, what is known of the machine; what compiles beside
  /// weft.
  virtual std::string getIdentity() const = 0;

  /// The op that a kernel is behind the phases of its kind: what tells a dump
  /// written there from a plan.
  virtual llvm::StringRef getKernelOp() const = 0;

  /// A usage error for a flag that means nothing on such a machine, or that
  /// names another one.
  virtual Status checkFlags(const FlagValues &flags) const {
    return Status::success();
  }
  /// What the flags tell of its memory; nothing if they do not.
  virtual std::optional<MemoryBound> getMemory(const FlagValues &flags) const {
    return std::nullopt;
  }

  /// Estimates of the memory that a program takes outside its arena.
  virtual std::vector<ReservedMemory>
  getReserved(const FlagValues &flags) const {
    return {};
  }

  /// An input error if a module whose memory is planned says something else
  /// than the flags that it was planned with.
  virtual Status checkPlan(mlir::ModuleOp module,
                           const FlagValues &flags) const {
    return Status::success();
  }

  /// A usage error if it cannot make what --emit asks for; `target` is the
  /// value of --target.
  virtual Status checkEmit(llvm::StringRef emit, llvm::StringRef target) const;

  /// The code of a module behind all phases. Fails with an error on an op of
  /// the module. Equal modules give equal bytes.
  virtual llvm::FailureOr<std::string>
  emitLlvmIr(mlir::ModuleOp module) const = 0;
  /// The kernels in PTX, where checkEmit takes "ptx".
  virtual llvm::FailureOr<std::string> emitPtx(mlir::ModuleOp module) const;
  /// An object with the kernels for an emulated device, where checkEmit takes
  /// "twins"; those of "checked-twins" tell their accesses to memory.
  virtual llvm::FailureOr<std::vector<char>> emitTwins(mlir::ModuleOp module,
                                                       bool isChecked) const;
  /// A relocatable object that defines `weft_tables` (PackedTables.h), kernels
  /// and all.
  virtual llvm::FailureOr<std::vector<char>>
  emitObject(mlir::ModuleOp module) const = 0;
  /// Null where kernels and programs become one object.
  virtual const KernelCompiler *getKernelCompiler() const { return nullptr; }

  virtual TargetLibraries getLibraries() const = 0;
  /// Adds to the metadata of an executable (docs/executable.md) what it has to
  /// know of the machine, such as features that it checks when it starts.
  virtual void describe(Json &metadata) const = 0;
  /// Rates that its commands are estimated at where no others are given
  /// (findKnownRates in weft/Schedule/DeviceRates.h).
  virtual llvm::StringRef getRates() const { return "cpu"; }
  /// Whether programs of several ranks link MPI.
  virtual bool usesMpi() const { return true; }
  /// Whether gathers and reductions share a stream unless --comm-streams says
  /// otherwise.
  virtual bool sharesCommStream() const { return false; }
  /// Whether collectives of a rank must not overlap each other.
  virtual bool runsCollectivesInTurn() const { return false; }
  /// Whether a library between its devices can add.
  virtual bool hasNativeReductions() const { return false; }
  /// What --bucket is where it is not given.
  virtual llvm::StringRef getBucketRule() const = 0;
  /// Whether select-kernels asks what products may join across a rounding, so
  /// that it depends on --numerics.
  virtual bool joinsAcrossRoundings() const { return false; }
  /// Whether a product with a gelu behind it computes that gelu by another
  /// formula than a kernel: what is computed again has the same bits only if
  /// both are.
  virtual bool hasGeluOfProducts(const FlagValues &flags) const {
    return false;
  }
  /// CTAs that collectives may use beside products; 0 where they are no
  /// kernels.
  virtual int64_t getCollectiveCtas() const { return 0; }
};

/// What is known of all targets of a kind before a level is chosen.
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
  /// Dialects, models of commands, translations: what its passes and code need.
  void (*registerDialects)(mlir::DialectRegistry &registry);
  void (*registerPasses)();
};

/// Makes --target accept a kind with a new name. Call it before anything asks
/// for dialects, passes or targets; not safe in several threads.
void registerTarget(TargetKind kind);

/// Every kind, the default one first.
llvm::ArrayRef<TargetKind> targetKinds();

/// The kind of a value of --target; a usage error if no kind has its word.
Expected<const TargetKind *> findTargetKind(llvm::StringRef text);

/// The target that --target names; a usage error for a value that names none.
Expected<std::shared_ptr<const Target>> findTarget(const FlagValues &flags);

/// Refuses flags that mean nothing together, or nothing for their target.
Status checkSupported(const FlagValues &flags);

/// The rule of weft-bucket for flat states, or "none". Ranks
/// that share a model share its buckets.
std::string bucketRule(const FlagValues &flags, const Target &target);

/// The least of what the flags allow: --memory-limit, or the memory of the
/// device that they name.
std::optional<MemoryBound> getMemoryBound(const FlagValues &flags,
                                          const Target &target);

/// The memory of a planned module, with what its target reserves.
MemoryReport reportMemory(mlir::ModuleOp module, const FlagValues &flags,
                          const Target &target);

} // namespace weft

#endif // WEFT_PIPELINE_TARGETS_TARGET_H
