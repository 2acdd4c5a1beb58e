//===- UseSoftsign.cpp - Replace weft.relu by ext.softsign ----------------===//

#include "Ext.h"

namespace ext {
#define GEN_PASS_DEF_USESOFTSIGNPASS
#include "ExtPasses.h.inc"
} // namespace ext

using namespace mlir;

namespace {
struct UseSoftsignPass : ext::impl::UseSoftsignPassBase<UseSoftsignPass> {
  void runOnOperation() override {
    SmallVector<weft::ReluOp> work;
    getOperation().walk([&](weft::ReluOp relu) { work.push_back(relu); });
    if (work.empty())
      getOperation().emitRemark("expects weft.relu to replace, but got none");
    for (weft::ReluOp relu : work) {
      OpBuilder builder(relu);
      auto softsign = ext::SoftsignOp::create(
          builder, relu.getLoc(), relu.getType(), relu.getOperand());
      // The module path, by which reports and recomputation know the op.
      weft::copyScope(relu, softsign);
      relu.replaceAllUsesWith(softsign.getResult());
      relu.erase();
    }
  }
};
} // namespace
