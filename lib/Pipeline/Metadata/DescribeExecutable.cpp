//===- DescribeExecutable.cpp - The metadata that the program carries -----===//

#include "DescribeTraining.h"

#include "weft/Analysis/CommandNames.h"
#include "weft/Analysis/Cost.h"
#include "weft/Analysis/PlanQueries.h"
#include "weft/Base/FlagNames.h"
#include "weft/Base/Text.h"
#include "weft/Dist/Dist.h"
#include "weft/Formats/Json.h"
#include "weft/Memory/MemoryReport.h"
#include "weft/Pipeline/Metadata/DescribeSchedule.h"
#include "weft/Pipeline/Metadata/Passes.h"
#include "weft/Pipeline/Metadata/Version.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Pipeline/Targets/Target.h"
#include "weft/Plan/Plan.h"
#include "weft/Support/TypeText.h"
#include "weft/Verify/VerifyExecutable.h"
#include "weft/Weft/Weft.h"

#include "llvm/Support/JSON.h"

namespace weft {
#define GEN_PASS_DEF_DESCRIBEEXECUTABLEPASS
#include "weft/Pipeline/Metadata/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Sharding
//===----------------------------------------------------------------------===//

/// A rank's shard of one flat state; `slot` is "" for the parameters.
static Json describeState(plan::StateOp state) {
  MemRefType type = state.getBufferType();
  Json entry = Json::object();
  entry.set("slot", state.getSlot().value_or("").str());
  entry.set("kind", isGathered(state)
                        ? "gathered"
                        : stringifyStateKind(state.getKind()).str());
  entry.set("dtype", getTypeText(type.getElementType()));
  entry.set("slices", state.getSliceCount());
  entry.set("bytes", plan::getBufferBytes(type));
  return entry;
}

/// A flat parameter with the states that belong to it.
static Json describeBucket(plan::StateOp param) {
  Json states = Json::array();
  states.push(describeState(param));
  for (auto state : param->getParentOfType<ModuleOp>().getOps<plan::StateOp>())
    if (FlatSymbolRefAttr owner = state.getParamAttr();
        owner && owner.getAttr() == param.getSymNameAttr())
      states.push(describeState(state));
  Json bucket = Json::object();
  bucket.set("name", param.getSymName().str());
  bucket.set("elements",
             param.getBufferType().getNumElements() * param.getSliceCount());
  bucket.set("states", std::move(states));
  return bucket;
}

/// The field `sharding` of a lowered module's metadata
/// (docs/reference/executable.md); null for one rank.
static Json describeSharding(ModuleOp module, const FlagValues &flags) {
  if (!dist::findMesh(module))
    return Json();
  Json buckets = Json::array();
  for (auto state : module.getOps<plan::StateOp>())
    if (state.getKind() == StateKind::Param && state.isSegmented())
      buckets.push(describeBucket(state));
  Json sharding = Json::object();
  sharding.set("zero", flags.getInt("zero"));
  sharding.set("buckets", std::move(buckets));
  return sharding;
}

/// The states of one of several ranks.
static std::optional<MemoryReport::Share>
computeShare(ModuleOp module, const FlagValues &flags) {
  dist::MeshOp mesh = dist::findMesh(module);
  if (!mesh)
    return std::nullopt;
  MemoryReport::Share share;
  share.ranks = mesh.getNumRanks();
  share.zeroStage = flags.getInt("zero");
  for (auto state : module.getOps<plan::StateOp>()) {
    int64_t bytes = plan::getBufferBytes(state.getBufferType());
    if (isGathered(state)) {
      share.gatheredBytes += bytes;
      continue;
    }
    share.heldBytes += bytes;
    share.allBytes += bytes * state.getSliceCount();
  }
  return share;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

static std::string textAttr(ModuleOp module, StringRef name) {
  auto attr = module->getAttrOfType<StringAttr>(name);
  return attr ? attr.str() : std::string();
}

static std::optional<int64_t> intAttr(ModuleOp module, StringRef name) {
  if (auto attr = module->getAttrOfType<IntegerAttr>(name))
    return attr.getInt();
  return std::nullopt;
}

/// [{path, digest}] of an attribute that lists files.
static Json fileList(ModuleOp module, StringRef name) {
  auto list = module->getAttrOfType<ArrayAttr>(name);
  if (!list || list.empty())
    return Json();
  Json files = Json::array();
  for (auto file : list.getAsRange<DictionaryAttr>()) {
    Json entry = Json::object();
    entry.set("path", file.getAs<StringAttr>("path").str());
    entry.set("digest", "xxh3:" + file.getAs<StringAttr>("xxh3").str());
    files.push(std::move(entry));
  }
  return files;
}

/// Names or paths.
static void describeTexts(ModuleOp module, StringRef name, Json &meta) {
  auto texts = module->getAttrOfType<ArrayAttr>(("weft." + name).str());
  if (!texts)
    return;
  Json list = Json::array();
  for (auto text : texts.getAsRange<StringAttr>())
    list.push(text.str());
  meta.set(name.str(), std::move(list));
}

/// Numbers outside of the fingerprint; a model may have none.
static Json describeAdjustable(ModuleOp module) {
  Json numbers = Json::object();
  if (auto texts = module->getAttrOfType<DictionaryAttr>("weft.adjustable"))
    for (NamedAttribute text : texts)
      numbers.set(text.getName().str(),
                  cast<StringAttr>(text.getValue()).str());
  return numbers;
}

static void describeModel(ModuleOp module, Json &meta) {
  meta.set("name", module.getSymName().value_or("model").str());
  std::string family = textAttr(module, "weft.family");
  meta.set("family", family.empty() ? "mlir" : family);
  meta.set("fingerprint", textAttr(module, "weft.fingerprint"));
  if (std::string old = textAttr(module, "weft.fingerprint_1"); !old.empty()) {
    meta.set("fingerprint_1", old);
    meta.set("adjustable", describeAdjustable(module));
  }
  for (const char *name : {"vocab", "seq"})
    if (std::optional<int64_t> value =
            intAttr(module, (Twine("weft.") + name).str()))
      meta.set(name, *value);
  meta.set("batch", getBatchRows(module));
  meta.set("row_mean", module->hasAttr(WeftDialect::kRowMeanAttr));
  if (Json files = fileList(module, "weft.weights"); !files.isNull())
    meta.set("initial_weights", Json::object()).set("files", std::move(files));
  describeTexts(module, "unread_weights", meta);
  describeTexts(module, "tokenizer_files", meta);
  if (Json files = fileList(module, "weft.companion_files"); !files.isNull())
    meta.set("companion_files", std::move(files));
  if (std::string config = textAttr(module, "weft.config_text");
      !config.empty())
    meta.set("config", config);
}

//===----------------------------------------------------------------------===//
// Inputs that are indices
//===----------------------------------------------------------------------===//

/// Describes the valid values of inputs in a file of named tensors, which the
/// runtime checks before it starts. Files of tokens have a reader with its own
/// checks.
static void describeInputs(ModuleOp module, Json &meta) {
  auto training =
      module->getAttrOfType<TrainingAttr>(WeftDialect::kTrainingAttr);
  if (!training || !training.getIndexInputs())
    return;
  Json list = Json::array();
  for (auto input : training.getIndexInputs().getAsRange<IndexInputAttr>()) {
    Json entry = Json::object();
    entry.set("name", input.getName().str());
    entry.set("limit", input.getLimit());
    if (input.getIgnore())
      entry.set("ignore", *input.getIgnore());
    list.push(std::move(entry));
  }
  meta.set("inputs", std::move(list));
}

//===----------------------------------------------------------------------===//
// Tables for weft inspect
//===----------------------------------------------------------------------===//

static Json describeParameter(plan::StateOp state, StringRef name,
                              ArrayRef<int64_t> shape, StringAttr source) {
  Json sizes = Json::array();
  for (int64_t dim : shape)
    sizes.push(dim);
  Json entry = Json::object();
  entry.set("name", name.str());
  entry.set("shape", std::move(sizes));
  entry.set("dtype", getTypeText(state.getBufferType().getElementType()));
  entry.set("trainable", state.getTrainable());
  if (source)
    entry.set("source", source.str());
  return entry;
}

/// With several ranks each parameter is in a bucket of the field `sharding`.
static Json parameterTable(ModuleOp module) {
  const bool hasRanks = dist::findMesh(module) != nullptr;
  Json table = Json::array();
  int64_t bucket = 0;
  for (auto state : module.getOps<plan::StateOp>()) {
    if (state.getKind() != StateKind::Param)
      continue;
    for (const Segment &segment : state.getSegmentList()) {
      Json &entry = table.push(describeParameter(
          state, segment.param.getValue(), segment.shape, segment.source));
      if (!hasRanks)
        continue;
      entry.set("bucket", bucket);
      entry.set("begin", segment.begin);
      entry.set("end", segment.end);
    }
    bucket += state.isSegmented();
    if (!state.isSegmented())
      table.push(describeParameter(state, state.getSymName(),
                                   state.getBufferType().getShape(),
                                   state.getSourceAttr()));
  }
  return table;
}

/// The configuration with the fields that took a default marked.
static Json configTable(ModuleOp module) {
  Json table = Json::array();
  auto config = module->getAttrOfType<DictionaryAttr>("weft.config");
  if (!config)
    return table;
  for (NamedAttribute field : config) {
    auto entry = dyn_cast<DictionaryAttr>(field.getValue());
    if (!entry)
      continue;
    std::string value;
    llvm::raw_string_ostream stream(value);
    if (Attribute attr = entry.get("value"))
      attr.print(stream, /*elideType=*/true);
    Json row = Json::object();
    row.set("field", field.getName().str());
    row.set("value", value);
    row.set("default", entry.contains("default"));
    table.push(std::move(row));
  }
  return table;
}

/// The speeds that --cost-table gave; null without it.
static Json speedsOf(ModuleOp module) {
  auto speeds = module->getAttrOfType<DictionaryAttr>(kSpeedsAttr);
  if (!speeds)
    return Json();
  Json json = Json::object();
  for (NamedAttribute speed : speeds)
    json.set(speed.getName().str(),
             cast<FloatAttr>(speed.getValue()).getValueAsDouble());
  return json;
}

/// The flags for memory that change the program, whether given or chosen by a
/// memory limit. The limit is left out: a program with the chosen flags is the
/// same without it.
static Json memoryFlags(const FlagValues &flags) {
  Json changed = Json::object();
  for (const char *name : {"recompute", "dropout-bits", "loss-chunks",
                           "reshard", "attention", "kv-cache"}) {
    const std::string &text = flags.getText(name);
    if (flags.isSet(name) && text != "auto" &&
        text != findFlagName(name)->defaultText)
      changed.set(name, text);
  }
  return changed;
}

/// The memory report without source locations: an executable contains no paths.
static Json memoryOf(ModuleOp module, const FlagValues &flags,
                     const Target &target) {
  MemoryReport report = reportMemory(module, flags, target);
  report.share = computeShare(module, flags);
  report.peak.location.clear();
  for (MemoryReport::Buffer &buffer : report.largest)
    buffer.location.clear();
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(report.toJson());
  Expected<Json> json = parseJson(text, "memory report");
  if (!json)
    return Json::object();
  if (Json changed = memoryFlags(flags); !changed.asObject().empty())
    json->set("flags", std::move(changed));
  return std::move(*json);
}

namespace {
struct DescribeExecutablePass
    : weft::impl::DescribeExecutablePassBase<DescribeExecutablePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(getBufferAlignment(module)))
      return signalPassFailure();
    Expected<FlagValues> flags = optionsOf(module);
    if (!flags) {
      module.emitError(flags.error().message());
      return signalPassFailure();
    }
    Expected<std::shared_ptr<const Target>> target = findTarget(*flags);
    if (!target) {
      module.emitError(target.error().message());
      return signalPassFailure();
    }
    Json meta = Json::object();
    meta.set("format", 1);
    meta.set("weft", kVersion);
    describeModel(module, meta);
    meta.set("target", flags->getText("target"));
    (*target)->describe(module, meta);
    describeTraining(module, *flags, meta);
    describeInputs(module, meta);
    meta.set("memory", memoryOf(module, *flags, **target));
    if (Json sharding = describeSharding(module, *flags); !sharding.isNull())
      meta.set("sharding", std::move(sharding));
    meta.set("parameters", parameterTable(module));
    meta.set("config_fields", configTable(module));
    FailureOr<Json> schedule = describeSchedule(module);
    FailureOr<Json> overlap =
        failed(schedule) ? FailureOr<Json>(failure()) : describeOverlap(module);
    if (failed(overlap))
      return signalPassFailure();
    meta.set("schedule", std::move(*schedule));
    if (!overlap->isNull())
      meta.set("overlap", std::move(*overlap));
    meta.set("speeds", speedsOf(module));
    if (flags->getSwitch("debug-nan"))
      meta.set("debug_nan", debugTable(module));
    module->setAttr("weft.metadata",
                    StringAttr::get(&getContext(), meta.compact()));
  }
};
} // namespace
