//===- CastTable.cpp - The cast policies as a document --------------------===//

#include "weft/Precision/CastTable.h"

#include "CastPolicies.h"

#include "mlir/IR/MLIRContext.h"

using namespace mlir;
using namespace weft;

/// The policy under a recipe and the CUDA lists.
static StringRef policyIn(CastRecipe recipe, const CastRule &rule) {
  return stringifyCastPolicy(rule.under(recipe).value_or(rule.cuda));
}

static void printRow(RegisteredOperationName op, const CastRule &rule,
                     raw_ostream &stream) {
  std::string name = castTableName(op, rule);
  stream << "| `" << name << "` | " << stringifyCastPolicy(rule.cuda) << " | "
         << stringifyCastPolicy(rule.cpu) << " | "
         << policyIn(CastRecipe::Llm, rule) << " | "
         << policyIn(CastRecipe::PureF16, rule) << " | " << rule.torchNames
         << " |\n";
}

std::string weft::castPoliciesMarkdown() {
  MLIRContext context;
  context.loadDialect<WeftDialect>();
  std::string text = "| op | cuda lists | cpu lists | llm | pure-f16 | in "
                     "PyTorch |\n|---|---|---|---|---|---|\n";
  llvm::raw_string_ostream stream(text);
  SmallVector<RegisteredOperationName> ops(context.getRegisteredOperations());
  llvm::sort(ops, [](RegisteredOperationName a, RegisteredOperationName b) {
    return a.getStringRef() < b.getStringRef();
  });
  for (RegisteredOperationName op : ops)
    if (auto *rules = op.getInterface<CastPolicyOpInterface>())
      for (const CastRule &rule : rules->getCastRules())
        printRow(op, rule, stream);
  return text;
}
