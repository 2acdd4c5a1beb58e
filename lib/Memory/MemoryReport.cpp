//===- MemoryReport.cpp - The memory of a program, by use -----------------===//

#include "weft/Memory/MemoryReport.h"

#include "weft/Analysis/CommandNames.h"
#include "weft/Analysis/Liveness.h"
#include "weft/Analysis/PlanQueries.h"
#include "weft/Base/CountText.h"
#include "weft/Base/Text.h"
#include "weft/Plan/Transfers.h"
#include "weft/Support/TypeText.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace weft;

static int64_t getModuleNumber(ModuleOp module, StringRef name) {
  auto attr = module->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : 0;
}

/// "model.mlir:7" of the first file location: no folder, so that equal models
/// give equal executables wherever they lie.
static std::string getLocationText(Location location) {
  std::string text;
  location->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    llvm::raw_string_ostream(text)
        << llvm::sys::path::filename(file.getFilename()) << ':'
        << file.getLine();
    return WalkResult::interrupt();
  });
  return text;
}

bool weft::isGathered(plan::StateOp state) {
  FlatSymbolRefAttr param = state.getParamAttr();
  if (state.getKind() != StateKind::Working || !param)
    return false;
  auto owner =
      SymbolTable::lookupNearestSymbolFrom<plan::StateOp>(state, param);
  return owner && owner.getSliceCount() > state.getSliceCount();
}

static void addStates(ModuleOp module, MemoryReport &report) {
  for (auto state : module.getOps<plan::StateOp>()) {
    int64_t bytes = plan::getBufferBytes(state.getStorageType());
    switch (state.getKind()) {
    case StateKind::Param:
      report.parameters += bytes;
      break;
    case StateKind::Gradient:
    case StateKind::Presence:
      report.gradients += bytes;
      break;
    case StateKind::Denominator: // a number for a loss, as step counters
    case StateKind::Optimizer:
      report.optimizerState += bytes;
      break;
    case StateKind::Scaler:
      report.scalerState += bytes;
      break;
    case StateKind::Working:
      (isGathered(state) ? report.gathered : report.workingCopies) += bytes;
      break;
    case StateKind::Accumulator:
      report.accumulators += bytes;
      break;
    case StateKind::Cache:
      report.caches += bytes;
      break;
    }
  }
}

/// End of the transient part that one program uses.
static int64_t getTransientEnd(const Liveness &liveness) {
  int64_t end = 0;
  for (const BufferLifetime &buffer : liveness.buffers)
    if (std::optional<int64_t> offset = plan::getRootOffset(buffer.root))
      end = std::max(end, *offset + buffer.bytes);
  return end;
}

static MemoryReport::Buffer describeBuffer(const BufferLifetime &buffer,
                                           const Liveness &liveness,
                                           CommandNames &names) {
  MemoryReport::Buffer result;
  auto alloc = buffer.root.getDefiningOp<plan::AllocOp>();
  result.role = alloc ? stringifyRole(alloc.getRole()).str() : "input";
  result.type = getTypeText(buffer.root.getType());
  result.bytes = buffer.bytes;
  result.offset = plan::getRootOffset(buffer.root).value_or(0);
  result.location = getLocationText(buffer.root.getLoc());
  if (buffer.begin >= 0 &&
      buffer.begin < static_cast<int64_t>(liveness.commands.size())) {
    auto writer =
        cast<plan::CommandOpInterface>(liveness.commands[buffer.begin]);
    result.writer = writer.getCommandName().str();
    result.writerName = names.getNameAndSymbol(writer);
    result.scope = writer.getCommandScope().str();
  }
  return result;
}

/// Whether attention keeps its dropout bits there.
static bool holdsDropoutBits(Value root) {
  return llvm::any_of(root.getUsers(), [&](Operation *user) {
    auto attention = dyn_cast<plan::AttentionOp>(user);
    return attention && attention.getBits() == root;
  });
}

/// Fills in the peak and the buffers that are live there.
static void addPeak(plan::ProgramOp program, const Liveness &liveness,
                    CommandNames &names, MemoryReport &report) {
  report.lowerBound = liveness.peakBytes;
  report.activations = report.temporaries = report.workspaces = report.inputs =
      0;
  report.activationElements = report.dropoutBits = 0;
  report.largest.clear();
  report.peak = {program.getSymName().str(), "", "", "", ""};
  int64_t position = liveness.peakPosition;
  if (position >= 0 &&
      position < static_cast<int64_t>(liveness.commands.size())) {
    auto command = cast<plan::CommandOpInterface>(liveness.commands[position]);
    report.peak.routine = command.getCommandName().str();
    report.peak.name = names.getNameAndSymbol(command);
    report.peak.scope = command.getCommandScope().str();
    report.peak.location = getLocationText(command.getLoc());
  }
  for (const BufferLifetime &buffer : liveness.buffers) {
    if (!buffer.isLiveAt(position))
      continue;
    MemoryReport::Buffer described = describeBuffer(buffer, liveness, names);
    (described.role == "input"        ? report.inputs
     : described.role == "activation" ? report.activations
     : described.role == "workspace"  ? report.workspaces
                                      : report.temporaries) += buffer.bytes;
    if (described.role == "activation") {
      if (holdsDropoutBits(buffer.root))
        report.dropoutBits += buffer.bytes;
      else
        report.activationElements +=
            cast<MemRefType>(buffer.root.getType()).getNumElements();
    }
    report.largest.push_back(std::move(described));
  }
  llvm::sort(report.largest, [](const auto &a, const auto &b) {
    return std::make_pair(-a.bytes, a.offset) <
           std::make_pair(-b.bytes, b.offset);
  });
  if (report.largest.size() > 10)
    report.largest.resize(10);
}

