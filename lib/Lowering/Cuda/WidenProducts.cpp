//===- WidenProducts.cpp - Products over the padding of rows --------------===//

#include "PlainProducts.h"
#include "weft/Layout/LayoutQueries.h"
#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Plan/Plan.h"

#include "mlir/IR/Remarks.h"

namespace weft {
#define GEN_PASS_DEF_WIDENPRODUCTSPASS
#include "weft/Lowering/Cuda/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// Whether a product with a right factor of rank 2 may be widened.
static bool isPlain(plan::GemmOp gemm) {
  return isPlainProduct(gemm) && getMemRefType(gemm.getRhs()).getRank() == 2;
}

/// The dimension of a right factor of rank 2 that the columns of the product
/// run along.
static unsigned getFactorDim(plan::GemmOp gemm) {
  return gemm.getTransposeRhs() ? 0 : 1;
}

namespace {

/// A root with padded rows, the product that fills it row by row, and the
/// products whose left factor it is.
struct WidenedRoot {
  Value root;
  int64_t columns = 0;
  plan::GemmOp filled = {};
  SmallVector<plan::GemmOp> sums = {};

  MemRefType getType() const { return getMemRefType(root); }
  int64_t getPitch() const { return getType().getShape().back(); }
};

/// A right factor with zeros for padding, and the product that it was made for.
struct WideFactor {
  plan::GemmOp filled;
  Value factor, wide;
  unsigned dim;
};

/// Finds the roots of a program and widens their products.
class ProductWidener {
public:
  ProductWidener(plan::ProgramOp program, int64_t leastRows, int64_t share)
      : program(program), leastRows(leastRows), share(share) {}

  unsigned run();

private:
  std::optional<WidenedRoot> find(plan::AllocOp root) const;
  bool isFilledBy(const WidenedRoot &found, plan::GemmOp gemm,
                  Value view) const;
  bool isSummedBy(const WidenedRoot &found, plan::GemmOp gemm,
                  Value view) const;
  bool isUnchanged(Value factor, Operation *from, Operation *to) const;
  int64_t countResults(const WidenedRoot &found) const;
  bool isCheap(const WidenedRoot &found) const;
  const WideFactor *findFactor(plan::GemmOp gemm, int64_t pitch) const;

