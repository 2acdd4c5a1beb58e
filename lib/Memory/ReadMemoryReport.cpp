//===- ReadMemoryReport.cpp - A memory report from its JSON ---------------===//

#include "weft/Memory/MemoryReport.h"

namespace weft {

namespace json = llvm::json;

static int64_t readNumber(const json::Object &object, llvm::StringRef field) {
  return object.getInteger(field).value_or(0);
}

static std::string readText(const json::Object &object, llvm::StringRef field) {
  return object.getString(field).value_or("").str();
}

/// The objects of a list.
static llvm::SmallVector<const json::Object *>
readList(const json::Object &object, llvm::StringRef field) {
  llvm::SmallVector<const json::Object *> list;
  if (const json::Array *values = object.getArray(field))
    for (const json::Value &value : *values)
      if (const json::Object *entry = value.getAsObject())
        list.push_back(entry);
  return list;
}

static void readSizes(const json::Object &json, MemoryReport &report) {
  const std::pair<const char *, int64_t MemoryReport::*> fields[] = {
      {"parameters", &MemoryReport::parameters},
      {"gradients", &MemoryReport::gradients},
      {"optimizer_state", &MemoryReport::optimizerState},
      {"scaler_state", &MemoryReport::scalerState},
      {"working_copies", &MemoryReport::workingCopies},
      {"gathered", &MemoryReport::gathered},
      {"caches", &MemoryReport::caches},
      {"accumulators", &MemoryReport::accumulators},
      {"activations", &MemoryReport::activations},
      {"dropout_bits", &MemoryReport::dropoutBits},
      {"temporaries", &MemoryReport::temporaries},
      {"workspaces", &MemoryReport::workspaces},
      {"inputs", &MemoryReport::inputs},
      {"max_threads", &MemoryReport::maxThreads},
      {"staging_bytes", &MemoryReport::stagingBytes},
      {"persistent_bytes", &MemoryReport::persistentBytes},
      {"transient_bytes", &MemoryReport::transientBytes},
      {"arena_bytes", &MemoryReport::arenaBytes},
      {"lower_bound", &MemoryReport::lowerBound},
      {"constant_bytes", &MemoryReport::constantBytes}};
  for (auto [field, member] : fields)
    report.*member = readNumber(json, field);
}

static MemoryReport::Buffer readBuffer(const json::Object &json) {
  MemoryReport::Buffer buffer;
  buffer.role = readText(json, "role");
  buffer.type = readText(json, "type");
  buffer.scope = readText(json, "scope");
  buffer.location = readText(json, "location");
  buffer.writer = readText(json, "writer");
  buffer.writerName = readText(json, "writer_name");
  buffer.bytes = readNumber(json, "bytes");
  buffer.offset = readNumber(json, "offset");
  return buffer;
}

static StateFormula readFormula(const json::Object &json) {
  StateFormula formula;
  formula.parameters = readNumber(json, "parameters");
  formula.formulaBytes = readNumber(json, "formula_bytes");
  formula.stateBytes = readNumber(json, "state_bytes");
  formula.activationElements = readNumber(json, "activation_elements");
  for (const json::Object *each : readList(json, "differences"))
    formula.differences.push_back(
        {readText(*each, "what"), readNumber(*each, "bytes")});
  return formula;
}

MemoryReport MemoryReport::fromJson(const json::Object &json) {
  MemoryReport report;
  readSizes(json, report);
  if (const json::Object *peak = json.getObject("peak"))
    report.peak = {readText(*peak, "program"), readText(*peak, "routine"),
                   readText(*peak, "name"), readText(*peak, "scope"),
                   readText(*peak, "location")};
  for (const json::Object *each : readList(json, "largest"))
    report.largest.push_back(readBuffer(*each));
  for (const json::Object *each : readList(json, "programs"))
    report.programs.push_back({readText(*each, "name"),
                               readNumber(*each, "commands"),
                               readNumber(*each, "transient_bytes"),
                               readNumber(*each, "lower_bound")});
  for (const json::Object *each : readList(json, "reserved"))
    report.reserved.push_back(
        {readText(*each, "user"), readNumber(*each, "bytes")});
  if (const json::Object *formula = json.getObject("state_formula"))
    report.formula = readFormula(*formula);
  if (const json::Object *share = json.getObject("share"))
    report.share = {readNumber(*share, "ranks"), readNumber(*share, "zero"),
                    readNumber(*share, "held_bytes"),
                    readNumber(*share, "all_bytes"),
                    readNumber(*share, "gathered_bytes")};
  return report;
}

} // namespace weft
