//===- MemoryFit.cpp - Flags that make a program fit ----------------------===//

#include "weft/Pipeline/Driver/MemoryFit.h"

#include "weft/Analysis/Timeline.h"
#include "weft/Autodiff/RecomputeChoices.h"
#include "weft/Autodiff/StoreDropoutBits.h"
#include "weft/Base/Text.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Pipeline/Targets/Target.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <tuple>

using namespace mlir;
using namespace weft;

/// Number of steps of increasing recomputation. A binary search over them needs
/// five trials.
static constexpr int64_t kSteps = 31;

/// Numbers of chunks of the loss that --loss-chunks=auto tries, in order.
static constexpr int kChunks[] = {2, 4, 8, 16, 32};

/// A trial does not search for flags itself.
static FlagValues withoutBound(const FlagValues &flags) {
  return flags.without("memory-limit").without("device");
}

MemoryFit::MemoryFit(Compiler &compiler, FlagValues given)
    : compiler(compiler), flags(std::move(given)),
      mayDraw(isFree("dropout-bits") && !flags.getSwitch("inference") &&
              storesDropoutBits(flags, compiler.target()) &&
              drawsInAttention(compiler.module())) {
  firsts.push_back({});
  if (mayKeepGathered())
    firsts.push_back({{"reshard", "off"}});
  if (mayRecompute())
    rules = {{{"recompute", "blocks"}}, {{"recompute", "every:2"}}};
}

/// Finds the values that may be recomputed. It runs on demand, since it costs
/// as much as a trial.
Status MemoryFit::prepareSteps() {
  steps.clear();
  if (!mayRecompute())
    return Status::success();
  if (Status status = compiler.goBack(Phase::DerivePrograms,
                                      Compiler::forTrials(withoutBound(flags)));
      !status)
    return status;
  if (storesDropoutBits(withChange(base), compiler.target()))
    storeDropoutBits(compiler.module());
  std::optional<RecomputeChoices> choices = findRecomputeChoices(
      compiler.module(), compiler.target().hasGeluOfProducts(flags));
  if (!choices)
    return Status::success();
  int64_t all = 0;
  for (const RecomputeChoice &choice : choices->inOrder)
    all += choice.bytes;
  size_t last = 0;
  for (int64_t i = 1; i <= kSteps; ++i) {
    const size_t count = choices->countFor(all / kSteps * i + all % kSteps);
    if (count == last)
      continue;
    last = count;
    int64_t bytes = 0;
    for (const RecomputeChoice &choice :
         ArrayRef(choices->inOrder).take_front(count))
      bytes += choice.bytes;
    steps.push_back({{"recompute", "bytes:" + std::to_string(bytes)}});
  }
  return Status::success();
}

/// ZeRO-3 drops gathered parameters after the forward pass. --reshard=off keeps
/// them for the backward pass.
bool MemoryFit::mayKeepGathered() const {
  return flags.isSet("mesh") && flags.getInt("zero") == 3 &&
         isFree("reshard") && !flags.getSwitch("inference");
}

/// The last trial has planned attention for cuDNN, which needs larger
/// workspaces than own kernels. --deterministic=off expects cuDNN.
bool MemoryFit::mayForgoCudnn() const {
  return isFree("attention") && flags.getText("deterministic") == "on" &&
         compiler.target().hasOptionalLibrary(compiler.module());
}

FlagValues MemoryFit::withChange(const Change &change) const {
  FlagValues result = flags;
  for (const auto &[name, text] : change)
    result = result.with(name, text);
  return result;
}

static std::string
toText(const std::vector<std::pair<std::string, std::string>> &change) {
  std::string text;
  for (const auto &[name, value] : change)
    text += (text.empty() ? "--" : " --") + name + "=" + value;
  return text;
}

Expected<const MemoryTrial *> MemoryFit::tryChange(const Change &given) {
  Change change = given;
  change.insert(change.end(), base.begin(), base.end());
  const std::string text = toText(change);
  for (const MemoryTrial &trial : trials)
    if (trial.change == text)
      return &trial;
  FlagValues changed = withChange(change);
  if (Status status = compiler.tryFlags(withoutBound(changed)); !status)
    return status.takeError();
  FailureOr<StepEstimate> step = estimateStep(compiler.module());
  if (failed(step))
    return compiler.takeError("the timeline");
  MemoryReport report =
      reportMemory(compiler.module(), changed, compiler.target());
  trials.push_back({std::move(changed), text, std::move(report), step->us});
  return &trials.back();
}

