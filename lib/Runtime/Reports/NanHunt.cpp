//===- NanHunt.cpp - Which op made the first non-finite value -------------===//

#include "weft/Runtime/Reports/NanHunt.h"

#include "weft/Formats/Names.h"
#include "weft/Runtime/Execute/DTypes.h"
#include "weft/Runtime/Execute/Ports.h"
#include "weft/Runtime/Execute/Segments.h"

#include <algorithm>
#include <cmath>

using namespace weft;

//===----------------------------------------------------------------------===//
// Reading the table
//===----------------------------------------------------------------------===//

static Error wrongTable(const WeftProgram &program) {
  return Error(ExitCode::Internal,
               std::string("the metadata's debug_nan does not describe the "
                           "commands of program ") +
                   program.symbol);
}

/// Joins dimensions that lie densely in each other.
static void joinDims(const std::vector<int64_t> &dims,
                     const std::vector<int64_t> &strides,
                     std::vector<int64_t> &runs, std::vector<int64_t> &steps) {
  runs = {1};
  steps = {1};
  for (size_t d = dims.size(); d-- > 0;) {
    if (runs.front() == 1) {
      runs.front() = dims[d];
      steps.front() = strides[d];
    } else if (strides[d] == runs.front() * steps.front()) {
      runs.front() *= dims[d];
    } else if (dims[d] != 1) {
      runs.insert(runs.begin(), dims[d]);
      steps.insert(steps.begin(), strides[d]);
    }
  }
}

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

static bool isFloat(int32_t dtype) {
  return dtype == WEFT_F32 || dtype == WEFT_F64 || dtype == WEFT_F16 ||
         dtype == WEFT_BF16;
}

/// [buffer, type, name, dims, strides, whether it is read as well]
Expected<NanHunt::Command> NanHunt::readCommand(const JsonCursor &json,
                                                const WeftCommand &command) {
  Command entry;
  auto place = json.getString("at"), ops = json.getString("ops");
  auto writes = json.get("writes");
  auto infinite = json.getBool("infinite");
  if (!place || !ops || !writes || !infinite)
    return (!place    ? place.takeError()
            : !ops    ? ops.takeError()
            : !writes ? writes.takeError()
                      : infinite.takeError());
  entry.place = *place;
  entry.ops = *ops;
  entry.holdsInfinity = *infinite;
  auto size = writes->arraySize();
  if (!size)
    return size.takeError();
  for (size_t i = 0; i < *size; ++i) {
    JsonCursor row = writes->element(i);
    auto fields = row.arraySize();
    if (!fields)
      return fields.takeError();
    if (*fields != 6)
      return row.error("expects six fields");
    auto buffer = row.element(0).asInt(0, command.numBuffers - 1);
    auto type = row.element(1).asString();
    int32_t dtype = type ? typeOf(*type) : -1;
    auto name = row.element(2).asString();
    auto dims = row.element(3).asIntArray(0);
    auto strides = row.element(4).asIntArray();
    auto isRead = row.element(5).asBool();
    if (!buffer || dtype < 0 || !name || !dims || !strides || !isRead ||
        dims->size() != strides->size())
      return row.error("expects [buffer, type, name, dims, strides, read]");
    Written written = {*buffer, dtype, *name, *dims, {}, {}, *isRead};
    joinDims(*dims, *strides, written.runs, written.strides);
    entry.writes.push_back(std::move(written));
  }
  return entry;
}

Status NanHunt::read(const JsonCursor &json, const WeftProgram &program) {
  auto list = json.get(program.symbol);
  if (!list)
    return list.takeError();
  auto size = list->arraySize();
  if (!size)
    return size.takeError();
  if (*size != size_t(program.numCommands))
    return wrongTable(program);
  std::vector<Command> &commands = programs[program.symbol];
  for (size_t i = 0; i < *size; ++i) {
    auto entry = readCommand(list->element(i), program.commands[i]);
    if (!entry)
      return entry.takeError();
    commands.push_back(std::move(*entry));
  }
  return Status::success();
}

Expected<std::unique_ptr<NanHunt>> NanHunt::create(WeftContext &context,
                                                   const Json &table) {
  std::unique_ptr<NanHunt> hunt(new NanHunt(context));
  JsonCursor json(table, "<metadata>", ExitCode::Internal);
  for (int32_t i = 0; i < context.executable()->numPrograms; ++i)
    if (Status s = hunt->read(json, context.executable()->programs[i]); !s)
      return s.takeError();
  NanHunt *self = hunt.get();
  context.checkHook = [self](const WeftProgram &program,
                             const WeftCommand &command, void *const *buffers) {
    return self->check(program, command, buffers);
  };
  return hunt;
}

