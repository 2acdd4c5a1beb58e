//===- DebugCommands.cpp - Reads and writes of each command ---------------===//

#include "weft/Runtime/Reports/NanHunt.h"

#include "weft/Runtime/Execute/DTypes.h"

#include <algorithm>
#include <optional>

using namespace weft;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Joins dimensions that lie densely in each other.
Elements::Elements(int32_t dtype, std::vector<int64_t> dims,
                   const std::vector<int64_t> &strides)
    : type(dtype), shape(std::move(dims)), runs({1}), steps({1}) {
  for (size_t d = shape.size(); d-- > 0;) {
    if (runs.front() == 1) {
      runs.front() = shape[d];
      steps.front() = strides[d];
    } else if (strides[d] == runs.front() * steps.front()) {
      runs.front() *= shape[d];
    } else if (shape[d] != 1) {
      runs.insert(runs.begin(), shape[d]);
      steps.insert(steps.begin(), strides[d]);
    }
  }
}

int64_t Elements::elementBytes() const { return dtypeBytes(type); }

int64_t Elements::byteOffset(int64_t index) const {
  int64_t at = 0;
  for (size_t d = runs.size(); d-- > 0;) {
    at += index % runs[d] * steps[d];
    index /= runs[d];
  }
  return at * elementBytes();
}

std::pair<int64_t, int64_t> Elements::span() const {
  int64_t lowest = 0, highest = 0;
  for (size_t d = 0; d < runs.size(); ++d) {
    const int64_t last = (runs[d] - 1) * steps[d];
    lowest += std::min<int64_t>(last, 0);
    highest += std::max<int64_t>(last, 0);
  }
  return {lowest * elementBytes(), (highest + 1) * elementBytes()};
}

Elements::Row::Row(const Elements &elements)
    : runs(elements.runs), steps(elements.steps), index(runs.size(), 0) {
  for (size_t d = 0; d + 1 < runs.size(); ++d)
    left *= runs[d];
}

void Elements::Row::next() {
  --left;
  for (size_t d = runs.size() - 1; d-- > 0;) {
    at += steps[d];
    if (++index[d] < runs[d])
      return;
    at -= steps[d] * runs[d];
    index[d] = 0;
  }
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// The WeftDType of a type by MLIR's name, or -1.
static int32_t typeOf(const std::string &name) {
  static const std::pair<const char *, int32_t> types[] = {
      {"f32", WEFT_F32},   {"f64", WEFT_F64}, {"f16", WEFT_F16},
      {"bf16", WEFT_BF16}, {"i1", WEFT_I1},   {"i32", WEFT_I32},
      {"i64", WEFT_I64}};
  for (auto [known, type] : types)
    if (name == known)
      return type;
  return -1;
}

/// None if they are wrong.
static std::optional<Elements> readElements(const JsonCursor &type,
                                            const JsonCursor &dims,
                                            const JsonCursor &strides) {
  auto name = type.asString();
  int32_t dtype = name ? typeOf(*name) : -1;
  auto sizes = dims.asIntArray(0), steps = strides.asIntArray();
  if (dtype < 0 || !sizes || !steps || sizes->size() != steps->size())
    return std::nullopt;
  return Elements(dtype, *sizes, *steps);
}

/// [buffer, type, dims, strides]
static Status readRow(const JsonCursor &row, int64_t numBuffers,
                      std::vector<ReadBuffer> &list) {
  auto fields = row.arraySize();
  if (!fields)
    return fields.takeError();
  if (*fields != 4)
    return row.error("expects four fields");
  auto buffer = row.element(0).asInt(0, numBuffers - 1);
  auto elements = readElements(row.element(1), row.element(2), row.element(3));
  if (!buffer || !elements)
    return row.error("expects [buffer, type, dims, strides]");
  list.push_back({*buffer, std::move(*elements)});
  return Status::success();
}

/// [buffer, type, name, dims, strides, sources]
static Status readRow(const JsonCursor &row, int64_t numBuffers,
                      std::vector<WrittenBuffer> &list) {
  auto fields = row.arraySize();
  if (!fields)
    return fields.takeError();
  if (*fields != 6)
    return row.error("expects six fields");
  auto buffer = row.element(0).asInt(0, numBuffers - 1);
  auto name = row.element(2).asString();
  auto elements = readElements(row.element(1), row.element(3), row.element(4));
  auto sources = row.element(5).asIntArray(0);
  if (!buffer || !name || !elements || !sources ||
      std::any_of(sources->begin(), sources->end(),
                  [&](int64_t each) { return each >= numBuffers; }))
    return row.error("expects [buffer, type, name, dims, strides, sources]");
  list.push_back({*buffer, std::move(*elements), *name, *sources});
  return Status::success();
}

template <typename T>
static Status readRows(const JsonCursor &json, const char *key,
                       int64_t numBuffers, std::vector<T> &list) {
  auto rows = json.get(key);
  if (!rows)
    return rows.takeError();
  auto size = rows->arraySize();
  if (!size)
    return size.takeError();
  for (size_t i = 0; i < *size; ++i)
    if (Status s = readRow(rows->element(i), numBuffers, list); !s)
      return s;
  return Status::success();
}

static Expected<DebugCommand> readCommand(const JsonCursor &json,
                                          const WeftCommand &command) {
  DebugCommand entry;
  auto place = json.getString("at"), ops = json.getString("ops");
  auto infinite = json.getBool("infinite");
  if (!place || !ops || !infinite)
    return (!place ? place.takeError()
            : !ops ? ops.takeError()
                   : infinite.takeError());
  entry.place = *place;
  entry.ops = *ops;
  entry.holdsInfinity = *infinite;
  if (Status s = readRows(json, "reads", command.numBuffers, entry.reads); !s)
    return s.takeError();
  if (Status s = readRows(json, "writes", command.numBuffers, entry.writes); !s)
    return s.takeError();
  return entry;
}

Expected<std::vector<DebugCommand>>
weft::readDebugCommands(const JsonCursor &table, const WeftProgram &program) {
  auto list = table.get(program.symbol);
  if (!list)
    return list.takeError();
  auto size = list->arraySize();
  if (!size)
    return size.takeError();
  if (*size != size_t(program.numCommands))
    return internalError(
        "the metadata's debug_nan does not describe the commands of program ",
        program.symbol);
  std::vector<DebugCommand> commands;
  for (size_t i = 0; i < *size; ++i) {
    auto entry = readCommand(list->element(i), program.commands[i]);
    if (!entry)
      return entry.takeError();
    commands.push_back(std::move(*entry));
  }
  return commands;
}
