//===- GpuEmitter.h - One kernel for the threads of a device ----*- C++ -*-===//
//
// Writes the linalg form of a kernel as a `gpu.func` over arith, math, scf,
// memref and LLVM accesses. Grid, block and every order of additions depend on
// the shape alone: how wide an access is, and where a buffer lies, changes no
// bit.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_LOWERING_CUDA_GPUEMITTER_H
#define WEFT_LIB_LOWERING_CUDA_GPUEMITTER_H

#include "weft/Lowering/Linalg/LinalgKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace weft {

/// Threads of a warp.
inline constexpr int64_t kWarp = 32;
/// Threads of a block of a group, and of a block where each thread works for
/// itself.
inline constexpr int64_t kGroupThreads = 256;

/// Pointers that are arguments of a kernel, of any device: 4 KiB.
inline constexpr int64_t kMostKernelBuffers = 512;
/// Blocks of a grid in its first dimension, of any device.
inline constexpr int64_t kMostGridBlocks = (int64_t(1) << 31) - 1;
/// Where the arguments of kernels lie.
inline constexpr auto kGlobalSpace =
    static_cast<unsigned>(mlir::NVVM::NVVMMemorySpace::Global);
/// Threads of a block side by side, where a kernel reduces over columns.
inline constexpr int64_t kColumnThreads = 32;
/// Loops of so many steps are unrolled, so that elements that they leave for
/// a later loop stay in registers.
inline constexpr int64_t kUnrolledSteps = 8;

/// Threads that share the rows of a column, whatever else the kernel computes:
/// the order of a sum follows from them. With many tiles of columns they are
/// fewer.
int64_t threadsOfColumn(const KernelShape &shape);
/// Threads of a block that runs a kernel of that shape.
int64_t threadsOfBlock(const KernelShape &shape);

/// Writes the kernel of a group, whose members are functions of `kernels` with
/// so many outputs. Fails with an error unless all have blocks of kGroupThreads
/// threads, or if no grid has that many blocks.
llvm::LogicalResult emitGroup(KernelGroupOp group,
                              mlir::gpu::GPUModuleOp kernels,
                              const llvm::StringMap<int64_t> &numOutputs);

/// Replaces functions that may be approximate (`afn`) by short forms
/// (ApproximateMath.cpp).
void approximateMath(mlir::gpu::GPUFuncOp function);

/// The op x - y of `exp(x - y)`, in f32, with one y for each row; or null.
mlir::arith::SubFOp getExponent(const KernelNest &nest, mlir::Operation *op);

/// Whether the x of an exponent x - y is an f16 value. A bf16 value may be as
/// large as an f32 one.
bool isLowExponent(mlir::arith::SubFOp exponent);

class GpuEmitter {
public:
  /// `alignments`: for each argument, what its address is a multiple of.
  GpuEmitter(mlir::func::FuncOp source, const LinalgKernel &kernel,
             llvm::ArrayRef<int64_t> alignments);

  /// Builds the function at the insertion point of `builder`. Fails with an
  /// error at the source if no grid has that many blocks, or if no block can
  /// add up its rows.
  llvm::FailureOr<mlir::gpu::GPUFuncOp> emit(mlir::OpBuilder &builder);

  /// Inputs that several passes over a row read, after emit().
  int64_t getNumKept() const { return keptRows.size(); }
  int64_t getNumReloaded() const { return numReloaded; }

private:
  using Values = llvm::SmallVector<mlir::Value>;

  // The launch (GpuSchedules.cpp).
  void setLaunch(int64_t blocks, int64_t columns, int64_t rows = 1);
  void emitBody();
  int64_t chooseChunk() const;
  void emitElements();
  void emitElementChunk(mlir::Value chunk);
  void emitOuterNest(const KernelNest &nest);

  // Loops (GpuLoops.cpp).
  mlir::Value threadId(mlir::gpu::Dimension dimension);
  mlir::Value blockId();
  Values emitIf(mlir::Value condition, const Values &otherwise,
                llvm::function_ref<Values()> body);
  Values emitLoop(mlir::Value from, mlir::Value to, const Values &args,
                  llvm::function_ref<Values(mlir::Value, Values)> body,
                  int64_t step = 1, bool unroll = false);
  Values emitSteps(const KernelNest &nest, int64_t count, int64_t threads,
                   mlir::Value thread, int64_t partials,
                   llvm::function_ref<Values(mlir::Value, Values)> body,
                   bool areColumns = false);
  Values emitBlocks(const KernelNest &nest, int64_t steps, int64_t partials,
                    llvm::function_ref<Values(mlir::Value, Values)> body,
                    bool areColumns);