MemoryReport weft::computeMemoryReport(ModuleOp module) {
  MemoryReport report;
  report.arenaBytes =
      getModuleNumber(module, plan::PlanDialect::kArenaBytesAttr);
  report.persistentBytes =
      getModuleNumber(module, plan::PlanDialect::kPersistentBytesAttr);
  report.stagingBytes = getModuleNumber(module, plan::kStagingBytesAttr);
  report.constantBytes = getModuleNumber(module, plan::kConstantBytesAttr);
  report.transientBytes =
      report.arenaBytes - report.persistentBytes - report.stagingBytes;
  report.maxThreads =
      getModuleNumber(module, plan::PlanDialect::kMaxThreadsAttr);
  addStates(module, report);
  report.formula = computeStateFormula(module);
  CommandNames names(module);
  const int64_t alignment = getBufferAlignment(module).value_or(1);
  for (auto program : module.getOps<plan::ProgramOp>()) {
    Liveness liveness = computeLiveness(program, alignment);
    int64_t end = getTransientEnd(liveness);
    report.programs.push_back(
        {program.getSymName().str(),
         static_cast<int64_t>(liveness.commands.size()),
         std::max<int64_t>(end - report.persistentBytes - report.stagingBytes,
                           0),
         liveness.peakBytes});
    if (liveness.peakBytes > report.lowerBound)
      addPeak(program, liveness, names, report);
  }
  if (report.formula)
    report.formula->activationElements = report.activationElements;
  return report;
}

int64_t MemoryReport::getReservedBytes() const {
  int64_t bytes = 0;
  for (const ReservedMemory &each : reserved)
    bytes += each.bytes;
  return bytes;
}

namespace {
enum Shows { Always, TextNotZero, NotZero };

/// A size in the text and in the JSON of a report.
struct SizeRow {
  const char *field; // of the JSON; null: the text alone
  std::string text;
  int64_t bytes;
  Shows shows = Always;
};
} // namespace

static std::vector<SizeRow> listSizes(const MemoryReport &of) {
  const std::string threads = std::to_string(of.maxThreads);
  std::vector<SizeRow> rows = {
      {"parameters", "parameters", of.parameters},
      {"gradients", "gradients", of.gradients},
      {"optimizer_state", "optimizer state", of.optimizerState},
      {"scaler_state", "loss-scale state", of.scalerState, TextNotZero},
      {"working_copies", "working copies", of.workingCopies, TextNotZero},
      {"gathered", "gathered in a step", of.gathered, NotZero},
      {"accumulators", "accumulators", of.accumulators, TextNotZero},
      {"caches", "keys and values of samples", of.caches, NotZero},
      {"activations", "activations (forward to backward)", of.activations},
      {"temporaries", "temporaries", of.temporaries},
      {"workspaces",
       of.maxThreads > 1 ? "workspaces of " + threads + " threads"
                         : "workspaces",
       of.workspaces},
      {"inputs", "inputs", of.inputs},
      {"staging_bytes", "staged inputs and results", of.stagingBytes, NotZero}};
  int64_t gaps = of.arenaBytes;
  for (const SizeRow &row : rows)
    gaps -= row.bytes;
  auto activations = llvm::find_if(rows, [](const SizeRow &row) {
    return StringRef(row.field) == "activations";
  });
  rows.insert(activations + 1, {"dropout_bits", "  dropout bits of attention",
                                of.dropoutBits, NotZero});
  rows.push_back({nullptr, "alignment and gaps", gaps});
  rows.push_back({"arena_bytes", "arena", of.arenaBytes});
  rows.push_back(
      {"transient_bytes", "  shared by the programs", of.transientBytes});
  rows.push_back(
      {"lower_bound", "  lower bound of any packing", of.lowerBound});
  rows.push_back({"constant_bytes", "constants outside the arena",
                  of.constantBytes, NotZero});
  return rows;
}

static llvm::json::Array reservedToJson(ArrayRef<ReservedMemory> reserved) {
  llvm::json::Array list;
  for (const ReservedMemory &each : reserved)
    list.push_back(
        llvm::json::Object{{"user", each.user}, {"bytes", each.bytes}});
  return list;
}

