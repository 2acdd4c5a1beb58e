//===- CastSummary.cpp - Table of mixed precision, per block --------------===//

#include "CastSummary.h"

#include "OperandTypes.h"

#include "weft/Support/TypeText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace weft;

/// Where the number of the layer stands in a block's name.
static constexpr char kLayer = '*';

/// "h.3.attn" as "h.*.attn" and 3: the first number of the path.
static std::pair<std::string, std::optional<int64_t>>
splitScope(StringRef scope) {
  SmallVector<StringRef> parts;
  scope.split(parts, '.');
  for (StringRef &part : parts) {
    int64_t layer;
    if (part.getAsInteger(10, layer))
      continue;
    part = StringRef(&kLayer, 1);
    return {llvm::join(parts, "."), layer};
  }
  return {scope.str(), std::nullopt};
}

void CastSummary::add(Operation *op, StringRef name, StringRef why) {
  Row row;
  for (Value operand : op->getOperands())
    if (isFloat(operand) && row.type.empty())
      row.type = getTypeText(elementOf(operand));
  auto [block, layer] = splitScope(getScope(op));
  row.block = block;
  row.op = name.str();
  row.why = why.str();
  Row &known =
      rows.insert(
              {block + '\n' + row.op + '\n' + row.type + '\n' + row.why, row})
          .first->second;
  ++known.calls;
  if (layer) {
    known.layers.insert(*layer);
    layers[block].insert(*layer);
  }
}

/// The block with the layers that the row is about: "h.*.attn" if it is about
/// all, else "h.{0,2-3}.attn".
std::string CastSummary::nameBlock(const Row &row) const {
  auto all = layers.find(row.block);
  if (all == layers.end() || all->second == row.layers)
    return row.block;
  std::string list;
  for (auto it = row.layers.begin(); it != row.layers.end();) {
    int64_t first = *it, last = first;
    for (++it; it != row.layers.end() && *it == last + 1; ++it)
      ++last;
    list += (list.empty() ? "" : ",") + std::to_string(first);
    if (last > first)
      list += (last == first + 1 ? "," : "-") + std::to_string(last);
  }
  std::string name = row.block;
  return name.replace(name.find(kLayer), 1,
                      row.layers.size() == 1 ? list : "{" + list + "}");
}

std::string CastSummary::toText() const {
  SmallVector<std::array<std::string, 5>> table = {
      {"block", "op", "runs in", "ops", "why"}};
  for (const auto &entry : rows) {
    const Row &row = entry.second;
    table.push_back(
        {nameBlock(row), row.op, row.type, std::to_string(row.calls), row.why});
  }
  std::array<size_t, 5> widths = {};
  for (const auto &line : table)
    for (auto [width, cell] : llvm::zip(widths, line))
      width = std::max(width, cell.size());
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const auto &line : table) {
    os << (text.empty() ? "" : "\n") << "  ";
    for (auto [index, cell] : llvm::enumerate(line))
      os << llvm::left_justify(cell,
                               index + 1 < line.size() ? widths[index] + 2 : 0);
  }
  return text;
}