  // Rows (GpuRows.cpp).
  int64_t getRowChunks() const;
  bool isLongRow() const;
  int64_t getRowSize() const;
  void emitRows();
  void emitRow(mlir::Value row, mlir::Value thread, int64_t threads);
  void emitRowNests(mlir::Value thread, int64_t threads);
  void decodeRowChunk(mlir::Value item);
  void emitRowPass(const KernelNest &nest, mlir::Value thread, int64_t threads);
  void meetRow(int64_t threads);
  bool mayOverwriteInput(const KernelNest &nest);
  void storeRowResults(const KernelNest &nest, mlir::Value thread,
                       int64_t threads);
  void addRowTemporaries(int64_t threads);

  // Rows that stay in registers (GpuKeptRows.cpp).
  /// An input that several passes over a row load.
  struct KeptRow {
    NestOperand input;
    mlir::Value buffer;    // the elements that the thread takes
    bool isFilled = false; // by an earlier pass over the row
  };
  void keepRows(int64_t threads);
  llvm::SmallVector<NestOperand> findRepeatedInputs() const;
  void keepRow(const NestOperand &input, int64_t count, int64_t registers);
  void reportReload(const NestOperand &input, const llvm::Twine &reason);
  KeptRow *findKept(const NestOperand &input);
  void markFilled(const KernelNest &nest);
  mlir::Value allocateRow(int64_t count, mlir::Type element);
  Values loadSlots(mlir::Value buffer);
  void storeSlots(mlir::Value buffer, llvm::ArrayRef<mlir::Value> elements);

  // Rows with a maximum and a sum of exponentials (GpuSoftmax.cpp), and how
  // they are found (GpuSoftmaxForm.cpp).
  /// Two nests whose totals one pass computes.
  struct Softmax {
    const KernelNest *maximum = nullptr, *sum = nullptr;
    unsigned total = 0; // of the maximum
    bool isLow = false; // isLowExponent
  };
  using ChunkBody =
      llvm::function_ref<Values(llvm::ArrayRef<mlir::Value>, int64_t, Values)>;
  using StepBody = llvm::function_ref<Values(mlir::Value, Values)>;
  using StepLoop = llvm::function_ref<Values(int64_t, StepBody, Values)>;
  std::optional<unsigned> findMaximum(const KernelNest &nest) const;
  bool writesElementsOnly(const KernelNest &nest) const;
  void findSoftmax();
  mlir::Value emitExponentBase(mlir::Value y, bool isLow);
  mlir::Value emitExponential(mlir::Value x, mlir::Value base, bool isLow);
  mlir::Value emitSumFactor(mlir::Value before, mlir::Value after);
  void emitLanes(const KernelNest &nest, mlir::Value value);
  mlir::Value isInRow(mlir::Value index);
  mlir::Value asLane(mlir::Value index);
  Values emitChunks(mlir::Value thread, int64_t threads, Values state,
                    ChunkBody body, StepLoop loop);
  mlir::Value ownerOf(mlir::Value index, int64_t threads);
  Values absorb(llvm::ArrayRef<mlir::Value> firsts, int64_t count,
                Values state);
  Values emitSumBlocks(int64_t count, StepBody body, Values state);
  void emitMaximumAndSum(mlir::Value thread, int64_t threads);
  void emitPicks(const KernelNest &nest);
  void emitSoftmaxPass(const KernelNest &nest, mlir::Value thread,
                       int64_t threads);

  // Their passes that write (GpuSoftmaxWrites.cpp).
  /// An element of the row that one thread corrects.
  struct Hit {
    mlir::Value index, isOwner;
    Values results;
  };
  mlir::Value findHit(const KernelNest &nest) const;
  Hit computeHit(const KernelNest &nest, mlir::Value hit, mlir::Value thread,
                 int64_t threads);
  void writeHit(const KernelNest &nest, const Hit &hit);
  void writeChunks(const KernelNest &nest, llvm::ArrayRef<mlir::Value> firsts,
                   int64_t count);
  void writeRow(const KernelNest &nest, mlir::Value thread, int64_t threads);
  void emitWritingPass(const KernelNest &nest, mlir::Value thread,
                       int64_t threads);
  // Sums over rows (GpuRowSums.cpp).
  llvm::LogicalResult checkSums();
  void emitSummedRows();
  void addRowTotals(int64_t threads);
  void addToRowTotals(const KernelNest &nest, int64_t count);
  void addRowsOfWarps(mlir::Value thread, mlir::Value warp, int64_t warps);
  void writeRowSums(mlir::Value thread, mlir::Value warp, int64_t threads,
                    int64_t together);
  void emitOwnChunks(mlir::Value thread, mlir::Value warp, int64_t threads,
                     int64_t together,
                     llvm::function_ref<void(mlir::Value)> body);

  // Columns (GpuColumns.cpp).
  void emitColumns();
  void emitColumnPass(const KernelNest &nest, mlir::Value row, int64_t rows,
                      mlir::Value column, mlir::Value exists);
  int64_t chooseColumnChunk() const;
  void addColumns(const NestTotal &total,
                  llvm::MutableArrayRef<mlir::Value> sums, mlir::Value row,
                  mlir::Value column, int64_t rows);

