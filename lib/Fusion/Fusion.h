//===- Fusion.h - The steps of weft-fuse ------------------------*- C++ -*-===//

#ifndef WEFT_LIB_FUSION_FUSION_H
#define WEFT_LIB_FUSION_FUSION_H

#include "RepeatedUpdates.h"

#include "weft/Analysis/KernelSpace.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

#include <map>
#include <memory>
#include <set>
#include <vector>

namespace weft {

/// Ops of decomposed updates, with the number of the update.
using UpdateNumbers = llvm::DenseMap<mlir::Operation *, int64_t>;

/// Ops of formulas, with the name of the op that the formula replaces.
using FormulaNames = llvm::DenseMap<mlir::Operation *, mlir::StringAttr>;

/// The formulas of a program.
struct Formulas {
  UpdateNumbers updates;
  FormulaNames names;
  /// By the number of the decomposed update.
  std::map<int64_t, RepeatedUpdate> repeated;
};

/// Gives an op that computes a part of `from` its scope, formula and update.
void copyOrigin(mlir::Operation *from, mlir::Operation *to);

/// Reads the attributes that weft-decompose left, and removes them. Fails with
/// an error on a composite op that it did not decompose.
llvm::FailureOr<Formulas> takeFormulas(ProgramOp program);

/// Fails with an error on a repeat that may not call the kernels of its update,
/// because attributes or ops were edited after weft-decompose.
llvm::LogicalResult checkRepeats(ProgramOp program, const Formulas &formulas);

/// Makes reductions over dimensions of size 1 the reshapes that they are.
void renameTrivialReduces(ProgramOp program);

/// Whether the op widens f16 or bf16 to f32.
bool isWideningCast(mlir::Operation *op);

/// Whether no kernel contains ops on both sides of the op: a routine, an op of
/// another dialect or the end of the program.
bool isFusionBarrier(mlir::Operation *op);

/// Whether a kernel reduces the rows of the operand to one: any dimensions
/// except the last one.
bool isSumOverRows(mlir::Operation *op);

/// Erases ops without effect whose results nothing reads.
void eraseDeadOps(mlir::Block &block);

struct FusionLimits {
  unsigned maxOps = 64;
  unsigned maxBuffers = 24;
  // Outline each op as its own kernel; the ops of one update share a kernel.
  bool apart = false;
  // Place a widening cast of a value from outside with its only reader.
  bool widenInReaders = false;
  // Add up rows in the kernels that compute or reduce them.
  bool sumsInRows = false;
};

/// Ops that will run as one kernel, in program order, with the constants and
/// views of outside values they read.
struct Cluster {
  explicit Cluster(bool allowsSums = false) : space(allowsSums) {}

  KernelSpace space;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallPtrSet<mlir::Operation *, 8> set;
  bool open = true; // no op outside has used a member yet

  bool contains(mlir::Operation *op) const { return set.contains(op); }
  void add(llvm::ArrayRef<mlir::Operation *> more) {
    ops.append(more.begin(), more.end());
    set.insert(more.begin(), more.end());
  }
  /// Computes the space from `ops` again, after an op did not fit.
  void rebuildSpace();
};

/// Groups the ops of a block. A kernel runs at the position of its last op: an
/// op may join as long as no op in between uses a member.
class ClusterBuilder {
public:
  ClusterBuilder(mlir::Block &block, FusionLimits limits,
                 const Formulas &formulas);

