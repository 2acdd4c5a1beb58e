//===- Fusion.h - The steps of weft-fuse ------------------------*- C++ -*-===//

#ifndef WEFT_LIB_FUSION_FUSION_H
#define WEFT_LIB_FUSION_FUSION_H

#include "RepeatedUpdates.h"

#include "weft/Analysis/KernelSpace.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

#include <map>
#include <memory>
#include <vector>

namespace weft {

/// The ops of the formulas of updates, with the number of the update.
using UpdateNumbers = llvm::DenseMap<mlir::Operation *, unsigned>;

/// What the metadata says of formulas: which optimizers they came from, how the
/// loss scale changes, and which classes an input of a loss may name.
struct FormulaNotes {
  mlir::Attribute scaler;
  llvm::SetVector<mlir::Attribute> optimizers, indexInputs;

  /// Of an op that a formula replaces.
  void add(mlir::Operation *op);
  /// Writes them beside those that the module has.
  void store(mlir::ModuleOp module) const;
};

/// The ops of formulas, with the op that each formula is of.
using FormulaNames = llvm::DenseMap<mlir::Operation *, mlir::OperationName>;

/// What came of the composite ops of a program.
struct Formulas {
  UpdateNumbers updates;
  FormulaNames names;
  FormulaNotes notes;
  /// By the number of the update that is written out.
  std::map<unsigned, RepeatedUpdate> repeated;
};

/// Which updates are written out: each, or one of those that are alike.
enum class Repeats { Written, Kept };

/// Replaces composite ops that no routine runs by their formulas. Changes
/// nothing outside the program. With `explain`, remarks say which updates are
/// like no other.
llvm::FailureOr<Formulas> decomposeProgram(ProgramOp program, Repeats repeats,
                                           bool explain = false);

/// Makes reductions over dimensions of size 1 the reshapes that they are.
void renameTrivialReduces(ProgramOp program);

/// Erases ops without effect whose results nothing reads.
void eraseDeadOps(mlir::Block &block);

struct FusionLimits {
  unsigned maxOps = 64;
  unsigned maxBuffers = 24;
  bool explain = false; // remarks on what stays apart and why
  bool apart = false; // every op but those of one update is a kernel of its own
};

/// Ops that will run as one kernel, in program order, with the constants and
/// views of outside values they read.
struct Cluster {
  KernelSpace space;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallPtrSet<mlir::Operation *, 8> set;
  bool open = true; // no op outside has used a member yet

  bool contains(mlir::Operation *op) const { return set.contains(op); }
  void add(llvm::ArrayRef<mlir::Operation *> more) {
    ops.append(more.begin(), more.end());
    set.insert(more.begin(), more.end());
  }
  /// Makes the space that of `ops` again, after an op that did not fit.
  void rebuildSpace();
};

/// Groups the ops of a block. A kernel runs at the place of its last op: an op
/// may join as long as no op in between uses a member.
class ClusterBuilder {
public:
  ClusterBuilder(mlir::Block &block, FusionLimits limits,
                 const Formulas &formulas);

  /// Fails with an error on an op that fits no kernel.
  llvm::LogicalResult run();
  llvm::ArrayRef<std::unique_ptr<Cluster>> getClusters() const {
    return clusters;
  }
  /// The number of the repeated update that the cluster is of, if it is of one.
  std::optional<unsigned> getRepeated(const Cluster &cluster) const;
  /// Ops that started a kernel because a limit kept them out of another.
  unsigned getNumMissed() const { return numMissed; }

private:
  llvm::LogicalResult visit(mlir::Operation *op);
  llvm::LogicalResult copyOperand(ReduceOp reduce);
  llvm::LogicalResult place(mlir::Operation *op);
  void materialize(mlir::Operation *broadcast);
  bool mayJoin(mlir::Operation *op, const Cluster &cluster) const;
  bool isOfRepeated(mlir::Operation *op) const;
  llvm::SmallVector<Cluster *> findProducers(mlir::Operation *op);
  bool isNear(mlir::Operation *op, const Cluster &cluster) const;
  Cluster *findSibling(mlir::Operation *op);
  bool joinAll(mlir::Operation *op, llvm::ArrayRef<Cluster *> candidates);
  bool join(mlir::Operation *op, Cluster &cluster);
  bool tryJoin(mlir::Operation *op, Cluster &cluster);
  bool reportMissed(mlir::Operation *op, llvm::ArrayRef<Cluster *> producers);
  void reportApart(mlir::Operation *op) const;
  const char *refuse(mlir::Operation *op, const Cluster &cluster,
                     const KernelSpace &after, int64_t pointsBefore,
                     bool reducedBefore) const;
  bool append(mlir::Operation *op, Cluster &cluster,
              llvm::SmallVectorImpl<mlir::Operation *> &added) const;
  void commit(mlir::Operation *op, Cluster &cluster);
  bool comesBefore(mlir::Operation *x, mlir::Operation *y) const;
  Cluster *clusterOf(mlir::Value value) const;

  mlir::Block &block;
  FusionLimits limits;
  UpdateNumbers updates;
  llvm::DenseSet<unsigned> repeated; // numbers of updates
  unsigned numMissed = 0;
  std::vector<std::unique_ptr<Cluster>> clusters;
  /// Where an op stands in the block.
  struct Place {
    unsigned order = 0;
    unsigned workBefore = 0; // ops before it that take time
  };
  llvm::DenseMap<mlir::Operation *, Cluster *> owner;
  llvm::DenseMap<mlir::Operation *, Place> places;
  llvm::DenseMap<mlir::Value, Cluster *> readers; // last cluster to read it
  Cluster *numbers = nullptr; // last cluster to compute a single number
};

/// How many buffers from outside the space reads: the number of an element is
/// in none.
unsigned countBuffers(const KernelSpace &space);

/// Counts only where there are enough reads for more than `limit`.
bool hasMoreBuffers(const KernelSpace &space, unsigned limit);

/// Whether the op is computed in a kernel, which reads an outside broadcast
/// through, or hands the question on to its users. All else (a routine, another
/// view, the end of the program) needs the elements in memory.
bool readsThroughBroadcast(mlir::Operation *user);

/// A copy of the elements, which a kernel can write.
MaterializeOp copyBroadcast(mlir::Operation *broadcast,
                            mlir::OpBuilder &builder);

/// The kernels of a module while they are made.
struct KernelPool {
  explicit KernelPool(mlir::ModuleOp module) : symbols(module) {}

  mlir::SymbolTable symbols;
  /// Of the ops that are outlined now: what is written of them on new kernels.
  const FormulaNames *names = nullptr;
  /// Kernels by the ops they were made from, as numbers that are equal when
  /// the ops are: the layers of a model find their kernels here, unbuilt.
  std::map<std::vector<uintptr_t>, KernelOp> byContent;
  /// Counts for the statistics of weft-fuse.
  unsigned kernels = 0, calls = 0, ops = 0;
};

/// Moves the ops of a cluster into a kernel of the module and calls it; kernels
/// of equal content are made once. What one kernel cannot write becomes
/// several, called one after the other at the place of the last op. Returns the
/// calls.
llvm::FailureOr<llvm::SmallVector<CallOp>> outlineCluster(Cluster &cluster,
                                                          KernelPool &pool);

} // namespace weft

#endif // WEFT_LIB_FUSION_FUSION_H
