//===- UpdateAttrs.cpp - Facts of updates ---------------------------------===//

#include "weft/Weft/Optimizers.h"
#include "weft/Weft/Weft.h"

#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace weft;

LogicalResult
IndexInputAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                       StringAttr name, int64_t limit, std::optional<int64_t>) {
  if (limit >= 1)
    return success();
  return emitError() << "expects a limit of at least 1 for the input " << name
                     << ", but got " << limit;
}

static bool isOptimizer(Attribute name) {
  auto text = dyn_cast<StringAttr>(name);
  return text && findOptimizer(text.getValue());
}

/// Whether `list` is an array of texts, at least one and each once.
static bool isSetOfTexts(Attribute list) {
  auto texts = dyn_cast<ArrayAttr>(list);
  return texts && !texts.empty() &&
         llvm::all_of(texts, llvm::IsaPred<StringAttr>) &&
         llvm::SmallPtrSet<Attribute, 4>(texts.begin(), texts.end()).size() ==
             texts.size();
}

LogicalResult
TrainingAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                     ArrayAttr optimizers, DictionaryAttr counters, ScalerAttr,
                     ArrayAttr indexInputs, ArrayAttr metrics) {
  if (!optimizers.empty() &&
      (!isSetOfTexts(optimizers) || !llvm::all_of(optimizers, isOptimizer)))
    return emitError() << "expects optimizers to be an array of "
                       << spellOptimizers("\"")
                       << ", each at most once, but got " << optimizers;
  if ((counters && counters.empty()) || (indexInputs && indexInputs.empty()))
    return emitError() << "expects counters and index_inputs with an entry, "
                          "but got none";
  for (NamedAttribute counter :
       counters ? counters.getValue() : ArrayRef<NamedAttribute>())
    if (!isSetOfTexts(counter.getValue()))
      return emitError() << "expects counters to list names of parameters, "
                            "each once, but got "
                         << counter.getValue() << " for " << counter.getName();
  if (metrics && !isSetOfTexts(metrics))
    return emitError() << "expects metrics to list names of outputs, each "
                          "once, but got "
                       << metrics;
  llvm::SmallPtrSet<Attribute, 4> names;
  for (Attribute each :
       indexInputs ? indexInputs.getValue() : ArrayRef<Attribute>()) {
    auto input = dyn_cast<IndexInputAttr>(each);
    if (!input || !names.insert(input.getName()).second)
      return emitError() << "expects index_inputs to be an array of "
                            "#weft.index_input, one for each input, but got "
                         << each;
  }
  return success();
}

LogicalResult
RepeatsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                    int64_t update, ArrayAttr states,
                    ArrayRef<int64_t> results) {
  llvm::SmallPtrSet<Attribute, 4> known;
  const bool areSymbols = llvm::all_of(states, [&](Attribute state) {
    return isa<FlatSymbolRefAttr>(state) && known.insert(state).second;
  });
  if (update >= 0 && areSymbols &&
      llvm::all_of(results, [](int64_t result) { return result >= 0; }))
    return success();
  return emitError()
         << "expects the number of an update, symbols of states, each once, "
            "and numbers of results, but got "
         << update << ", " << states << " and [" << llvm::interleaved(results)
         << "]";
}