  // Sums (GpuSums.cpp).
  llvm::SmallVector<NestTotal> totalsOf(const KernelNest &nest) const;
  mlir::Value identity(const NestTotal &total, mlir::Type type);
  Values identities(const KernelNest &nest, int64_t partials);
  mlir::Value widen(const NestTotal &total, mlir::Value value);
  mlir::Value narrow(const NestTotal &total, mlir::Value value);
  Values joinPartials(const KernelNest &nest, llvm::ArrayRef<mlir::Value> sums,
                      bool areColumns);
  Values addBlock(const KernelNest &nest, const Values &wide,
                  llvm::ArrayRef<mlir::Value> sums);
  mlir::Value addWarp(const NestTotal &total, mlir::Value value);
  mlir::Value addWarps(const NestTotal &total, mlir::Value value,
                       mlir::Value thread, int64_t warps);
  void meetBlock();
  void setTotals(const KernelNest &nest, llvm::ArrayRef<mlir::Value> sums);
  mlir::Value sharedBuffer(llvm::ArrayRef<int64_t> shape, mlir::Type element);

  // Elements (GpuElements.cpp).
  void chooseIndexType();
  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value multiply(mlir::Value x, int64_t factor);
  mlir::Value divide(mlir::Value x, int64_t divisor);
  mlir::Value remainder(mlir::Value x, int64_t divisor);
  mlir::Value isLess(mlir::Value x, mlir::Value y);
  mlir::Value asIndex(mlir::Value value);
  void decode(mlir::Value linear, llvm::ArrayRef<DimRole> roles);
  void decode(mlir::Value linear, llvm::ArrayRef<unsigned> dims);
  void emitValues(const KernelNest &nest, bool outer);
  Values emitPiece(const KernelNest &nest, Values sums);
  Values emitChunk(const KernelNest &nest, int64_t count, Values sums);
  Values emitSingly(const KernelNest &nest, Values sums);
  mlir::Value getValue(const KernelNest &nest, mlir::Value value, int64_t lane);
  mlir::Value numberOf(unsigned dim, mlir::Type element, int64_t lane);
  void evaluate(const KernelNest &nest, mlir::Operation *op);
  mlir::Value evaluateOnce(const KernelNest &nest, mlir::Operation *op,
                           int64_t lane);
  Values load(const NestOperand &operand);
  Values loadGlobal(const NestOperand &operand);
  void store(const NestOperand &operand, const Values &elements);
  void storeNest(const KernelNest &nest);

  // Memory (GpuMemory.cpp).
  bool isPerLane(const NestOperand &operand) const;
  int64_t getWidth(const NestOperand &operand) const;
  bool hasWideAccess(const KernelNest &nest) const;
  mlir::Value address(const NestOperand &operand, int64_t lane);
  Values loadVector(mlir::Value pointer, mlir::Type element, int64_t width);
  void storeVector(mlir::Value pointer, llvm::ArrayRef<mlir::Value> elements);
  mlir::Value fromMemory(mlir::Value value, mlir::Type element);
  mlir::Value toMemory(mlir::Value value);

  mlir::func::FuncOp source;
  const LinalgKernel &kernel;
  const KernelShape &shape;
  llvm::ArrayRef<int64_t> alignments;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::gpu::GPUFuncOp function;
  mlir::Type indexType; // of all index arithmetic: i32 where that is enough
  int64_t numBlocks = 1;
  int64_t chunk = 1; // elements of the last dimension that a thread takes

  /// Where the thread is: the index of each dimension, the element of a chunk
  /// that comes first, and the place of that one in temporaries of the row.
  llvm::SmallVector<mlir::Value> indices;
  int64_t lanes = 1; // elements computed at once
  mlir::Value slot;
  /// Values of bodies: single values in outer loops, values per lane in inner
  /// ones.
  llvm::DenseMap<mlir::Value, mlir::Value> outerValues;
  llvm::DenseMap<mlir::Value, Values> laneValues;
  /// Temporaries: one number, or one of each element that the thread takes.
  llvm::DenseMap<mlir::Value, mlir::Value> numbers, rowBuffers;
  llvm::SmallVector<KeptRow> keptRows;
  int64_t numReloaded = 0; // by each pass over a row
  /// The totals of sums over rows, for the elements that the thread takes.
  llvm::SmallMapVector<mlir::Value, std::pair<NestTotal, mlir::Value>, 4>
      rowTotals;
  llvm::DenseMap<mlir::Type, mlir::Value> columnBuffers;
  /// Totals of a thread's columns.
  llvm::DenseMap<mlir::Value, Values> columnTotals;
  Softmax softmax; // without a sum: none
  /// Values of bodies that are known where code is written.
  llvm::DenseMap<mlir::Value, bool> assumed;
  /// Arguments that threads have read since they last met.
  llvm::DenseSet<mlir::Value> read;
};

} // namespace weft

#endif // WEFT_LIB_LOWERING_CUDA_GPUEMITTER_H
