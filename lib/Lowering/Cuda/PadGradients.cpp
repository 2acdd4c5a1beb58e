//===- PadGradients.cpp - Rows of padding behind gradients ----------------===//

#include "PlainProducts.h"
#include "weft/Layout/LayoutQueries.h"
#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Plan/Plan.h"

#include "mlir/IR/Remarks.h"

namespace weft {
#define GEN_PASS_DEF_PADGRADIENTSPASS
#include "weft/Lowering/Cuda/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// A product with a transposed left factor of padded rows. Its target has a row
/// for each of their columns.
struct GradientProduct {
  plan::GemmOp gemm;
  int64_t columns, pitch;

  Value getFactor() const { return plan::getRoot(plan::GemmOp(gemm).getLhs()); }
  Value getTarget() const {
    return plan::getRoot(plan::GemmOp(gemm).getTarget());
  }
};

/// Pads the targets of products in all programs. Programs share states.
class GradientPadder {
public:
  GradientPadder(ModuleOp module, int64_t leastRows, int64_t share)
      : module(module), symbols(module), leastRows(leastRows), share(share) {}

  unsigned run();

private:
  std::optional<GradientProduct> match(plan::GemmOp gemm) const;
  const char *findReason(const GradientProduct &product) const;
  plan::StateOp findState(Value root) const;
  void pad(const GradientProduct &product);
  void padState(plan::StateOp state, int64_t rows);
  void widenRoot(Value root, MemRefType type);
  void widenProduct(const GradientProduct &product);

  ModuleOp module;
  SymbolTable symbols;
  int64_t leastRows, share;
  /// Targets of a program whose padding a product has written, with their
  /// elements before it.
  llvm::DenseMap<Value, int64_t> written;
};

} // namespace

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

std::optional<GradientProduct> GradientPadder::match(plan::GemmOp gemm) const {
  MemRefType type = getMemRefType(gemm.getLhs());
  auto root = plan::getRoot(gemm.getLhs()).getDefiningOp<plan::AllocOp>();
  if (!isPlainProduct(gemm) || !gemm.getTransposeLhs() || !root ||
      root.getOffset() || type.getRank() != 2 || type.getDimSize(0) < leastRows)
    return std::nullopt;
  Layout layout = Layout::get(type);
  const GradientProduct found = {gemm, type.getDimSize(1), layout.strides[0]};
  const int64_t padding = found.pitch - found.columns;
  const bool hasAllRows = layout.offset == 0 && layout.strides[1] == 1 &&
                          padding > 0 &&
                          type.getDimSize(0) * found.pitch ==
                              getMemRefType(root.getBuffer()).getNumElements();
  if (!hasAllRows || (share != 0 && padding > found.columns / share))
    return std::nullopt;
  return found;
}

/// Whether an earlier product has written a root with its padding.
static bool isFilled(Value root, plan::GemmOp reader) {
  return llvm::any_of(plan::getUsers(root), [&](Operation *user) {
    auto writer = dyn_cast<plan::GemmOp>(user);
    return writer && plan::getRoot(writer.getTarget()) == root &&
           !writer.accumulates() &&
           getMemRefType(writer.getTarget()).getNumElements() ==
               getMemRefType(root).getNumElements() &&
           writer->isBeforeInBlock(reader);
  });
}

/// The gradient that a root is, or null.
plan::StateOp GradientPadder::findState(Value root) const {
  auto use = root.getDefiningOp<plan::UseOp>();
  auto state =
      use ? symbols.lookup<plan::StateOp>(use.getState()) : plan::StateOp();
  return state && state.getKind() == StateKind::Gradient ? state
                                                         : plan::StateOp();
}

/// Whether the type has this many elements with another first size.
static bool hasRowsFor(MemRefType type, int64_t elements) {
  return type.getRank() > 0 &&
         elements % (type.getNumElements() / type.getDimSize(0)) == 0;
}