Status MemoryFit::tryAll(ArrayRef<Change> changes) {
  for (const Change &change : changes)
    if (auto trial = tryChange(change); !trial)
      return trial.takeError();
  return Status::success();
}

const MemoryTrial *MemoryFit::findFastest(int64_t limit) const {
  const MemoryTrial *best = nullptr;
  for (const MemoryTrial &trial : trials)
    if (trial.getBytes() <= limit &&
        (!best || std::make_pair(trial.stepUs, trial.getBytes()) <
                      std::make_pair(best->stepUs, best->getBytes())))
      best = &trial;
  return best;
}

const MemoryTrial *MemoryFit::findSmallest() const {
  const MemoryTrial *best = &trials.front();
  for (const MemoryTrial &trial : trials)
    if (std::make_pair(trial.getBytes(), trial.stepUs) <
        std::make_pair(best->getBytes(), best->stepUs))
      best = &trial;
  return best;
}

/// Binary search for the first step that fits. It assumes that each step needs
/// less memory than the one before.
Status MemoryFit::searchSteps(int64_t limit) {
  if (Status status = prepareSteps(); !status)
    return status;
  bool found = false;
  for (size_t begin = 0, end = steps.size(); begin < end;) {
    const size_t middle = begin + (end - begin) / 2;
    auto trial = tryChange(steps[middle]);
    if (!trial)
      return trial.takeError();
    const bool fits = (*trial)->getBytes() <= limit;
    found |= fits;
    (fits ? end : begin) = fits ? middle : middle + 1;
  }
  // Memory decreases with most steps but not with all, so the search can miss a
  // step that fits.
  return found ? Status::success() : tryAll(steps);
}

/// Tries more and more chunks of the loss until one fits. If none does, all
/// further changes have the number with the least memory too. A model whose
/// loss has no chunks stays as it is.
void MemoryFit::tryChunks(int64_t limit) {
  if (flags.getText("loss-chunks") != "auto")
    return;
  int64_t least = findSmallest()->getBytes();
  Change smallest;
  for (int chunks : kChunks) {
    const Change change = {{"loss-chunks", std::to_string(chunks)}};
    auto trial = tryChange(change);
    if (!trial)
      break;
    if ((*trial)->getBytes() <= limit)
      return;
    if ((*trial)->getBytes() < least) {
      least = (*trial)->getBytes();
      smallest = change;
    }
  }
  llvm::append_range(base, smallest);
}

/// Tries the programs without recomputation, first without chunks of the loss.
Status MemoryFit::tryFirsts(int64_t limit) {
  llvm::erase_if(base,
                 [](const auto &flag) { return flag.first == "loss-chunks"; });
  if (Status status = tryAll(firsts); !status)
    return status;
  if (!findFastest(limit))
    tryChunks(limit);
  return Status::success();
}

/// Blocks first. Single values follow unless a program without recomputation
/// fits.
Status MemoryFit::tryRecomputation(int64_t limit) {
  const bool fits = findFastest(limit);
  if (Status status = tryAll(rules); !status || fits)
    return status;
  return searchSteps(limit);
}

Expected<FlagValues> MemoryFit::choose(const MemoryBound &bound) {
  if (Status status = tryFirsts(bound.bytes); !status)
    return status.takeError();
  // Own kernels are slower, but recomputation costs more.
  if (!findFastest(bound.bytes) && mayForgoCudnn()) {
    base = {{"attention", "own"}};
    if (Status status = tryFirsts(bound.bytes); !status)
      return status.takeError();
  }
  const MemoryTrial *kept = findFastest(bound.bytes);
  // With ranks, recomputation may overlap with a collective and so be faster.
  if (kept && !flags.isSet("mesh"))
    return kept->flags;
  if (Status status = tryRecomputation(bound.bytes); !status)
    return status.takeError();
  // Random numbers cost more than values that are cheap to recompute, and less
  // than others.
  if (!kept && mayDraw) {
    const Change draw = {{"dropout-bits", "draw"}};
    if (auto trial = tryChange(draw); !trial)
      return trial.takeError();
    if (!findFastest(bound.bytes)) {
      llvm::append_range(base, draw);
      if (Status status = tryRecomputation(bound.bytes); !status)
        return status.takeError();
    }
  }
  if (const MemoryTrial *best = findFastest(bound.bytes))
    return best->flags;
  return refuse(bound);
}