NanHunt::~NanHunt() { context.checkHook = nullptr; }

//===----------------------------------------------------------------------===//
// Looking
//===----------------------------------------------------------------------===//

namespace {
/// Starts of the rows of a strided buffer, in order.
class Rows {
public:
  Rows(const std::vector<int64_t> &dims, const std::vector<int64_t> &strides)
      : dims(dims), strides(strides), index(dims.size(), 0) {
    for (size_t d = 0; d + 1 < dims.size(); ++d)
      count *= dims[d];
  }
  int64_t size() const { return count; }
  int64_t offset() const { return at; }
  void next() {
    for (size_t d = dims.size() - 1; d-- > 0;) {
      at += strides[d];
      if (++index[d] < dims[d])
        return;
      at -= strides[d] * dims[d];
      index[d] = 0;
    }
  }

private:
  const std::vector<int64_t> &dims, &strides;
  std::vector<int64_t> index;
  int64_t count = 1, at = 0;
};
} // namespace

static const char *nameOf(double value) {
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/// The first element that is not finite, in row-major order, and its value; or
/// -1.
int64_t NanHunt::find(const Written &written, const char *data, double &value) {
  if (!isFloat(written.dtype))
    return -1;
  int64_t bytes = dtypeBytes(written.dtype), length = written.runs.back();
  Rows rows(written.runs, written.strides);
  for (int64_t row = 0; row < rows.size(); ++row, rows.next())
    for (int64_t i = 0; i < length; ++i) {
      int64_t at = rows.offset() + i * written.strides.back();
      value = loadNumber(data + at * bytes, written.dtype);
      if (!std::isfinite(value))
        return row * length + i;
    }
  return -1;
}

/// Programs that write weights and their copies.
static bool isUpdate(const WeftProgram &program) {
  std::string kind = program.kind;
  return kind == names::kApply || kind == names::kRefresh;
}

//===----------------------------------------------------------------------===//
// Where values that are not finite lie
//===----------------------------------------------------------------------===//

bool NanHunt::isFed(const WeftCommand &command, const Command &entry) const {
  if (entry.holdsInfinity)
    return true;
  bool reads = false;
  const int32_t operands = command.numBuffers - (command.workspaceBytes > 0);
  for (int32_t i = 0; i < operands; ++i) {
    bool isOnlyWritten = std::any_of(
        entry.writes.begin(), entry.writes.end(), [&](const Written &written) {
          return written.buffer == i && !written.isRead;
        });
    if (isOnlyWritten)
      continue;
    reads = true;
    if (tainted.holds(command.offsets[i]))
      return true;
  }
  return !reads;
}

/// Notes what the elements of a buffer hold now, and says nothing of what lies
/// between them.
void NanHunt::mark(const Written &written, int64_t begin, bool finite) {
  if (finite && tainted.empty())
    return;
  const int64_t bytes = dtypeBytes(written.dtype);
  const int64_t step = written.strides.back() * bytes;
  int64_t pieces = 1, length = written.runs.back() * bytes;
  if (step != bytes)
    pieces = written.runs.back(), length = bytes;
  Rows rows(written.runs, written.strides);
  for (int64_t row = 0; row < rows.size(); ++row, rows.next())
    for (int64_t i = 0; i < pieces; ++i) {
      const int64_t from = begin + rows.offset() * bytes + i * step;
      tainted.mark(from, from + length, finite);
    }
}

/// Looks at a dense tensor from outside the programs; what it is called is the
/// sentence if nothing else is.
void NanHunt::lookAt(const std::string &what, int32_t dtype, int64_t offset,
                     int64_t bytes) {
  if (!isFloat(dtype))
    return;
  int64_t count = bytes / dtypeBytes(dtype);
  Written whole = {0, dtype, "", {count}, {count}, {1}, false};
  double value = 0.0;
  const char *data = static_cast<const char *>(context.at(offset));
  int64_t element = count > 0 ? find(whole, data, value) : -1;
  if (element < 0)
    return;
  tainted.mark(offset, offset + bytes, /*finite=*/false);
  auto writer = writers.find(what);
  if (any.empty())
    any = writer != writers.end()
              ? writer->second
              : what + " came in with " + nameOf(value) + " in element " +
                    std::to_string(element);
}

void NanHunt::lookAtWeights() {
  for (const NamedTensor &tensor : namedTensors(*context.executable())) {
    if (tensor.kind() != WEFT_PARAM && tensor.kind() != WEFT_WORKING)
      continue;
    const HeldRange held = heldBy(tensor, context.rank());
    lookAt("weight " + inQuotes(tensor.name), tensor.dtype(), held.offset,
           held.elements() * dtypeBytes(tensor.dtype()));
  }
}

void NanHunt::lookAtInputs(const WeftProgram &program) {
  for (int32_t i = 0; i < program.numInputs; ++i) {
    const WeftPort &port = program.inputs[i];
    tainted.mark(port.offset, port.offset + port.bytes, /*finite=*/true);
    // Limits of an update may be infinite.
    if (isUpdate(program))
      continue;
    lookAt("input " + inQuotes(port.name), port.dtype, port.offset, port.bytes);
  }
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

bool NanHunt::check(const WeftProgram &program, const WeftCommand &command,
                    void *const *buffers) {
  if (&command == program.commands)
    lookAtInputs(program);
  const Command &entry = programs[program.symbol][&command - program.commands];
  const bool fed = isFed(command, entry);
  // What it leaves in its workspace means nothing.
  if (command.workspaceBytes > 0) {
    const int64_t begin = command.offsets[command.numBuffers - 1];
    tainted.mark(begin, begin + command.workspaceBytes, /*finite=*/true);
  }
  bool found = false;
  for (const Written &written : entry.writes) {
    double value = 0.0;
    int64_t element = find(
        written, static_cast<const char *>(buffers[written.buffer]), value);
    int64_t begin = command.offsets[written.buffer];
    mark(written, begin, element < 0);
    if (element < 0 || found || onPurpose.count(&command))
      continue;
    found = true;
    const Element place = locate(written, begin, element);
    note(program, command, fed, place,
         describe(program, command, entry, written.dtype, place, value));
  }
  return true;
}

NanHunt::Element NanHunt::locate(const Written &written, int64_t begin,
                                 int64_t index) const {
  int64_t at = 0, left = index;
  for (size_t d = written.runs.size(); d-- > 0;) {
    at += left % written.runs[d] * written.strides[d];
    left /= written.runs[d];
  }
  const int64_t bytes = dtypeBytes(written.dtype), place = begin + at * bytes;
  for (const NamedTensor &tensor : namedTensors(*context.executable())) {
    const HeldRange held = heldBy(tensor, context.rank());
    const int64_t element = (place - held.offset) / bytes;
    if (tensor.home->numSegments > 0 && place >= held.offset &&
        element < held.elements())
      return {tensor.name, tensor.shape, held.begin + element};
  }
  return {written.name, written.dims, index};
}

void NanHunt::note(const WeftProgram &program, const WeftCommand &command,
                   bool fed, const Element &element, const std::string &text) {
  if (!fed && isUpdate(program) && !element.name.empty())
    writers["weight " + inQuotes(element.name)] = text;
  if (any.empty())
    any = text;
  if (!fed && first.empty())
    first = text;
  makers.push_back(&command);
}

/// `gemm in h.3.attn (model.mlir:12) of program micro made inf:
/// element 17 of F16[8, 4] 'w.grad'`
std::string NanHunt::describe(const WeftProgram &program,
                              const WeftCommand &command, const Command &entry,
                              int32_t dtype, const Element &element,
                              double value) const {
  std::string text = command.name;
  if (!entry.ops.empty())
    text += " (" + entry.ops + ")";
  if (command.scope && *command.scope)
    text += std::string(" in ") + command.scope;
  if (!entry.place.empty())
    text += " at " + entry.place;
  text += std::string(", program ") + program.symbol + ", made the first ";
  text += nameOf(value);
  text += ": element " + std::to_string(element.index) + " of " +
          dtypeName(dtype) + shapeText(element.dims);
  return element.name.empty() ? text : text + " " + inQuotes(element.name);
}

void NanHunt::begin() {
  first.clear();
  any.clear();
  tainted.clear();
  makers.clear();
  lookAtWeights();
}

void NanHunt::blame(const std::string &text) {
  if (first.empty())
    first = text;
}

std::string NanHunt::finish(bool good) {
  if (!good)
    return first.empty() ? any : first;
  onPurpose.insert(makers.begin(), makers.end());
  return "";
}
