//===- PhiloxBody.cpp - One random number of a kernel ---------------------===//
//
// The key of seed and stream, which a kernel computes once, and the draw, which
// targets write (lib/Lowering/Linalg/PhiloxNumbers.cpp).
//
//===----------------------------------------------------------------------===//

#include "weft/Fusion/Passes.h"
#include "weft/Weft/KernelOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace weft;

namespace {

/// Short names for ops on 64 bits.
class KeyBuilder {
public:
  KeyBuilder(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  /// philoxKey, as one number.
  Value key(Value seed, Value stream) {
    return mix(arith::AddIOp::create(b, loc, mix(seed), stream));
  }

private:
  /// philoxMix: a bijection on 64 bits.
  Value mix(Value value) {
    value = arith::AddIOp::create(b, loc, value, number(0x9E3779B97F4A7C15u));
    value = multiply(fold(value, 30), 0xBF58476D1CE4E5B9u);
    value = multiply(fold(value, 27), 0x94D049BB133111EBu);
    return fold(value, 31);
  }
  Value fold(Value x, uint64_t shift) {
    Value high = arith::ShRUIOp::create(b, loc, x, number(shift));
    return arith::XOrIOp::create(b, loc, x, high);
  }
  Value multiply(Value x, uint64_t factor) {
    return arith::MulIOp::create(b, loc, x, number(factor));
  }
  Value number(uint64_t value) {
    return arith::ConstantOp::create(
        b, loc, b.getI64IntegerAttr(static_cast<int64_t>(value)));
  }

  OpBuilder &b;
  Location loc;
};

struct PhiloxModel
    : ScalarBodyOpInterface::ExternalModel<PhiloxModel, PhiloxOp> {
  Value buildScalarBody(Operation *op, OpBuilder &b, Location loc,
                        ValueRange s) const {
    Value key = KeyBuilder(b, loc).key(/*seed=*/s[0], /*stream=*/s[1]);
    return DrawOp::create(b, loc, cast<PhiloxOp>(op).getKind(), key,
                          /*row=*/s[2], /*element=*/s[3]);
  }
};

} // namespace

void weft::registerPhiloxBody(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    context->loadDialect<arith::ArithDialect>();
    PhiloxOp::attachInterface<PhiloxModel>(*context);
  });
}