/// Why the target keeps its rows, or null.
const char *GradientPadder::findReason(const GradientProduct &product) const {
  plan::GemmOp gemm = product.gemm;
  Value root = product.getTarget();
  MemRefType type = getMemRefType(gemm.getTarget());
  if (!isFilled(product.getFactor(), gemm))
    return "no product fills the padding of the factor";
  plan::StateOp state = findState(root);
  auto alloc = root.getDefiningOp<plan::AllocOp>();
  if (!state && !alloc)
    return "its target is no gradient, but a sum that ranks reduce or an input";
  if (state ? state.getOffset().has_value() : alloc.getOffset().has_value())
    return "its target has a place";
  // Earlier products of this program may have padded it.
  const int64_t elements = state ? state.getBufferType().getNumElements()
                           : written.contains(root)
                               ? written.lookup(root)
                               : getMemRefType(root).getNumElements();
  if (!Layout::get(type).isDense() || Layout::get(type).offset != 0 ||
      elements != type.getNumElements())
    return "its target is a part of a buffer";
  // The limit of padded_rows.
  if (product.pitch > 2 * product.columns)
    return "it would have more rows of padding than others";
  const int64_t padded = product.pitch * type.getDimSize(1);
  if (!hasRowsFor(state ? state.getBufferType() : getMemRefType(root), padded))
    return "its padding is no whole rows of the target's buffer";
  const MemRefType storage =
      state ? state.getStorageType() : getMemRefType(root);
  const bool isPadded =
      state ? state.getPaddedRows().has_value() : written.contains(root);
  if (isPadded && storage.getNumElements() != padded)
    return "its target has other padding";
  // The flag of a micro-batch is 0 for the first one.
  if (gemm.getAdds() && !written.contains(root))
    return "it adds to padding that nothing has written";
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Gives a root the larger type. All users but views get a view of its old
/// type.
void GradientPadder::widenRoot(Value root, MemRefType type) {
  const MemRefType old = getMemRefType(root);
  if (old == type)
    return;
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfterValue(root);
  root.setType(type);
  auto view = plan::ViewOp::create(builder, root.getLoc(), old, root);
  root.replaceUsesWithIf(view.getView(), [&](OpOperand &use) {
    return !isa<plan::ViewOp>(use.getOwner());
  });
}

void GradientPadder::padState(plan::StateOp state, int64_t rows) {
  state.setPaddedRows(rows);
  for (auto program : module.getOps<plan::ProgramOp>())
    for (auto use : program.getOps<plan::UseOp>())
      if (use.getState() == state.getSymName())
        widenRoot(use.getBuffer(), state.getStorageType());
}

/// The type with as many elements, in rows of the same size.
static MemRefType withElements(MemRefType type, int64_t elements) {
  SmallVector<int64_t> sizes(type.getShape());
  sizes[0] = elements / (type.getNumElements() / sizes[0]);
  return MemRefType::get(sizes, type.getElementType());
}

/// The product over all columns of the left factor, into all rows of the
/// target.
void GradientPadder::widenProduct(const GradientProduct &product) {
  plan::GemmOp gemm = product.gemm;
  auto viewAll = [&](Value root, ArrayRef<int64_t> sizes) -> Value {
    if (getMemRefType(root).getShape() == sizes)
      return root;
    OpBuilder builder(module.getContext());
    builder.setInsertionPointAfterValue(root);
    MemRefType type =
        Layout::getDense(sizes).getType(getMemRefType(root).getElementType());
    return plan::ViewOp::create(builder, gemm.getLoc(), type, root);
  };
  const int64_t rows = getMemRefType(gemm.getLhs()).getDimSize(0),
                width = getMemRefType(gemm.getTarget()).getDimSize(1);
  gemm.getLhsMutable().assign(
      viewAll(product.getFactor(), {rows, product.pitch}));
  gemm.getTargetMutable().assign(
      viewAll(product.getTarget(), {product.pitch, width}));
}

void GradientPadder::pad(const GradientProduct &product) {
  Value root = product.getTarget();
  const MemRefType target =
      getMemRefType(plan::GemmOp(product.gemm).getTarget());
  const int64_t elements = product.pitch * target.getDimSize(1);
  if (plan::StateOp state = findState(root))
    padState(state,
             withElements(state.getBufferType(), elements).getDimSize(0));
  else
    widenRoot(root, withElements(getMemRefType(root), elements));
  widenProduct(product);
  written.try_emplace(root, target.getNumElements());
}

unsigned GradientPadder::run() {
  unsigned count = 0;
  const auto options = remark::RemarkOpts::name("pad").category("fusion");
  for (auto program : module.getOps<plan::ProgramOp>()) {
    written.clear();
    for (auto gemm : llvm::to_vector(program.getOps<plan::GemmOp>())) {
      std::optional<GradientProduct> product = match(gemm);
      if (!product)
        continue;
      if (const char *reason = findReason(*product)) {
        remark::missed(gemm.getLoc(), options) << remark::add(
            "a product keeps {0} rows: {1}", product->columns, reason);
        continue;
      }
      remark::passed(gemm.getLoc(), options) << remark::add(
          "a product of {0} rows writes {1}", product->columns, product->pitch);
      pad(*product);
      ++count;
    }
  }
  return count;
}

namespace {
struct PadGradientsPass : weft::impl::PadGradientsPassBase<PadGradientsPass> {
  using PadGradientsPassBase::PadGradientsPassBase;

  void runOnOperation() override {
    numPadded = GradientPadder(getOperation(), rows, share).run();
  }
};
} // namespace
