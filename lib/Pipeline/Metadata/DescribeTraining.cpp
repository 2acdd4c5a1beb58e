//===- DescribeTraining.cpp - Training in a program's metadata ------------===//

#include "DescribeTraining.h"

#include "weft/Abi/Names.h"
#include "weft/Analysis/PlanQueries.h"
#include "weft/Dist/Dist.h"
#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Plan/Plan.h"
#include "weft/Support/TomlFile.h"
#include "weft/Weft/Optimizers.h"
#include "weft/Weft/Weft.h"

using namespace mlir;
using namespace weft;

static Json optimizerKinds(ModuleOp module) {
  Json kinds = Json::array();
  for (const OptimizerInfo *optimizer : findOptimizers(module))
    kinds.push(optimizer->name.str());
  return kinds;
}

/// The inputs of apply that some of these optimizers read.
static Json hyperParameters(const Json &kinds) {
  Json numbers = Json::array();
  for (StringRef number : getOptimizerNumbers())
    if (llvm::any_of(kinds.asArray(), [&](const Json &kind) {
          return llvm::is_contained(findOptimizer(kind.asString())->numbers,
                                    number);
        }))
      numbers.push(number.str());
  return numbers;
}

/// The default weight decay of each optimizer. It is the default of the run's
/// flag, or of an additional input if optimizers have different defaults.
static void describeDecays(const Json &kinds, Json &meta) {
  SmallVector<const OptimizerInfo *> used;
  for (const Json &kind : kinds.asArray())
    used.push_back(findOptimizer(kind.asString()));
  Json defaults = Json::object(), decays = Json::object();
  for (const OptimizerInfo *optimizer : used) {
    std::string input = getDecayInput(*optimizer, used);
    if (input != names::kWeightDecay)
      decays.set(input, optimizer->defaultDecay);
    else if (optimizer->defaultDecay != 0)
      defaults.set("weight-decay", optimizer->defaultDecay);
  }
  meta.set("defaults", std::move(defaults));
  meta.set("decays", std::move(decays));
}

/// Flags that the results of a training run depend on. Batch and seq are left
/// out, because the model may decide them. The optimizers and the loss scale
/// are left out, because a checkpoint records them elsewhere. A file is
/// described by its digest.
static Json numericOptions(ModuleOp module, const FlagValues &flags) {
  Json options = Json::object();
  for (const char *name :
       {"target", "precision", "recipe", "grad-dtype", "numerics",
        "master-weights", "working-copies", "nesterov", "clip-norm"})
    if (flags.hasValue(name))
      options.set(name, flags.getText(name));
  for (const char *name : {"epilogues", "tf32", "sync", "reduce-dtype",
                           "gather-dtype", "shard-min"})
    if (flags.isSet(name))
      options.set(name, flags.getText(name));
  // Without such a command the flag changes no bit.
  if (countNondeterministic(module) > 0)
    options.set("deterministic", "off");
  if (const std::string &chunks = flags.getText("loss-chunks");
      chunks != "auto" && chunks != "1")
    options.set("loss-chunks", chunks);
  for (const FlagSpec &spec : compileFlags()) {
    StringRef name = spec.name;
    bool isKnown = name == "scaler-init" || name == "scaler-min";
    if (name.starts_with("scaler-") && !isKnown && flags.hasValue(spec.name))
      options.set(spec.name, flags.getText(spec.name));
  }
  if (auto files = module->getAttrOfType<DictionaryAttr>(kOptionFilesAttr))
    for (NamedAttribute file : files)
      options.set(file.getName().str(),
                  "a file with digest " +
                      cast<StringAttr>(file.getValue()).str().substr(0, 16));
  return options;
}

static void describeMetrics(ArrayAttr metrics, Json &meta) {
  if (!metrics)
    return;
  Json names = Json::array();
  for (auto name : metrics.getAsRange<StringAttr>())
    names.push(name.str());
  meta.set("metrics", std::move(names));
}

