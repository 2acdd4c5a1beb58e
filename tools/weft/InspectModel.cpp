//===- InspectModel.cpp - Layouts that a model can be compiled to ---------===//

#include "CommandHelp.h"
#include "InspectViews.h"

#include "MemoryLines.h"
#include "MlirFlags.h"
#include "ViewTable.h"

#include "weft/Autodiff/Passes.h"
#include "weft/Autodiff/RecomputeChoices.h"
#include "weft/Autodiff/StoreDropoutBits.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Pipeline/Driver/Compiler.h"
#include "weft/Pipeline/Driver/MemoryFit.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Pipeline/Targets/Target.h"
#include "weft/Support/TypeText.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdio>
#include <tuple>

using namespace mlir;
using namespace weft;

static std::vector<FlagSpec> modelViews() {
  return {{"activations", FlagKind::Switch, DriverFlag, "", "",
           "for a MODEL, with the flags of weft compile: forward values that "
           "the backward pass reads: kept, recomputed, or in chunks"},
          {"tradeoff", FlagKind::Switch, DriverFlag, "", "",
           "for a MODEL, with the flags of weft compile: estimated step time "
           "for each memory limit"}};
}

/// One with a mistake in its name too, so that the error knows the right one.
bool weft::asksAboutModel(const Arguments &args) {
  const FlagTable views(modelViews());
  for (const std::string &arg : args) {
    if (arg == "--")
      return false;
    if (arg.rfind("--", 0) != 0)
      continue;
    const std::string name = arg.substr(2, arg.find('=') - 2);
    if (views.find(name) || !views.nearest(name, AllFlags).empty())
      return true;
  }
  return false;
}

FlagTable weft::modelViewFlags() { return FlagTable(modelViews()); }

//===----------------------------------------------------------------------===//
// --activations
//===----------------------------------------------------------------------===//

/// "h.*.attn" of "h.3.attn".
static std::string foldNumbers(llvm::StringRef scope) {
  std::string result;
  for (llvm::StringRef rest = scope; !rest.empty();) {
    auto [word, others] = rest.split('.');
    const bool isNumber =
        word.find_first_not_of("0123456789") == llvm::StringRef::npos;
    result += (result.empty() ? "" : ".") +
              (isNumber ? std::string("*") : word.str());
    rest = others;
  }
  return result;
}

namespace {
/// Equal values of layers that differ in their numbers alone.
struct ActivationRow {
  std::string policy, op, type, scope;
  bool isFree = false; // kept or computed again, as one likes
  int64_t count = 0, bytes = 0;
  double us = 0;

  auto getKey() const { return std::tie(scope, op, type, policy, isFree); }
};
} // namespace

static std::string getTypes(Operation *op) {
  std::string text;
  for (Type type : op->getResultTypes())
    text += (text.empty() ? "" : ", ") + getTypeText(type);
  return text;
}

/// The loss that reads the op's result as logits, perhaps behind casts, or the
/// op itself; null if it belongs to no loss in chunks.
static CrossEntropyOp findLoss(Operation *op) {
  if (auto loss = dyn_cast<CrossEntropyOp>(op))
    return loss;
  for (Operation *user : op->getUsers()) {
    auto loss = dyn_cast<CrossEntropyOp>(user);
    if (loss && loss.getLogits().getDefiningOp() == op)
      return loss;
    if (isa<CastOp>(user))
      if (CrossEntropyOp behind = findLoss(user))
        return behind;
  }
  return {};
}

/// The bytes of the largest of `chunks` chunks of the loss's rows.
static int64_t getChunkBytes(CrossEntropyOp loss, int64_t bytes,
                             int64_t chunks) {
  const int64_t rows =
      cast<ShapedType>(loss.getTargets().getType()).getNumElements();
  return bytes / rows * llvm::divideCeil(rows, chunks);
}

namespace {
/// Whether the saved values can be recomputed, and the chunks of losses.
struct RowFacts {
  bool isFree = false;
  int64_t lossChunks = 1;
};
} // namespace

