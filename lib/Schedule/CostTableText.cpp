//===- CostTableText.cpp - A cost table as the text of its file -----------===//

#include "weft/Schedule/CostTableFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace weft;

namespace {
class CostTableText {
public:
  explicit CostTableText(const llvm::StringMap<std::string> &notes)
      : notes(notes) {}

  /// The top level: rates of all commands.
  void add(const CostTable &table);
  void add(StringRef part, const CostTable::Part &rates);
  void add(StringRef axis, const CostTable::LinkPart &rates);
  void add(const Overlap &overlap);
  std::string take() { return std::move(text); }

private:
  void begin(StringRef part);
  void addRates(const CostTable::Part &rates);
  void addRate(StringRef name, std::optional<double> rate);
  void addSlowdown(StringRef name, double part);

  const llvm::StringMap<std::string> &notes;
  std::string text;
};
} // namespace

void CostTableText::begin(StringRef part) {
  if (!text.empty())
    text += "\n";
  if (auto note = notes.find(part); note != notes.end())
    text += "# " + note->second + "\n";
  if (!part.empty())
    text += "[" + part.str() + "]\n";
}

/// Four digits, without an exponent, as people write them. What was measured as
/// less than 1e-6, the least rate that a file may hold, is written as that.
void CostTableText::addRate(StringRef name, std::optional<double> rate) {
  if (!rate)
    return;
  const double value = std::max(*rate, 1e-6);
  const int before = static_cast<int>(std::floor(std::log10(value))) + 1;
  llvm::raw_string_ostream stream(text);
  stream << name << " = "
         << llvm::format("%.*f", std::max(4 - before, 0), value) << "\n";
}

void CostTableText::addRates(const CostTable::Part &rates) {
  addRate("gflops", rates.gflops);
  addRate(kGigascoresKey, rates.gigascoresPerSecond);
  addRate("gigabytes_per_second", rates.gigabytesPerSecond);
  addRate("overhead_us", rates.overheadUs);
}

void CostTableText::add(const CostTable &table) {
  begin("");
  text += (kFormatKey + " = " + Twine(kCostTableFormat) + "\n").str();
  if (!table.target.empty())
    text += (kTargetKey + " = \"" + table.target + "\"\n").str();
  if (table.threads > 0)
    text += (kThreadsKey + " = " + Twine(table.threads) + "\n").str();
  addRates(table.parts.lookup(""));
}

void CostTableText::add(StringRef part, const CostTable::Part &rates) {
  begin(part);
  addRates(rates);
}

void CostTableText::add(StringRef axis, const CostTable::LinkPart &rates) {
  begin(axis.empty() ? "link" : ("link." + axis).str());
  addRate("gigabytes_per_second", rates.gigabytesPerSecond);
  addRate("latency_us", rates.latencyUs);
}

/// Rounded up, the largest parts would be 1, which no file may hold.
void CostTableText::addSlowdown(StringRef name, double part) {
  if (part > 0)
    return addRate(name, std::min(part, 0.999));
  text += (name + " = 0\n").str();
}

/// Behind the rates of all links.
void CostTableText::add(const Overlap &overlap) {
  if (overlap.slowsCompute > 0)
    addSlowdown(kSlowsComputeKey, overlap.slowsCompute);
  if (overlap.slowsComputeAcross)
    addSlowdown(kSlowsAcrossKey, *overlap.slowsComputeAcross);
  for (auto [key, value] : {std::pair(kBesideKey, overlap.besideUs),
                            std::pair(kBeginKey, overlap.beginUs)})
    if (value > 0)
      addRate(key, value);
}

/// The keys of a map in their order; "" first.
template <typename Map>
static std::vector<StringRef> sortedKeys(const Map &map) {
  std::vector<StringRef> keys(map.keys().begin(), map.keys().end());
  llvm::sort(keys);
  return keys;
}

std::string weft::writeCostTable(const CostTable &table,
                                 const llvm::StringMap<std::string> &notes) {
  CostTableText text(notes);
  text.add(table);
  for (StringRef part : sortedKeys(table.parts))
    if (!part.empty())
      text.add(part, table.parts.find(part)->second);
  const Overlap &overlap = table.overlap;
  if (table.links.contains("") || overlap.slowsCompute > 0 ||
      overlap.slowsComputeAcross || overlap.besideUs > 0 ||
      overlap.beginUs > 0) {
    text.add("", table.links.lookup(""));
    text.add(overlap);
  }
  for (StringRef axis : sortedKeys(table.links))
    if (!axis.empty())
      text.add(axis, table.links.find(axis)->second);
  return text.take();
}
