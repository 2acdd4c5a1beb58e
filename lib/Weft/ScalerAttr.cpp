//===- ScalerAttr.cpp - A dynamic loss scale as text ----------------------===//

#include "weft/Weft/Weft.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace weft;

/// A number may be written without a point.
static ParseResult parseNumber(AsmParser &parser, double &number) {
  APInt integer;
  OptionalParseResult parsed = parser.parseOptionalInteger(integer);
  if (!parsed.has_value())
    return parser.parseFloat(number);
  if (succeeded(*parsed))
    number = integer.signedRoundToDouble();
  return *parsed;
}
static ParseResult parseNumber(AsmParser &parser, int64_t &number) {
  return parser.parseInteger(number);
}
static ParseResult parseNumber(AsmParser &parser, bool &flag) {
  flag = succeeded(parser.parseOptionalKeyword("true"));
  return flag ? success() : parser.parseKeyword("false");
}

/// `, NAME = NUMBER`, behind the comma.
static ParseResult
parseField(AsmParser &parser, ScalerNumbers &numbers,
           llvm::SmallPtrSetImpl<const ScalerField *> &given) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  const ScalerField *field = findScalerField(name);
  if (!field)
    return parser.emitError(loc)
           << "expects a number of a loss scale, but got " << name;
  if (!given.insert(field).second)
    return parser.emitError(loc)
           << "expects each number once, but got " << name << " twice";
  if (parser.parseEqual())
    return failure();
  return std::visit(
      [&](auto member) { return parseNumber(parser, numbers.*member); },
      field->member);
}

Attribute ScalerAttr::parse(AsmParser &parser, Type) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&keyword))
    return {};
  std::optional<ScalerPolicy> policy = symbolizeScalerPolicy(keyword);
  if (!policy) {
    parser.emitError(loc) << "expects a loss scale of "
                          << spellChoices(getScalerPolicyNames())
                          << ", but got " << keyword;
    return {};
  }
  ScalerNumbers numbers = ScalerNumbers::getDefaults(*policy);
  llvm::SmallPtrSet<const ScalerField *, 8> given;
  while (succeeded(parser.parseOptionalComma()))
    if (parseField(parser, numbers, given))
      return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ScalerAttr>(loc, parser.getContext(), numbers);
}

static void printNumber(AsmPrinter &printer, double number) {
  printer.printFloat(APFloat(number));
}
static void printNumber(AsmPrinter &printer, int64_t number) {
  printer << number;
}
static void printNumber(AsmPrinter &printer, bool flag) {
  printer << (flag ? "true" : "false");
}

void ScalerAttr::print(AsmPrinter &printer) const {
  ScalerNumbers numbers = getNumbers();
  ScalerNumbers defaults = ScalerNumbers::getDefaults(numbers.policy);
  printer << "<" << stringifyScalerPolicy(numbers.policy);
  for (const ScalerField &field : getScalerFields())
    std::visit(
        [&, name = field.name](auto member) {
          if (numbers.*member == defaults.*member)
            return;
          printer << ", " << name << " = ";
          printNumber(printer, numbers.*member);
        },
        field.member);
  printer << ">";
}

LogicalResult ScalerAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ScalerNumbers numbers) {
  if (std::optional<ScalerProblem> problem = findProblem(numbers))
    return emitError() << problem->spell();
  return success();
}
