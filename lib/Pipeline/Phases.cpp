//===- Phases.cpp - The phase table ---------------------------------------===//

#include "weft/Pipeline/Phases.h"

#include "weft/Lowering/Cpu/Cpu.h"
#include "weft/Pipeline/CompileFlags.h"

#include "llvm/ADT/StringExtras.h"

using namespace weft;

//===----------------------------------------------------------------------===//
// Passes of each phase
//===----------------------------------------------------------------------===//

static std::string identity(const FlagValues &) { return ""; }
/// A path as the value of a pass option: quoted, it may hold blanks and commas.
static std::string quotedPath(const FlagValues &flags, const char *flag) {
  const std::string &path = flags.getText(flag);
  char quote = path.find('\'') == std::string::npos ? '\'' : '"';
  return quote + path + quote;
}
static std::string tieParams(const FlagValues &) { return "weft-tie-params"; }
static std::string inferShapes(const FlagValues &flags) {
  std::string text = "weft-infer-shapes";
  if (flags.isSet("groups"))
    text += ",weft-apply-groups{groups=" + quotedPath(flags, "groups") + "}";
  return text;
}
/// Runs in f32 as well: it resolves autocast regions and dtypes.
static std::string autocast(const FlagValues &flags) {
  const std::string &precision = flags.getText("precision");
  if (precision == "f32")
    return "weft-autocast";
  std::string text =
      "weft-autocast{dtype=" + precision + " recipe=" + flags.getText("recipe");
  if (flags.isSet("autocast-lists"))
    text += " overrides=" + quotedPath(flags, "autocast-lists");
  if (flags.getText("explain") == "precision")
    text += " table=true";
  return text + "}";
}
static std::string derivePrograms(const FlagValues &) {
  return "weft-derive-programs";
}
static std::string autodiff(const FlagValues &flags) {
  std::string text = "weft-autodiff", options;
  if (flags.getText("grad-dtype") == "torch")
    options += " grad-dtype=torch";
  if (flags.getText("accumulation") == "off")
    options += " accumulation=off";
  if (!options.empty())
    text += "{" + options.substr(1) + "}";
  return text + ",weft.program(canonicalize{region-simplify=disabled},cse)";
}
static std::string lossScale(const FlagValues &flags) {
  std::string mode = lossScaleMode(flags);
  if (mode == "none")
    return "";
  std::string text = "weft-loss-scale{mode=" + mode;
  std::vector<std::string> words = scalerWords(flags);
  if (flags.isSet("scaler") || words.size() > 1)
    text += " scaler=" + llvm::join(words, ",");
  return text + "}";
}
static std::string expandOptimizer(const FlagValues &flags) {
  std::string text =
      "weft-expand-optimizer{optimizer=" + flags.getText("optimizer") +
      " clip-norm=" + flags.getText("clip-norm");
  if (flags.getSwitch("nesterov"))
    text += " nesterov=true";
  return text + "}";
}
/// Runs in f32 as well: a region of the model may ask for a low type.
static std::string workingCopies(const FlagValues &flags) {
  std::string text = "weft-working-copies", options;
  if (flags.getText("working-copies") == "off")
    options += " persistent=false";
  if (flags.getText("master-weights") == "off")
    options += " master=false";
  return options.empty() ? text : text + "{" + options.substr(1) + "}";
}
/// The option of a pass that `--explain=what` turns on; nothing otherwise.
static std::string explain(const FlagValues &flags, llvm::StringRef what) {
  return flags.getText("explain") == what ? "{explain=true}" : "";
}
static std::string fuse(const FlagValues &flags) {
  // A kernel of its own for each op: the first bad value then names the op.
  if (flags.getSwitch("debug-nan"))
    return "weft-fold-casts,weft-fuse{apart=true}";
  return "weft-fold-casts,weft-fuse" + explain(flags, "fusion");
}
static std::string selectKernels(const FlagValues &) {
  return "weft-select-kernels";
}
static std::string lowerToPlan(const FlagValues &) {
  return "weft-lower-to-plan";
}
static std::string estimate(const FlagValues &flags) {
  if (flags.isSet("cost-table"))
    return "weft-estimate{cost-table=" + quotedPath(flags, "cost-table") + "}";
  return "weft-estimate";
}
static std::string planMemory(const FlagValues &flags) {
  std::string threads;
  if (flags.isSet("threads-max"))
    threads = "{threads=" + flags.getText("threads-max") + "}";
  return "weft-measure-scratch" + threads + ",weft-plan-memory";
}
static std::string verifyPlan(const FlagValues &) { return "weft-verify-plan"; }
static std::string lowerToCpu(const FlagValues &flags) {
  Expected<CpuTarget> target = cpuTargetOf(flags);
  std::string text = "weft-describe-executable,weft-convert-kernels-to-linalg";
  text += flags.getText("numerics") == "fast" ? "{fast=true}" : "";
  text += ",weft-lower-to-cpu";
  return target && !target->hasFma() ? text + "{fma=false}" : text;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

llvm::ArrayRef<Phase> weft::phases() {
  static const Phase table[] = {
      {"import", "the model as weft ops; every op has a location", Level::Graph,
       identity},
      {"verify", "exactly one model program with a scalar loss", Level::Graph,
       identity},
      {"tie-params", "no parameter is tied: uses read the one it was tied to",
       Level::Graph, tieParams},
      {"infer-shapes", "every shape is static; parameter groups are applied",
       Level::Graph, inferShapes},
      {"autocast",
       "casts as the precision asks (f32: none); no autocast region is left",
       Level::Graph, autocast},
      {"derive-programs", "micro, eval, init (and logits) replace the model",
       Level::Graph, derivePrograms},
      {"mark-recompute", "what the backward pass computes again is marked",
       Level::Graph, identity},
      {"autodiff",
       "micro adds the gradient of each trainable parameter to its "
       "gradient state",
       Level::Graph, autodiff},
      {"loss-scale", "the loss gradient carries the scale, if there is one",
       Level::Graph, lossScale},
      {"expand-optimizer",
       "apply checks, clips and updates; optimizer state "
       "exists",
       Level::Graph, expandOptimizer},
      {"working-copies", "low-precision copies of weights (f32: none)",
       Level::Graph, workingCopies},
      {"shard", "layouts of parameters and state (one rank: whole)",
       Level::Dist, identity},
      {"bucket", "tensors that travel together (one rank: none)", Level::Dist,
       identity},
      {"partition", "collectives are explicit (one rank: none)", Level::Dist,
       identity},
      {"fuse", "elementwise, reduction and shape chains are outlined kernels",
       Level::Dist, fuse},
      {"select-kernels", "every op names its implementation", Level::Dist,
       selectKernels},
      {"lower-to-plan", "programs are straight lines of commands on buffers",
       Level::Plan, lowerToPlan},
      {"estimate", "every command has an estimated time", Level::Plan,
       estimate},
      {"split-async", "collectives are start and wait (one rank: none)",
       Level::Plan, identity},
      {"schedule", "order of collectives and copies (one rank: as is)",
       Level::Plan, identity},
      {"assign-streams", "stream of each command (cpu: one)", Level::Plan,
       identity},
      {"plan-memory", "every buffer has its offset in one arena", Level::Plan,
       planMemory},
      {"verify-plan", "buffers that live at once share no byte", Level::Plan,
       verifyPlan},
      {"lower-to-cpu", "kernels are LLVM functions over a range", Level::Llvm,
       lowerToCpu},
      {"emit", "an object file linked with the runtime", Level::Output,
       identity},
  };
  return table;
}

int weft::findPhase(llvm::StringRef name) {
  llvm::ArrayRef<Phase> all = phases();
  for (size_t i = 0; i < all.size(); ++i)
    if (name == all[i].name)
      return static_cast<int>(i);
  return -1;
}

std::string weft::pipelineText(const FlagValues &flags, int from, int to) {
  std::string passes;
  for (int i = from + 1; i <= to; ++i) {
    std::string text = phases()[i].pipeline(flags);
    if (text.empty())
      continue;
    if (!passes.empty())
      passes += ",";
    passes += text;
  }
  return "builtin.module(" + passes + ")";
}

std::string weft::phasesMarkdown() {
  std::string text = "| phase | what holds after it |\n|---|---|\n";
  for (const Phase &phase : phases())
    text += std::string("| `") + phase.name + "` | " + phase.contract + " |\n";
  return text;
}

std::string weft::dumpFileName(int index) {
  char number[16];
  std::snprintf(number, sizeof number, "%02d-", index);
  return std::string(number) + phases()[index].name + ".mlir";
}