/// The update rule of the loss scale, which the commands do not show.
static void describeScaler(ScalerAttr scaler, Json &meta) {
  if (!scaler)
    return;
  const ScalerNumbers &numbers = scaler.getNumbers();
  Json rule = Json::object();
  rule.set("policy", stringifyScalerPolicy(numbers.policy).str());
  rule.set("interval", numbers.interval);
  rule.set("hysteresis", numbers.hysteresis);
  rule.set("consecutive", numbers.consecutive);
  rule.set("growth", numbers.growth);
  rule.set("backoff", numbers.backoff);
  rule.set("minimum", numbers.minimum);
  meta.set("scaler", std::move(rule));
}

/// The number of ranks along each axis of the mesh.
static void describeMesh(ModuleOp module, Json &meta) {
  dist::MeshOp mesh = dist::findMesh(module);
  if (!mesh)
    return;
  Json axes = Json::array();
  for (auto [axis, size] :
       llvm::zip(mesh.getAxes().getAsRange<StringAttr>(), mesh.getSizes())) {
    Json entry = Json::object();
    entry.set("axis", axis.str());
    entry.set("ranks", size);
    axes.push(std::move(entry));
  }
  meta.set("mesh", std::move(axes));
  if (auto ctas = module->getAttrOfType<IntegerAttr>(
          plan::PlanDialect::kCollectiveCtasAttr))
    meta.set("collective_ctas", ctas.getInt());
}

static void describeCounters(DictionaryAttr counters, Json &meta) {
  if (!counters)
    return;
  Json table = Json::object();
  for (NamedAttribute counter : counters) {
    Json params = Json::array();
    for (auto param :
         cast<ArrayAttr>(counter.getValue()).getAsRange<StringAttr>())
      params.push(param.str());
    table.set(counter.getName().str(), std::move(params));
  }
  meta.set("counters", std::move(table));
}

/// A hyper-parameter of a group: a number, or whether a flag is on.
static Json describeNumber(Attribute number) {
  if (auto flag = dyn_cast<BoolAttr>(number))
    return Json(flag.getValue());
  return Json(cast<FloatAttr>(number).getValueAsDouble());
}

static Json describeGroup(DictionaryAttr group) {
  Json entry = Json::object();
  for (const char *text : {"name", "optimizer"})
    entry.set(text, group.getAs<StringAttr>(text).str());
  for (const char *factor : {"lr_scale", "decay_scale"})
    entry.set(factor, group.getAs<FloatAttr>(factor).getValueAsDouble());
  Json numbers = Json::object(), params = Json::array();
  if (auto own = group.getAs<DictionaryAttr>("numbers"))
    for (NamedAttribute number : own)
      numbers.set(number.getName().str(), describeNumber(number.getValue()));
  for (auto param : group.getAs<ArrayAttr>("params").getAsRange<StringAttr>())
    params.push(param.str());
  entry.set("numbers", std::move(numbers));
  entry.set("params", std::move(params));
  return entry;
}

/// Groups of parameters that are updated alike.
static Json describeGroups(ModuleOp module) {
  Json list = Json::array();
  if (auto groups = module->getAttrOfType<ArrayAttr>(kUpdateGroupsAttr))
    for (auto group : groups.getAsRange<DictionaryAttr>())
      list.push(describeGroup(group));
  return list;
}

void weft::describeTraining(ModuleOp module, const FlagValues &flags,
                            Json &meta) {
  meta.set("precision", flags.getText("precision"));
  if (flags.getText("precision") != "f32")
    meta.set("recipe", flags.getText("recipe"));
  meta.set("accumulation", flags.getText("accumulation") == "on");
  const std::string &norm = flags.getText("clip-norm");
  if (norm == "inf")
    meta.set("clip_norm", norm);
  else
    meta.set("clip_norm", int64_t(norm[0] - '0'));
  Json kinds = optimizerKinds(module);
  meta.set("hyper_parameters", hyperParameters(kinds));
  meta.set("optimizers", kinds);
  describeDecays(kinds, meta);
  meta.set("update_groups", describeGroups(module));
  if (auto training =
          module->getAttrOfType<TrainingAttr>(WeftDialect::kTrainingAttr)) {
    describeCounters(training.getCounters(), meta);
    describeScaler(training.getScaler(), meta);
    describeMetrics(training.getMetrics(), meta);
  }
  describeMesh(module, meta);
  meta.set("options", numericOptions(module, flags));
}
