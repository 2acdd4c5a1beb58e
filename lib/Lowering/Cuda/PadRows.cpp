//===- PadRows.cpp - Padding between the rows of matrices -----------------===//

#include "weft/Analysis/KernelLayout.h"
#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Plan/Plan.h"
#include "weft/Weft/KernelFacts.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

namespace weft {
#define GEN_PASS_DEF_PADROWSPASS
#include "weft/Lowering/Cuda/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
/// The preferred and the least alignment of rows, in bytes. Padding is at most
/// one part in `share` of a row; a share of 0 sets no limit.
struct RowRule {
  int64_t most, least, share;
};
} // namespace

/// The pitch, in elements, for the largest alignment whose padding is cheap. 0
/// if the rows are aligned already, or too short for cheap padding.
static int64_t findPitch(MemRefType type, const RowRule &rule) {
  if (type.getRank() < 2)
    return 0;
  int64_t element = plan::getElementBytes(type),
          columns = type.getShape().back();
  int64_t row = columns * element;
  if (columns < 2 || type.getNumElements() == columns || row % rule.least == 0)
    return 0;
  int64_t rows = type.getNumElements() / columns;
  for (int64_t alignment : {rule.most, rule.least}) {
    int64_t padded = llvm::alignTo(row, alignment);
    bool isCheap = rule.share == 0 || padded - row <= row / rule.share;
    if (isCheap && padded % element == 0 && padded <= kMostBufferBytes / rows)
      return padded / element;
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {

/// The pitches that a launch asks its kernel for, by port.
using Pitches = SmallVector<int64_t>;

/// Kernels with pitches, made of those without.
class PitchedKernels {
public:
  explicit PitchedKernels(ModuleOp module) : module(module), symbols(module) {}

  /// The kernel of the launch for those pitches, or null if its loops cannot
  /// have them. A kernel that is wrong without pitches is an error.
  FailureOr<KernelOp> get(plan::LaunchOp launch, ArrayRef<int64_t> pitches);
  /// Erases kernels that were generated but not used, and replaced kernels that
  /// nothing names any more.
  void eraseUnused();

private:
  FailureOr<KernelOp> make(KernelOp kernel, StringRef name,
                           ArrayRef<int64_t> pitches);

  ModuleOp module;
  SymbolTable symbols;
  llvm::StringMap<KernelOp> known;      // null: impossible
  llvm::SetVector<KernelOp> candidates; // generated, or their originals
};

/// A root, its rows, and the views through which it is used.
struct PitchedRoot {
  plan::AllocOp root;
  int64_t columns, pitch;
  SmallVector<plan::ViewOp> views;

  /// The layout of a buffer of the root after padding.
  std::optional<Layout> layoutOf(Value buffer) const {
    return Layout::get(cast<MemRefType>(buffer.getType()))
        .spreadRows(columns, pitch);
  }
};

/// Decides on the roots of a program, one after the other.
class RowPadder {
public:
  RowPadder(plan::ProgramOp program, PitchedKernels &kernels,
            const RowRule &rule)
      : program(program), kernels(kernels), rule(rule) {}

  /// Counts the roots whose rows lie apart.
  FailureOr<unsigned> run();

private:
  FailureOr<const char *> findReason(PitchedRoot &padded);
  bool acceptUse(const PitchedRoot &padded, OpOperand &use);
  bool acceptFactor(const PitchedRoot &padded, plan::GemmOp gemm,
                    OpOperand &use);
  bool acceptPort(const PitchedRoot &padded, plan::LaunchOp launch,
                  OpOperand &use);
  bool writesInPlace(plan::LaunchOp launch, KernelOp kernel);
  FailureOr<bool> acceptLaunches();
  void replace(const PitchedRoot &padded);

  plan::ProgramOp program;
  PitchedKernels &kernels;
  RowRule rule;
  llvm::MapVector<plan::LaunchOp, Pitches> decided, wanted;
};

} // namespace

FailureOr<KernelOp> PitchedKernels::make(KernelOp kernel, StringRef name,
                                         ArrayRef<int64_t> pitches) {
  if (failed(KernelLayout::get(kernel)))
    return failure();
  auto made = cast<KernelOp>(kernel->clone());
  made.setSymName(name);
  made.setPitches(pitches);
  symbols.insert(made);
  FailureOr<bool> fits = KernelLayout::recordPitchedFacts(made);
  if (failed(fits) || !*fits) {
    symbols.erase(made);
    return failed(fits) ? FailureOr<KernelOp>(failure()) : KernelOp();
  }
  candidates.insert(kernel);
  candidates.insert(made);
  return made;
}

void PitchedKernels::eraseUnused() {
  if (candidates.empty())
    return;
  // Also from inside of programs, which are symbol tables of their own.
  llvm::DenseSet<StringAttr> used;
  module.walk([&](Operation *op) {
    if (auto launch = dyn_cast<plan::LaunchOp>(op))
      used.insert(launch.getKernelAttr().getAttr());
    if (auto call = dyn_cast<CallOp>(op))
      used.insert(call.getKernelAttr().getAttr());
  });
  for (KernelOp kernel : candidates)
    if (!used.contains(kernel.getSymNameAttr()))
      symbols.erase(kernel);
}

FailureOr<KernelOp> PitchedKernels::get(plan::LaunchOp launch,
                                        ArrayRef<int64_t> pitches) {
  auto kernel = symbols.lookup<KernelOp>(launch.getKernelAttr().getAttr());
  if (!kernel || kernel.getPitches())
    return KernelOp();
  std::string text = (launch.getKernel() + " " + spellList(pitches)).str();
  std::string name =
      "k_" + llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true,
                             /*Width=*/16);
  auto [entry, isNew] = known.try_emplace(name);
  if (!isNew)
    return entry->second;
  FailureOr<KernelOp> made = make(kernel, name, pitches);
  if (succeeded(made))
    entry->second = *made;
  return made;
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

/// A product reads and writes rows at any distance, if they are still rows.
bool RowPadder::acceptFactor(const PitchedRoot &padded, plan::GemmOp gemm,
                             OpOperand &use) {
  bool isFactor = llvm::is_contained(
      {&gemm.getLhsMutable(), &gemm.getRhsMutable(), &gemm.getTargetMutable()},
      &use);
  Layout old = Layout::get(cast<MemRefType>(use.get().getType()));
  Layout rows = *padded.layoutOf(use.get());
  return isFactor && llvm::all_of(std::array{false, true}, [&](bool flat) {
           return StoredMatrix::get(old, flat).has_value() ==
                  StoredMatrix::get(rows, flat).has_value();
         });
}

/// A kernel gets all rows of the root, whatever they are shaped to.
bool RowPadder::acceptPort(const PitchedRoot &padded, plan::LaunchOp launch,
                           OpOperand &use) {
  auto type = cast<MemRefType>(use.get().getType());
  Layout pitched = Layout::getPitched(type.getShape(), padded.pitch);
  if (type.getRank() < 2 || type.getShape().back() != padded.columns ||
      !padded.layoutOf(use.get())->isLike(pitched))
    return false;
  Pitches &pitches = wanted[launch];
  if (pitches.empty())
    pitches = decided.lookup(launch);
  pitches.resize(launch->getNumOperands(), 0);
  pitches[use.getOperandNumber()] = padded.pitch;
  return true;
}

bool RowPadder::acceptUse(const PitchedRoot &padded, OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto gemm = dyn_cast<plan::GemmOp>(user))
    return acceptFactor(padded, gemm, use);
  if (auto launch = dyn_cast<plan::LaunchOp>(user))
    return acceptPort(padded, launch, use);
  return isa<plan::CopyOp, plan::ViewOp>(user);
}

/// Whether a kernel may write in place where the launch does.
bool RowPadder::writesInPlace(plan::LaunchOp launch, KernelOp kernel) {
  for (auto [index, output] : llvm::enumerate(launch.getOutputs()))
    for (auto [place, input] : llvm::enumerate(launch.getInputs()))
      if (plan::getRoot(input) == plan::getRoot(output) &&
          !llvm::is_contained(kernel.getInPlaceInputs(index),
                              static_cast<int64_t>(place)))
        return false;
  return true;
}

/// Whether there are kernels with the wanted pitches that write in place
/// wherever the launch does.
FailureOr<bool> RowPadder::acceptLaunches() {
  for (auto &[launch, pitches] : wanted) {
    FailureOr<KernelOp> kernel = kernels.get(launch, pitches);
    if (failed(kernel))
      return failure();
    if (!*kernel || !writesInPlace(launch, *kernel))
      return false;
  }
  return true;
}

/// The reason why the rows of a root stay dense; null if they can be padded.
FailureOr<const char *> RowPadder::findReason(PitchedRoot &padded) {
  SmallVector<Value> buffers = {padded.root.getBuffer()};
  for (Operation *user : padded.root->getUsers())
    if (auto view = dyn_cast<plan::ViewOp>(user)) {
      padded.views.push_back(view);
      buffers.push_back(view.getView());
    }
  bool hasProduct = false;
  wanted.clear();
  for (Value buffer : buffers) {
    if (!padded.layoutOf(buffer))
      return "a view of it does not walk its rows";
    for (OpOperand &use : buffer.getUses()) {
      if (!acceptUse(padded, use))
        return "something else uses it than products, copies and kernels of "
               "its rows";
      hasProduct |= isa<plan::GemmOp>(use.getOwner());
    }
  }
  if (!hasProduct)
    return "no product uses it";
  FailureOr<bool> accepts = acceptLaunches();
  if (failed(accepts))
    return failure();
  return *accepts ? nullptr : "a kernel does not run row by row";
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

void RowPadder::replace(const PitchedRoot &padded) {
  plan::AllocOp root = padded.root;
  auto old = cast<MemRefType>(root.getBuffer().getType());
  SmallVector<int64_t> sizes(old.getShape());
  sizes.back() = padded.pitch;
  OpBuilder builder(root);
  auto wide = plan::AllocOp::create(
      builder, root.getLoc(), MemRefType::get(sizes, old.getElementType()),
      root.getRoleAttr(), /*offset=*/IntegerAttr());
  auto viewAs = [&](Value buffer) {
    MemRefType type = padded.layoutOf(buffer)->getType(old.getElementType());
    return plan::ViewOp::create(builder, buffer.getLoc(), type, wide);
  };
  for (plan::ViewOp view : padded.views) {
    builder.setInsertionPoint(view);
    view.replaceAllUsesWith(viewAs(view).getView());
    view.erase();
  }
  if (!root->use_empty()) {
    builder.setInsertionPointAfter(wide);
    root.getBuffer().replaceAllUsesWith(viewAs(root.getBuffer()).getView());
  }
  root.erase();
}

FailureOr<unsigned> RowPadder::run() {
  SmallVector<PitchedRoot> accepted;
  for (auto root : program.getOps<plan::AllocOp>()) {
    auto type = cast<MemRefType>(root.getBuffer().getType());
    PitchedRoot padded{root, 0, findPitch(type, rule), {}};
    if (padded.pitch == 0 || root.getOffset())
      continue;
    padded.columns = type.getShape().back();
    FailureOr<const char *> reason = findReason(padded);
    if (failed(reason))
      return failure();
    const auto opts = remark::RemarkOpts::name("pad").category("fusion");
    if (*reason) {
      remark::missed(root.getLoc(), opts) << remark::add(
          "rows of {0} stay dense: {1}", padded.columns, *reason);
      continue;
    }
    remark::passed(root.getLoc(), opts) << remark::add(
        "rows of {0} begin {1} elements apart", padded.columns, padded.pitch);
    for (auto &[launch, pitches] : wanted)
      decided[launch] = pitches;
    accepted.push_back(padded);
  }
  for (const PitchedRoot &padded : accepted)
    replace(padded);
  // Those kernels have been made.
  for (auto &[launch, pitches] : decided) {
    FailureOr<KernelOp> kernel = kernels.get(launch, pitches);
    plan::LaunchOp(launch).setKernel(kernel->getSymName());
  }
  return static_cast<unsigned>(accepted.size());
}

namespace {
struct PadRowsPass : weft::impl::PadRowsPassBase<PadRowsPass> {
  using PadRowsPassBase::PadRowsPassBase;

  void runOnOperation() override {
    const RowRule rule = {most, least, share};
    if (failed(check(rule)))
      return signalPassFailure();
    PitchedKernels kernels(getOperation());
    for (auto program : getOperation().getOps<plan::ProgramOp>()) {
      FailureOr<unsigned> padded = RowPadder(program, kernels, rule).run();
      if (failed(padded))
        return signalPassFailure();
      numPadded += *padded;
    }
    kernels.eraseUnused();
  }

  LogicalResult check(const RowRule &rule) {
    for (int64_t alignment : {rule.most, rule.least})
      if (alignment < 1 || alignment > kMostBufferBytes ||
          !llvm::isPowerOf2_64(alignment))
        return getOperation().emitError("expects powers of two up to 2^44 in "
                                        "most and least, but got ")
               << alignment;
    if (rule.most >= rule.least && rule.share >= 0)
      return success();
    return getOperation().emitError("expects most not to be less than least, "
                                    "and a share of at least 0, but got ")
           << rule.most << ", " << rule.least << " and " << rule.share;
  }
};
} // namespace