static void add(std::vector<ActivationRow> &rows, const RecomputeChoice &choice,
                RowFacts facts) {
  ActivationRow row;
  const CrossEntropyOp loss =
      facts.lossChunks > 1 ? findLoss(choice.op) : CrossEntropyOp();
  const bool isFree = facts.isFree && !loss;
  row.policy = loss                         ? "chunked"
               : isComputedAgain(choice.op) ? "recompute"
                                            : "kept";
  row.op = choice.op->getName().stripDialect().str();
  row.type = getTypes(choice.op);
  row.scope = foldNumbers(getScope(choice.op));
  row.isFree = isFree;
  auto found = llvm::find_if(rows, [&](const ActivationRow &other) {
    return other.getKey() == row.getKey();
  });
  if (found == rows.end())
    found = rows.insert(rows.end(), row);
  ++found->count;
  found->bytes +=
      loss ? getChunkBytes(loss, choice.bytes, facts.lossChunks) : choice.bytes;
  found->us += choice.us;
}

/// Largest first. `choices` were found before phase mark-recompute, which has
/// run since.
static std::vector<ActivationRow>
describeActivations(const RecomputeChoices &choices, int64_t lossChunks) {
  std::vector<ActivationRow> rows;
  for (const RecomputeChoice &choice : choices.kept)
    add(rows, choice, {/*isFree=*/false, lossChunks});
  for (const RecomputeChoice &choice : choices.marked)
    add(rows, choice, {/*isFree=*/false, lossChunks});
  for (const RecomputeChoice &choice : choices.inOrder)
    add(rows, choice, {/*isFree=*/true, lossChunks});
  llvm::sort(rows, [](const ActivationRow &a, const ActivationRow &b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.getKey() < b.getKey();
  });
  return rows;
}

static Json toJson(const std::vector<ActivationRow> &rows) {
  Json list = Json::array();
  for (const ActivationRow &row : rows) {
    Json each = Json::object();
    each.set("policy", row.policy);
    each.set("count", row.count);
    each.set("bytes", row.bytes);
    if (row.isFree)
      each.set("recompute_us", row.us);
    each.set("op", row.op);
    each.set("type", row.type);
    each.set("scope", row.scope);
    list.push(std::move(each));
  }
  return list;
}

//===----------------------------------------------------------------------===//
// --tradeoff
//===----------------------------------------------------------------------===//

static Json toJson(const std::vector<MemoryTrial> &curve) {
  Json list = Json::array();
  for (const MemoryTrial &trial : curve) {
    Json each = Json::object();
    each.set("limit", trial.getBytes());
    each.set("step_us", trial.stepUs);
    each.set("flags", trial.change);
    list.push(std::move(each));
  }
  return list;
}

//===----------------------------------------------------------------------===//
// Views that need a compiled program
//===----------------------------------------------------------------------===//

static constexpr const char *kActivationLayout =
    "{policy=policy:-10} {count=count:5} {bytes=bytes:12B} "
    "{again us=recompute_us:10.1?}  {op=op:-16} {scope=scope:-24} {type=type}";
static constexpr const char *kTradeoffLayout =
    "{limit=limit:14} {=limit:12B} {estimated step=step_us:14.2M}  "
    "{flags=flags}";

/// The rows of one view, as text or as JSON under the view's name.
static void show(const char *view, const char *layout, Json rows, bool isJson) {
  if (!isJson)
    return printTable(layout, rows);
  Json result = Json::object();
  result.set(view, std::move(rows));
  printText(result.pretty());
}

/// The chunks of losses; `auto` is one chunk, unless a limit has chosen more.
static int64_t getLossChunks(const FlagValues &flags) {
  const std::string &chunks = flags.getText("loss-chunks");
  return chunks == "auto" ? 1 : std::stoll(chunks);
}

/// Runs the phases up to derive-programs. With a memory limit the flags are
/// first made such that the program fits. Chunks of losses run once, since the
/// model may not have any.
static Status deriveForView(Compiler &compiler) {
  const bool isBounded = compiler.flags().isSet("memory-limit") ||
                         compiler.flags().isSet("device");
  const Phase last = isBounded ? Phase::PlanMemory
                     : getLossChunks(compiler.flags()) > 1
                         ? Phase::SelectKernels
                         : Phase::DerivePrograms;
  const FlagValues given = compiler.flags();
  if (Status status = runWithinMemory(compiler, compiler.phases().find(last));
      !status || last == Phase::DerivePrograms)
    return status;
  std::fputs(fitLines(compiler, given).c_str(), stderr);
  return compiler.goBack(Phase::DerivePrograms, compiler.flags());
}