  /// Fails with an error on an op that fits no kernel.
  llvm::LogicalResult run();
  llvm::ArrayRef<std::unique_ptr<Cluster>> getClusters() const {
    return clusters;
  }
  /// The number of the repeated update that the cluster belongs to, if any.
  std::optional<int64_t> getRepeated(const Cluster &cluster) const;
  /// Ops that started a kernel because a limit kept them out of another.
  unsigned getNumMissed() const { return numMissed; }
  /// Kernels that became part of an earlier one.
  unsigned getNumMerged() const { return numMerged; }
  /// Reports the ops that are not in the kernel of their operand.
  void reportApart() const;

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
  void empty(Cluster &from, Cluster &to);
  bool reportMissed(mlir::Operation *op, llvm::ArrayRef<Cluster *> producers);
  void explainApart(mlir::Operation *op);
  bool mayMoveUp(const Cluster &later, const Cluster &earlier) const;
  mlir::Operation *findEnd(mlir::Operation *op) const;
  int64_t countFreedBytes(const Cluster &later, const Cluster &earlier) const;
  void moveBehind(mlir::Operation *end, llvm::ArrayRef<mlir::Operation *> ops);
  bool moveUp(Cluster &later, Cluster &earlier);
  void mergeApart();
  const char *refuse(mlir::Operation *op, const Cluster &cluster,
                     const KernelSpace &after, int64_t pointsBefore,
                     bool reducedBefore) const;
  bool append(mlir::Operation *op, Cluster &cluster,
              llvm::SmallVectorImpl<mlir::Operation *> &added) const;
  bool waitsForReader(mlir::Operation *op) const;
  bool fitsWithSum(mlir::Operation *cast, const Cluster &producer) const;
  bool readsThroughNames(mlir::Operation *op) const;
  mlir::Value findSource(mlir::Operation *op, mlir::Value operand) const;
  void commit(mlir::Operation *op, Cluster &cluster);
  bool comesBefore(mlir::Operation *x, mlir::Operation *y) const;
  Cluster *clusterOf(mlir::Value value) const;
  Cluster *findProducerOfSums(mlir::Operation *op) const;

  mlir::Block &block;
  FusionLimits limits;
  UpdateNumbers updates;
  std::set<int64_t> repeated; // updates: a DenseSet cannot hold any number
  unsigned numMissed = 0, numMerged = 0;
  /// Why an op is not in the kernel of its operand, in program order.
  llvm::MapVector<mlir::Operation *, std::string> apart;
  std::vector<std::unique_ptr<Cluster>> clusters;
  /// The position of an op in the block.
  struct Place {
    unsigned order = 0;
    unsigned workBefore = 0; // ops before it that take time
  };
  llvm::DenseMap<mlir::Operation *, Cluster *> owner;
  llvm::DenseMap<mlir::Operation *, Place> places;
  llvm::DenseMap<mlir::Value, Cluster *> readers; // last cluster to read it
  /// The cluster that adds up the sums over rows of a cluster.
  llvm::DenseMap<Cluster *, Cluster *> totals;
  Cluster *numbers = nullptr; // last cluster to compute a single number
};

/// The members that a kernel of the ops has to write: ops outside of it read
/// them. `set` has the same ops.
llvm::SmallVector<mlir::Value>
findResults(llvm::ArrayRef<mlir::Operation *> ops,
            const llvm::SmallPtrSetImpl<mlir::Operation *> &set,
            const KernelSpace &space);

/// Number of outside buffers that the space reads. An iota needs no buffer.
unsigned countBuffers(const KernelSpace &space);

/// Whether the space reads more than `limit` buffers. Counts them only if it
/// has more than `limit` reads.
bool hasMoreBuffers(const KernelSpace &space, unsigned limit);

/// Whether a space of reductions is cut into too few parts to compute anything
/// large beside them.
bool isNarrow(const KernelSpace &space);

/// Whether the op reads through an outside broadcast, because a kernel computes
/// it or because it is a broadcast itself. All other users (a routine, another
/// view, the end of the program) need the elements in memory.
bool readsThroughBroadcast(mlir::Operation *user);

/// Creates a copy of the elements of a broadcast, which a kernel can write.
MaterializeOp copyBroadcast(mlir::Operation *broadcast,
                            mlir::OpBuilder &builder);

/// The kernels of a module under construction.
struct KernelPool {
  explicit KernelPool(mlir::ModuleOp module) : symbols(module) {}

  mlir::SymbolTable symbols;
  /// Formula names of the program that is being outlined. New kernels record
  /// them.
  const FormulaNames *names = nullptr;
  /// Kernels by the content of their ops, encoded as numbers. Equal layers of a
  /// model find their kernels here without building them.
  std::map<std::vector<uintptr_t>, KernelOp> byContent;
  /// Counts for the statistics of weft-fuse.
  unsigned kernels = 0, calls = 0, ops = 0;
};

/// Moves the ops of a cluster into a kernel of the module and calls it.
/// Clusters of equal content share a kernel. If one kernel cannot write all
/// results, makes several kernels, called in order at the position of the last
/// op. Returns the calls.
llvm::FailureOr<llvm::SmallVector<CallOp>> outlineCluster(Cluster &cluster,
                                                          KernelPool &pool);

} // namespace weft

#endif // WEFT_LIB_FUSION_FUSION_H