  plan::ProgramOp program;
  int64_t leastRows, share;
  SmallVector<WideFactor> factors;
};

} // namespace

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

/// Whether a view covers all rows of the root, without their padding.
static bool hasAllRows(const WidenedRoot &found, Value view) {
  MemRefType type = getMemRefType(view);
  Layout layout = Layout::get(type);
  return type.getRank() >= 2 && layout.offset == 0 &&
         type.getShape().back() == found.columns &&
         type.getNumElements() / found.columns ==
             found.getType().getNumElements() / found.getPitch() &&
         layout.isLike(Layout::getPitched(type.getShape(), found.getPitch()));
}

/// Whether the product writes all rows of the root, for the first time.
bool ProductWidener::isFilledBy(const WidenedRoot &found, plan::GemmOp gemm,
                                Value view) const {
  return gemm.getTarget() == view && isPlain(gemm) && !gemm.accumulates() &&
         hasAllRows(found, view) &&
         getMemRefType(view).getNumElements() / found.columns >= leastRows;
}

/// Whether no command between the two writes the factor.
bool ProductWidener::isUnchanged(Value factor, Operation *from,
                                 Operation *to) const {
  Value root = plan::getRoot(factor);
  for (Operation *op = from; op != to; op = op->getNextNode()) {
    if (!op)
      return false; // not behind it
    if (auto command = dyn_cast<plan::CommandOpInterface>(op))
      for (const plan::Access &access : command.getAccesses())
        if (access.isWritten && plan::getRoot(access.buffer) == root)
          return false;
  }
  return true;
}

/// Whether the product adds up over the columns, with the same factor.
bool ProductWidener::isSummedBy(const WidenedRoot &found, plan::GemmOp gemm,
                                Value view) const {
  plan::GemmOp first = found.filled;
  return gemm.getLhs() == view && !gemm.getTransposeLhs() && isPlain(gemm) &&
         hasAllRows(found, view) && gemm.getRhs() == first.getRhs() &&
         gemm.getTransposeRhs() != first.getTransposeRhs() &&
         isUnchanged(gemm.getRhs(), first, gemm);
}

/// The last column that users of the root know of; nothing if one of them knows
/// all, or does not walk rows.
static std::optional<int64_t> findColumns(plan::AllocOp root, int64_t pitch) {
  int64_t columns = 0;
  for (Operation *user : root->getUsers()) {
    auto view = dyn_cast<plan::ViewOp>(user);
    if (!view)
      return std::nullopt;
    std::optional<int64_t> last =
        getLastColumn(Layout::get(getMemRefType(view.getView())), pitch);
    if (!last)
      return std::nullopt;
    columns = std::max(columns, *last + 1);
  }
  return columns < pitch ? std::optional(columns) : std::nullopt;
}

std::optional<WidenedRoot> ProductWidener::find(plan::AllocOp root) const {
  WidenedRoot found{root.getBuffer()};
  if (found.getType().getRank() < 2)
    return std::nullopt;
  std::optional<int64_t> columns = findColumns(root, found.getPitch());
  if (!columns || *columns == 0)
    return std::nullopt;
  found.columns = *columns;
  SmallVector<std::pair<plan::GemmOp, Value>> products;
  for (Operation *user : root->getUsers())
    for (Operation *command : user->getUsers())
      if (auto gemm = dyn_cast<plan::GemmOp>(command))
        products.push_back({gemm, user->getResult(0)});
  for (auto [gemm, view] : products)
    if (isFilledBy(found, gemm, view) &&
        (!found.filled || gemm->isBeforeInBlock(found.filled)))
      found.filled = gemm;
  if (!found.filled)
    return std::nullopt;
  if (!isCheap(found))
    return std::nullopt;
  for (auto [gemm, view] : products)
    if (isSummedBy(found, gemm, view))
      found.sums.push_back(gemm);
  return found;
}

/// The elements of the results of all products that share a widened factor
/// with the one that fills the root.
int64_t ProductWidener::countResults(const WidenedRoot &found) const {
  plan::GemmOp gemm = found.filled;
  int64_t elements = 0;
  for (Operation *user : gemm.getRhs().getUsers()) {
    auto other = dyn_cast<plan::GemmOp>(user);
    if (!other || other.getRhs() != gemm.getRhs() ||
        other.getTransposeRhs() != gemm.getTransposeRhs() || !isPlain(other) ||
        getMemRefType(other.getTarget()).getShape().back() != found.columns)
      continue;
    if (isUnchanged(gemm.getRhs(), gemm, other) ||
        isUnchanged(gemm.getRhs(), other, gemm))
      elements += getMemRefType(other.getTarget()).getNumElements();
  }
  return elements;
}

/// Whether the padding is small compared to the rows, and the factor compared
/// to the results of its products.
bool ProductWidener::isCheap(const WidenedRoot &found) const {
  if (share == 0)
    return true;
  plan::GemmOp gemm = found.filled;
  int64_t padding = found.getPitch() - found.columns;
  int64_t factor = getMemRefType(gemm.getRhs()).getNumElements();
  return padding <= found.columns / share &&
         (findFactor(gemm, found.getPitch()) ||
          factor <= countResults(found) / share);
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
/// Writes the products of one root anew.
class RootWidener {
public:
  explicit RootWidener(const WidenedRoot &found)
      : found(found), filled(found.filled), loc(filled.getLoc()),
        declarations(filled.getContext()), commands(filled) {
    declarations.setInsertionPointAfterValue(found.root);
  }

  /// Widens the products; `known` is their right factor with padding, or null.
  /// Returns that factor.
  Value run(Value known);

private:
  Value allocate(ArrayRef<int64_t> sizes, Type element);
  Value viewAs(Value root, const Layout &layout);
  Value widen(Value view);
  Value makeFactor();
  Value getZero(Type element);
  void copy(Value from, Value to);
  void clearPadding(Value root, Layout matrix, unsigned dim);

  const WidenedRoot &found;
  plan::GemmOp filled;
  Location loc;
  OpBuilder declarations, commands;
  llvm::SmallDenseMap<Type, Value> zeros; // one element of each type
};
} // namespace

/// Allocates a buffer. Products of the backward pass read it, so it has the
/// role of the root, an activation.
Value RootWidener::allocate(ArrayRef<int64_t> sizes, Type element) {
  auto role = found.sums.empty()
                  ? plan::Role::Temporary
                  : found.root.getDefiningOp<plan::AllocOp>().getRole();
  return plan::AllocOp::create(
      declarations, loc, MemRefType::get(sizes, element),
      plan::RoleAttr::get(filled.getContext(), role), /*offset=*/IntegerAttr());
}

Value RootWidener::viewAs(Value root, const Layout &layout) {
  MemRefType type = layout.getType(getMemRefType(root).getElementType());
  return plan::ViewOp::create(declarations, loc, type, root);
}

/// A view that includes the padding of its rows.
Value RootWidener::widen(Value view) {
  SmallVector<int64_t> sizes(getMemRefType(view).getShape());
  sizes.back() = found.getPitch();
  if (sizes == found.getType().getShape())
    return found.root;
  return viewAs(found.root, Layout::getDense(sizes));
}

void RootWidener::copy(Value from, Value to) {
  plan::CopyOp::create(commands, loc, from, to, filled.getScopeAttr(),
                       IntegerAttr(), FloatAttr(), IntegerAttr());
}

/// Made before the product that fills the root.
Value RootWidener::getZero(Type element) {
  Value &zero = zeros[element];
  if (zero)
    return zero;
  zero = allocate({1}, element);
  OpBuilder before(filled);
  auto none = DenseElementsAttr::get(RankedTensorType::get({1}, element),
                                     before.getZeroAttr(element));
  plan::ConstantOp::create(before, loc, zero, none, filled.getScopeAttr(),
                           IntegerAttr(), FloatAttr(), IntegerAttr());
  return zero;
}

/// Zeros the padding along dimension `dim` of a matrix.
void RootWidener::clearPadding(Value root, Layout matrix, unsigned dim) {
  matrix.offset = found.columns * matrix.strides[dim];
  matrix.sizes[dim] -= found.columns;
  Layout repeated = matrix;
  repeated.offset = 0;
  repeated.strides = {0, 0};
  Value zero = getZero(getMemRefType(root).getElementType());
  copy(viewAs(zero, repeated), viewAs(root, matrix));
}

/// The right factor, with zeros for the padding of the root.
Value RootWidener::makeFactor() {
  Value factor = filled.getRhs();
  unsigned dim = getFactorDim(filled);
  SmallVector<int64_t> sizes(getMemRefType(factor).getShape());
  sizes[dim] = found.getPitch();
  Value wide = allocate(sizes, getMemRefType(factor).getElementType());
  Layout part = Layout::getDense(sizes);
  part.sizes[dim] = found.columns;
  copy(factor, viewAs(wide, part));
  clearPadding(wide, Layout::getDense(sizes), dim);
  return wide;
}

Value RootWidener::run(Value known) {
  Value factor = known ? known : makeFactor();
  filled.getTargetMutable().assign(widen(filled.getTarget()));
  filled.getRhsMutable().assign(factor);
  int64_t rows = found.getType().getNumElements() / found.getPitch();
  for (plan::GemmOp gemm : found.sums) {
    // The padding may hold values that are not finite: for rows with infinite
    // or NaN factors the product computed inf * 0 there. Later writes of the
    // rows do not clear it.
    commands.setInsertionPoint(gemm);
    clearPadding(found.root, Layout::getDense({rows, found.getPitch()}), 1);
    gemm.getLhsMutable().assign(widen(gemm.getLhs()));
    gemm.getRhsMutable().assign(factor);
  }
  return factor;
}

/// The right factor of a product with that padding, if an earlier product has
/// it; or null. Losses in chunks multiply one matrix by several factors.
const WideFactor *ProductWidener::findFactor(plan::GemmOp gemm,
                                             int64_t pitch) const {
  for (const WideFactor &known : factors)
    if (known.factor == gemm.getRhs() && known.dim == getFactorDim(gemm) &&
        getMemRefType(known.wide).getShape()[known.dim] == pitch &&
        isUnchanged(known.factor, known.filled, gemm))
      return &known;
  return nullptr;
}

unsigned ProductWidener::run() {
  // Widening a root changes products, which later roots must see.
  unsigned count = 0;
  for (auto root : llvm::to_vector(program.getOps<plan::AllocOp>())) {
    std::optional<WidenedRoot> found;
    if (!root.getOffset())
      found = find(root);
    if (!found)
      continue;
    remark::passed(root.getLoc(),
                   remark::RemarkOpts::name("widen").category("fusion"))
        << remark::add("products run over the padding of rows of {0}: one "
                       "fills it, and {1} sum over it",
                       found->columns, found->sums.size());
    const Value factor = found->filled.getRhs();
    const WideFactor *known = findFactor(found->filled, found->getPitch());
    Value wide = RootWidener(*found).run(known ? known->wide : Value());
    if (!known)
      factors.push_back(
          {found->filled, factor, wide, getFactorDim(found->filled)});
    ++count;
  }
  return count;
}

namespace {
struct WidenProductsPass
    : weft::impl::WidenProductsPassBase<WidenProductsPass> {
  using WidenProductsPassBase::WidenProductsPassBase;

  void runOnOperation() override {
    for (auto program : getOperation().getOps<plan::ProgramOp>())
      numWidened += ProductWidener(program, rows, share).run();
  }
};
} // namespace