static Status printActivations(Compiler &compiler, bool isJson) {
  if (Status status = deriveForView(compiler); !status)
    return status;
  if (storesDropoutBits(compiler.flags(), compiler.target()))
    storeDropoutBits(compiler.module());
  const std::optional<RecomputeChoices> choices = findRecomputeChoices(
      compiler.module(), compiler.target().hasGeluOfProducts(compiler.flags()));
  // Without gradients there are none: the phase that builds them says why.
  const Phase last = choices ? Phase::MarkRecompute : Phase::Autodiff;
  if (Status run = compiler.run(compiler.phases().find(last)); !run)
    return run;
  const std::vector<ActivationRow> rows = describeActivations(
      choices.value_or(RecomputeChoices()), getLossChunks(compiler.flags()));
  show("activations", kActivationLayout, toJson(rows), isJson);
  return Status::success();
}

static Status printTradeoff(Compiler &compiler, bool isJson) {
  if (Status status =
          compiler.run(compiler.phases().find(Phase::DerivePrograms));
      !status)
    return status;
  auto curve = MemoryFit(compiler, compiler.flags()).getCurve();
  if (!curve)
    return curve.takeError();
  show("tradeoff", kTradeoffLayout, toJson(*curve), isJson);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static Expected<FlagValues> parseFlags(const Arguments &args) {
  FlagTable table = compilerFlagTable();
  table.add(modelViews());
  table.add({{"json", FlagKind::Switch, DriverFlag, "", "", "as JSON"},
             helpFlag(DriverFlag)});
  Expected<FlagValues> flags = parseModelFlags(table, "weft inspect", args);
  if (!flags || flags->getSwitch("help"))
    return flags;
  if (flags->positionals().empty())
    return usageError("expects a MODEL").hint("weft inspect --help");
  const bool isTradeoff = flags->getSwitch("tradeoff");
  if (flags->getSwitch("activations") == isTradeoff)
    return usageError(
        std::string("expects --activations or --tradeoff, but got ") +
        (isTradeoff ? "both" : "neither"));
  for (const char *flag : {"from", "to", "emit", "output", "dump-dir",
                           "reproducer", "print-pipeline"})
    if (flags->isSet(flag))
      return usageError("expects a view of a model without --" +
                        std::string(flag) + ", but got both")
          .hint("that is a flag of weft compile, which writes files");
  for (const char *flag : {"memory-limit", "device"})
    if (isTradeoff && flags->isSet(flag))
      return usageError("expects --tradeoff without --" + std::string(flag) +
                        ": it shows every limit");
  if (flags->getSwitch("inference"))
    return usageError(std::string("expects ") +
                      (isTradeoff ? "--tradeoff" : "--activations") +
                      " without --inference, but got both")
        .hint("it describes the memory of training; weft inspect PROGRAM "
              "--memory has the memory of a program without it");
  return flags;
}

Expected<ExitCode> weft::inspectModel(const Arguments &args) {
  Expected<FlagValues> flags = parseFlags(args);
  if (!flags)
    return flags.takeError();
  if (flags->getSwitch("help")) {
    printCommandHelp({{"weft inspect MODEL --activations|--tradeoff [--json] "
                       "[COMPILE FLAGS]"},
                      {}},
                     {modelViewFlags()});
    return ExitCode::Ok;
  }
  if (Status status = applyMlirFlags(flags->passThrough()); !status)
    return status.takeError();
  Compiler compiler;
  compiler.keepSnapshots();
  if (Status status = compiler.load(flags->positionals().front(), *flags);
      !status)
    return status.takeError();
  const bool isJson = flags->getSwitch("json");
  Status status = flags->getSwitch("tradeoff")
                      ? printTradeoff(compiler, isJson)
                      : printActivations(compiler, isJson);
  if (!status)
    return status.takeError();
  return ExitCode::Ok;
}
