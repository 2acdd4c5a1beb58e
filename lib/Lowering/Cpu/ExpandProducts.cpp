//===- ExpandProducts.cpp - Products of 32-bit lanes ----------------------===//
//
// A vector unit multiplies every other 32-bit lane and leaves 64 bits. LLVM
// widens all lanes for that and packs both halves of the products again.
//
//===----------------------------------------------------------------------===//

#include "ExpandProducts.h"
#include "Splat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft;

/// Whether it is this number in all lanes.
static bool isSplat(Value value, uint64_t number) {
  DenseElementsAttr splat;
  return matchPattern(value, m_Constant(&splat)) && splat.isSplat() &&
         splat.getSplatValue<APInt>() == number;
}

namespace {
/// The product of 32-bit lanes, of which either half is used.
struct HalvesOfProduct {
  Value factor; // of 32-bit lanes
  SmallVector<Operation *> low, high, shifts;

  bool match(arith::MulIOp product);
  /// Even and odd lanes apart, as the processor multiplies them.
  void expand(arith::MulIOp product);
};
} // namespace

bool HalvesOfProduct::match(arith::MulIOp product) {
  auto type = dyn_cast<VectorType>(product.getType());
  auto wide = product.getLhs().getDefiningOp<arith::ExtUIOp>();
  DenseElementsAttr other;
  if (!type || type.getNumElements() % 2 != 0 || !wide ||
      !getElementTypeOrSelf(wide.getIn().getType()).isInteger(32) ||
      !matchPattern(product.getRhs(), m_Constant(&other)) || !other.isSplat() ||
      other.getSplatValue<APInt>().getActiveBits() > 32)
    return false;
  factor = wide.getIn();
  auto isHalf = [&](Operation *op) {
    return isa<arith::TruncIOp>(op) &&
           op->getResult(0).getType() == factor.getType();
  };
  for (Operation *user : product->getUsers()) {
    auto shift = dyn_cast<arith::ShRUIOp>(user);
    if (isHalf(user))
      low.push_back(user);
    else if (shift && isSplat(shift.getRhs(), 32) &&
             llvm::all_of(shift->getUsers(), isHalf))
      shifts.push_back(shift);
    else
      return false;
  }
  for (Operation *shift : shifts)
    high.append(shift->user_begin(), shift->user_end());
  return true;
}

void HalvesOfProduct::expand(arith::MulIOp product) {
  OpBuilder b(product);
  Location loc = product.getLoc();
  auto narrow = cast<VectorType>(factor.getType());
  auto wide = VectorType::get({narrow.getNumElements() / 2}, b.getI64Type());
  DenseElementsAttr constant;
  matchPattern(product.getRhs(), m_Constant(&constant));
  Value y = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(wide, constant.getSplatValue<APInt>()));
  Value lowBits = createSplat(b, loc, wide, 0xffffffff);
  Value half = createSplat(b, loc, wide, 32);
  Value x = vector::BitCastOp::create(b, loc, wide, factor);
  Value odd = arith::ShRUIOp::create(b, loc, x, half);
  odd = arith::MulIOp::create(b, loc, odd, y);
  Value even = arith::AndIOp::create(b, loc, x, lowBits);
  even = arith::MulIOp::create(b, loc, even, y);
  Value lows = arith::OrIOp::create(
      b, loc, arith::AndIOp::create(b, loc, even, lowBits).getResult(),
      arith::ShLIOp::create(b, loc, odd, half).getResult());
  Value highBits = arith::ShLIOp::create(b, loc, lowBits, half);
  Value highs = arith::OrIOp::create(
      b, loc, arith::ShRUIOp::create(b, loc, even, half).getResult(),
      arith::AndIOp::create(b, loc, odd, highBits).getResult());
  for (auto [ops, value] : {std::pair(&low, lows), std::pair(&high, highs)}) {
    Value lanes = vector::BitCastOp::create(b, loc, narrow, value);
    for (Operation *op : *ops) {
      op->replaceAllUsesWith(ValueRange{lanes});
      op->erase();
    }
  }
  for (Operation *shift : shifts)
    shift->erase();
  product.erase();
}

void weft::expandProducts(ModuleOp module) {
  SmallVector<arith::MulIOp> products;
  module.walk([&](arith::MulIOp product) { products.push_back(product); });
  for (arith::MulIOp product : products)
    if (HalvesOfProduct halves; halves.match(product))
      halves.expand(product);
}