llvm::json::Object MemoryReport::toJson() const {
  llvm::json::Array buffers, programList;
  for (const Buffer &buffer : largest)
    buffers.push_back(llvm::json::Object{{"role", buffer.role},
                                         {"type", buffer.type},
                                         {"bytes", buffer.bytes},
                                         {"offset", buffer.offset},
                                         {"writer", buffer.writer},
                                         {"writer_name", buffer.writerName},
                                         {"scope", buffer.scope},
                                         {"location", buffer.location}});
  for (const Program &program : programs)
    programList.push_back(
        llvm::json::Object{{"name", program.name},
                           {"commands", program.commands},
                           {"transient_bytes", program.transientBytes},
                           {"lower_bound", program.lowerBound}});
  llvm::json::Object json{
      {"max_threads", maxThreads},
      {"persistent_bytes", persistentBytes},
      {"needed_bytes", getNeededBytes()},
      {"peak", llvm::json::Object{{"program", peak.program},
                                  {"routine", peak.routine},
                                  {"name", peak.name},
                                  {"scope", peak.scope},
                                  {"location", peak.location}}},
      {"largest", std::move(buffers)},
      {"programs", std::move(programList)}};
  for (const SizeRow &row : listSizes(*this))
    if (row.field && (row.bytes != 0 || row.shows != NotZero))
      json[row.field] = row.bytes;
  if (!reserved.empty())
    json["reserved"] = reservedToJson(reserved);
  if (formula)
    json["state_formula"] = formula->toJson();
  if (share)
    json["share"] =
        llvm::json::Object{{"ranks", share->ranks},
                           {"zero", share->zeroStage},
                           {"held_bytes", share->heldBytes},
                           {"all_bytes", share->allBytes},
                           {"gathered_bytes", share->gatheredBytes}};
  return json;
}

/// "1.50 MiB" with its number in a column of nine.
static std::string formatBytes(int64_t bytes) {
  std::string text = humanBytes(bytes);
  return std::string(9 - std::min<size_t>(9, text.find(' ')), ' ') + text;
}

static void printFormula(const StateFormula &formula, raw_ostream &os) {
  auto line = [&](StringRef name, int64_t bytes) {
    os << llvm::left_justify(name, 48) << (bytes < 0 ? '-' : ' ')
       << formatBytes(std::abs(bytes)) << '\n';
  };
  os << "state of mixed precision, P = " << formula.parameters
     << " trained parameters:\n";
  line("  16P: 4P f32, 2P copies, 2P gradients, 8P", formula.formulaBytes);
  for (const StateFormula::Difference &difference : formula.differences)
    line("  " + difference.what, difference.bytes);
  line("  persistent state", formula.stateBytes);
  os << "other ways to train, A = " << formula.activationElements
     << " elements of activations at the peak:\n";
  for (const StateFormula::Comparison &comparison : formula.getComparisons())
    line(("  " + Twine(comparison.formula) + " " + comparison.what).str(),
         comparison.bytes);
}

static void printShare(const MemoryReport::Share &share,
                       llvm::raw_ostream &os) {
  os << "each of " << countText(share.ranks, "rank") << ", ZeRO stage "
     << share.zeroStage << ", stores " << humanBytes(share.heldBytes) << " of "
     << humanBytes(share.allBytes) << " of states";
  if (share.gatheredBytes)
    os << ", and " << humanBytes(share.gatheredBytes) << " gathered in a step";
  os << '\n';
}

std::string MemoryReport::toText() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (share)
    printShare(*share, os);
  auto line = [&](StringRef name, int64_t bytes) {
    os << llvm::left_justify(name, 34) << formatBytes(bytes) << '\n';
  };
  for (const SizeRow &row : listSizes(*this))
    if (row.bytes != 0 || row.shows == Always)
      line(row.text, row.bytes);
  if (!reserved.empty())
    line("reserved outside the arena", getReservedBytes());
  for (const ReservedMemory &each : reserved)
    line("  " + each.user, each.bytes);
  if (getNeededBytes() != arenaBytes)
    line("memory", getNeededBytes());
  if (formula)
    printFormula(*formula, os);
  os << "peak at " << peak.name << " in " << peak.program;
  if (!peak.scope.empty())
    os << ", " << peak.scope;
  if (!peak.location.empty())
    os << " (" << peak.location << ")";
  os << "\nlargest buffers at the peak:\n";
  for (const Buffer &buffer : largest) {
    os << "  " << formatBytes(buffer.bytes) << "  " << buffer.role << "  "
       << buffer.type;
    if (!buffer.writerName.empty())
      os << "  from " << buffer.writerName;
    if (!buffer.scope.empty())
      os << ", " << buffer.scope;
    if (!buffer.location.empty())
      os << " (" << buffer.location << ")";
    os << '\n';
  }
  return text;
}
