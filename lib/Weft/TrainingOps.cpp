//===- TrainingOps.cpp - Gradient and optimizer ops -----------------------===//

#include "Parsing.h"
#include "weft/Base/CountText.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

LogicalResult RandomNormalOp::verify() {
  return verifyNormal([&] { return emitOpError(); },
                      getMean().convertToDouble(), getStd().convertToDouble());
}

LogicalResult RandomUniformOp::verify() {
  return verifyUniform([&] { return emitOpError(); },
                       getLow().convertToDouble(), getHigh().convertToDouble());
}

LogicalResult DrawAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringAttr key, InitAttr, int64_t begin,
                               int64_t end) {
  if (begin >= 0 && begin < end)
    return success();
  return emitError() << "expects elements of " << key << " from 0 on, but got "
                     << begin << " to " << end;
}

LogicalResult RandomSliceOp::verify() {
  if (getType().getRank() != 1)
    return emitOpError("expects a flat result, but got ") << getType();
  int64_t end = 0;
  for (auto draw : getDraws().getAsRange<DrawAttr>()) {
    if (draw.getBegin() < end)
      return emitOpError(
                 "expects draws in the order of their elements, but got ")
             << draw.getKey() << " at " << draw.getBegin() << " before " << end;
    end = draw.getEnd();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

LogicalResult NormAndCheckOp::verify() {
  double p = getP().convertToDouble();
  if (p == 1.0 || p == 2.0 || p == 3.0 || (std::isinf(p) && p > 0))
    return success();
  return emitOpError("expects p of 1, 2, 3 or inf, but got ") << p;
}

LogicalResult TotalNormOp::verify() {
  if (getNorms().empty() || getNorms().size() != getSkips().size())
    return emitOpError("expects one skip for each norm, but got ")
           << getSkips().size() << " for " << getNorms().size();
  double p = getP().convertToDouble();
  if (p > 0)
    return success();
  return emitOpError("expects a positive p, but got ") << p;
}

//===----------------------------------------------------------------------===//
// FactorsAttr
//===----------------------------------------------------------------------===//

static FloatAttr getOwnDecay(MLIRContext *context,
                             const UpdateFactors &factors) {
  if (!factors.weightDecay)
    return {};
  return Builder(context).getF64FloatAttr(*factors.weightDecay);
}

FactorsAttr FactorsAttr::get(MLIRContext *context,
                             const UpdateFactors &factors) {
  return get(context, factors.begin, APFloat(factors.lrScale),
             APFloat(factors.decayScale), getOwnDecay(context, factors));
}

UpdateFactors FactorsAttr::getFactors() const {
  UpdateFactors factors = {getBegin(), getLrScale().convertToDouble(),
                           getDecayScale().convertToDouble()};
  if (FloatAttr own = getWeightDecay())
    factors.weightDecay = own.getValueAsDouble();
  return factors;
}

/// `, NAME = NUMBER`, if it comes next.
static OptionalParseResult parseFactor(AsmParser &parser, StringRef &name,
                                       double &number) {
  if (failed(parser.parseOptionalComma()))
    return std::nullopt;
  if (parser.parseKeyword(&name) || parser.parseEqual())
    return failure();
  return parser.parseFloat(number);
}

Attribute FactorsAttr::parse(AsmParser &parser, Type) {
  SMLoc start = parser.getCurrentLocation();
  UpdateFactors factors;
  SmallVector<StringRef> names;
  if (parser.parseLess() || parser.parseKeyword("from") ||
      parser.parseInteger(factors.begin))
    return {};
  while (true) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    double number = 0;
    OptionalParseResult parsed = parseFactor(parser, name, number);
    if (!parsed.has_value())
      break;
    if (failed(*parsed))
      return {};
    if (llvm::is_contained(names, name))
      return parser.emitError(loc, "expects each factor once, but got ")
                 << name << " again",
             Attribute();
    names.push_back(name);
    if (name == "lr_scale")
      factors.lrScale = number;
    else if (name == "decay_scale")
      factors.decayScale = number;
    else if (name == "weight_decay")
      factors.weightDecay = number;
    else
      return parser.emitError(loc, "expects lr_scale, decay_scale or "
                                   "weight_decay, but got ")
                 << name,
             Attribute();
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<FactorsAttr>(
      start, parser.getContext(), factors.begin, APFloat(factors.lrScale),
      APFloat(factors.decayScale), getOwnDecay(parser.getContext(), factors));
}

void FactorsAttr::print(AsmPrinter &printer) const {
  UpdateFactors factors = getFactors();
  auto print = [&](StringRef name, double number) {
    printer << ", " << name << " = ";
    printer.printFloat(APFloat(number));
  };
  printer << "<from " << factors.begin;
  if (factors.lrScale != 1.0)
    print("lr_scale", factors.lrScale);
  if (factors.decayScale != 1.0)
    print("decay_scale", factors.decayScale);
  if (factors.weightDecay)
    print("weight_decay", *factors.weightDecay);
  printer << ">";
}

LogicalResult FactorsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t begin, APFloat lrScale,
                                  APFloat decayScale, FloatAttr weightDecay) {
  if (begin < 0)
    return emitError() << "expects factors from element 0 or later, but got "
                       << begin;
  if (weightDecay && failed(verifyFinite(emitError, "weight_decay",
                                         weightDecay.getValueAsDouble())))
    return failure();
  if (failed(verifyFinite(emitError, "lr_scale", lrScale.convertToDouble())))
    return failure();
  return verifyFinite(emitError, "decay_scale", decayScale.convertToDouble());
}

//===----------------------------------------------------------------------===//
// Factors of an update
//===----------------------------------------------------------------------===//

/// The declaration of the parameter that is updated, or null.
static ParamOp findParam(OptimizerOpInterface op,
                         SymbolTableCollection &symbols) {
  auto read = op.getParam().getDefiningOp<ReadOp>();
  return read ? symbols.lookupNearestSymbolFrom<ParamOp>(op,
                                                         read.getSourceAttr())
              : ParamOp();
}

/// No range begins inside a segment of the parameter, or behind its elements.
static LogicalResult verifyFactorUses(OptimizerOpInterface op,
                                      SymbolTableCollection &symbols) {
  SmallVector<UpdateFactors> ranges = op.getFactorList();
  if (ranges.empty())
    return success();
  int64_t elements =
      cast<RankedTensorType>(op.getParam().getType()).getNumElements();
  if (ranges.back().begin >= elements)
    return op->emitOpError("expects factors that begin inside the ")
           << countText(elements, "element") << ", but got "
           << ranges.back().begin;
  ParamOp param = findParam(op, symbols);
  if (!param)
    return success();
  if (param.getSlices() != 1)
    return op->emitOpError("does not support factors by range in one of ")
           << param.getSlices() << " slices yet; use weft-bucket on one rank";
  for (const Segment &segment : param.getSegmentList())
    for (const UpdateFactors &range : ranges) {
      if (range.begin <= segment.begin || range.begin >= segment.end)
        continue;
      InFlightDiagnostic diag =
          op->emitOpError("expects equal factors in the segment of ")
          << segment.param << ", but got others from " << range.begin;
      diag.attachNote(param.getLoc()) << "declared here";
      return diag;
    }
  return success();
}

static SmallVector<UpdateFactors> toFactorList(std::optional<ArrayAttr> list) {
  SmallVector<UpdateFactors> ranges;
  if (list)
    for (auto factors : list->getAsRange<FactorsAttr>())
      ranges.push_back(factors.getFactors());
  return ranges;
}

LogicalResult AdamWOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyFactorUses(*this, symbols);
}
LogicalResult AdamOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyFactorUses(*this, symbols);
}
LogicalResult SgdOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyFactorUses(*this, symbols);
}

SmallVector<UpdateFactors> AdamWOp::getFactorList() {
  return toFactorList(getFactors());
}
SmallVector<UpdateFactors> AdamOp::getFactorList() {
  return toFactorList(getFactors());
}
SmallVector<UpdateFactors> SgdOp::getFactorList() {
  return toFactorList(getFactors());
}