/// Draws dropout again beside recomputation. choose() does so only where no
/// other program fits, so only programs that are smaller than all others count.
Status MemoryFit::tryDrawnRecomputation() {
  const int64_t least = findSmallest()->getBytes();
  base = {{"dropout-bits", "draw"}};
  if (Status status = prepareSteps(); !status)
    return status;
  if (Status status = tryAll(rules); !status)
    return status;
  for (const Change &step : llvm::reverse(steps)) {
    auto trial = tryChange(step);
    if (!trial)
      return trial.takeError();
    if ((*trial)->getBytes() >= least)
      break;
  }
  base.clear();
  return Status::success();
}

Expected<std::vector<MemoryTrial>> MemoryFit::getCurve() {
  if (Status status = prepareSteps(); !status)
    return status.takeError();
  if (Status status = tryAll(firsts); !status)
    return status.takeError();
  if (mayDraw)
    if (auto trial = tryChange({{"dropout-bits", "draw"}}); !trial)
      return trial.takeError();
  for (ArrayRef<Change> changes : {ArrayRef(rules), ArrayRef(steps)})
    if (Status status = tryAll(changes); !status)
      return status.takeError();
  if (mayDraw)
    if (Status status = tryDrawnRecomputation(); !status)
      return status.takeError();
  tryChunks(/*limit=*/0);
  std::vector<std::tuple<int64_t, double, size_t>> order;
  for (const auto &[number, trial] : llvm::enumerate(trials))
    order.emplace_back(trial.getBytes(), trial.stepUs, number);
  llvm::sort(order);
  std::vector<MemoryTrial> curve;
  for (const auto &[bytes, us, number] : order)
    if (curve.empty() || us < curve.back().stepUs)
      curve.push_back(trials[number]);
  std::reverse(curve.begin(), curve.end());
  return curve;
}

//===----------------------------------------------------------------------===//
// Nothing fits
//===----------------------------------------------------------------------===//

/// Lists the bytes that single flags would save, including flags that the user
/// gave.
std::string MemoryFit::describeKnobs(const MemoryTrial &given) {
  std::vector<Change> knobs;
  if (!flags.getSwitch("inference"))
    knobs.push_back({{"recompute", "blocks"}});
  if (mayDraw)
    knobs.push_back({{"dropout-bits", "draw"}});
  if (const std::string &chunks = flags.getText("loss-chunks");
      chunks == "1" || chunks == "auto")
    knobs.push_back({{"loss-chunks", "8"}});
  if (flags.getText("deterministic") == "off" && isFree("attention"))
    knobs.push_back({{"attention", "own"}, {"deterministic", "on"}});
  if (flags.isSet("mesh")) {
    if (flags.getText("reshard") == "off")
      knobs.push_back({{"reshard", "on"}});
    if (flags.getInt("prefetch") > 0)
      knobs.push_back({{"prefetch", "0"}});
    for (int64_t zero = flags.getInt("zero") + 1; zero <= 3; ++zero)
      knobs.push_back({{"zero", std::to_string(zero)}});
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  const int64_t bytes = given.getBytes();
  for (const Change &knob : knobs)
    // A flag that conflicts with the others saves nothing.
    if (auto trial = tryChange(knob); trial && (*trial)->getBytes() < bytes)
      os << "  " << llvm::left_justify(toText(knob) + " ", 24)
         << exactBytes(bytes - (*trial)->getBytes()) << '\n';
  return text;
}

Error MemoryFit::refuse(const MemoryBound &bound) {
  const MemoryTrial smallest = *findSmallest();
  base.clear();
  auto given = tryChange({});
  if (!given)
    return given.takeError();
  const int64_t bytes = (*given)->getBytes();
  const std::string knobs = describeKnobs(**given);
  std::string text = "needs " + exactBytes(smallest.getBytes());
  text += ", but " + bound.text + "\n";
  if (!smallest.change.empty())
    text += "with " + smallest.change + "; " + exactBytes(bytes) + " without\n";
  text += smallest.report.toText();
  if (!knobs.empty())
    text += "savings of single flags, of " + exactBytes(bytes) + ":\n" + knobs;
  return Error(ExitCode::DoesNotFit, text)
      .hint("the smallest limit that works is " +
            std::to_string(smallest.getBytes()) +
            "; a smaller --batch or --seq needs less");
}
