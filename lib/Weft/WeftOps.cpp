//===- WeftOps.cpp - Generated op definitions -----------------------------===//

#include "Parsing.h"
#include "weft/Weft/KernelOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace weft;

ParseResult weft::parseSameType(OpAsmParser &parser, Type &first,
                                Type &second) {
  if (parser.parseType(first))
    return failure();
  second = first;
  return success();
}

void weft::printSameType(OpAsmPrinter &printer, Operation *, Type first, Type) {
  printer << first;
}

ParseResult weft::parseAttentionGradTypes(OpAsmParser &parser, Type &grad,
                                          Type &query, Type &key, Type &value,
                                          Type &out, Type &lse) {
  if (parser.parseType(query) || parser.parseComma() || parser.parseType(key) ||
      parser.parseComma() || parser.parseType(lse))
    return failure();
  grad = out = query;
  value = key;
  return success();
}

void weft::printAttentionGradTypes(OpAsmPrinter &printer, Operation *, Type,
                                   Type query, Type key, Type, Type, Type lse) {
  printer << query << ", " << key << ", " << lse;
}

#define GET_OP_CLASSES
#include "weft/Weft/WeftOps.cpp.inc"

#define GET_OP_CLASSES
#include "weft/Weft/WeftKernelOps.cpp.inc"
