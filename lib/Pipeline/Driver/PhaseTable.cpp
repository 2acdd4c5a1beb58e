//===- PhaseTable.cpp - The phases of a target in order -------------------===//

#include "weft/Pipeline/Driver/PhaseTable.h"

#include "weft/Pipeline/Driver/Plugins.h"
#include "weft/Pipeline/Metadata/Passes.h"
#include "weft/Pipeline/Targets/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// The pipelines of --add-pass
//===----------------------------------------------------------------------===//

/// Whether "PHASE:" begins `text`.
static bool beginsEntry(StringRef text) {
  StringRef name = text.take_while(
      [](char c) { return llvm::isAlnum(c) || c == '-' || c == '_'; });
  return !name.empty() && text.drop_front(name.size()).starts_with(":");
}

/// The text of a repeated flag joins its values by commas, and pipelines hold
/// commas too. An entry ends at a comma outside of brackets that a phase and a
/// colon follow.
static SmallVector<StringRef> splitEntries(StringRef text) {
  SmallVector<StringRef> entries;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += StringRef("({[").contains(text[i]);
    depth -= StringRef(")}]").contains(text[i]);
    if (text[i] != ',' || depth > 0 || !beginsEntry(text.drop_front(i + 1)))
      continue;
    entries.push_back(text.slice(begin, i));
    begin = i + 1;
  }
  if (begin < text.size())
    entries.push_back(text.drop_front(begin));
  return entries;
}

static Expected<int> findPhase(const PhaseTable &phases, StringRef name,
                               const FlagValues &flags) {
  if (int index = phases.find(name); index >= 0)
    return index;
  std::vector<std::string> names;
  for (int i = 0; i < phases.size(); ++i)
    names.push_back(phases[i].name);
  return usageError("expects --add-pass=PHASE:PIPELINE with a phase of "
                    "--target=" +
                    flags.getText("target") + ", but got " +
                    inQuotes(name.str()))
      .hint("the phases are " + llvm::join(names, ", "));
}

/// The first message of the parser without its position.
static std::string getMessage(StringRef problem) {
  auto [position, message] = problem.split("error: ");
  return (message.empty() ? problem : message).split('\n').first.str();
}

static Status checkPipeline(const std::string &pipeline) {
  OpPassManager passes(ModuleOp::getOperationName());
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (succeeded(parsePassPipeline(pipeline, passes, stream)) && !passes.empty())
    return Status::success();
  const std::string message = getMessage(problem);
  const bool isUnknown =
      message.empty() ||
      StringRef(message).contains("does not refer to a registered pass");
  return usageError("expects --add-pass=PHASE:PIPELINE with passes, but got " +
                    inQuotes(pipeline) +
                    (message.empty() ? "" : ": " + message))
      .hint(isUnknown ? "--load-pass-plugin=FILE loads the passes of a "
                        "plug-in; weft-opt --help lists weft's own passes"
                      : "weft-opt --help lists passes with their options");
}

/// The pipelines that --add-pass names, each with the index of its phase. A
/// usage error for a phase that the table lacks and for a pipeline that does
/// not parse. Passes must be registered.
static Expected<std::vector<AddedPasses>>
parseAddedPasses(const PhaseTable &phases, const FlagValues &flags) {
  std::vector<AddedPasses> added;
  for (StringRef entry : splitEntries(flags.getText("add-pass"))) {
    auto [phase, pipeline] = entry.split(':');
    Expected<int> index = findPhase(phases, phase.trim(), flags);
    if (!index)
      return index.takeError();
    // The text of --print-pipeline names the module; here it is implied.
    if (pipeline.starts_with("builtin.module(") && pipeline.ends_with(")"))
      pipeline = pipeline.drop_front(15).drop_back();
    if (Status status = checkPipeline(pipeline.str()); !status)
      return status.takeError();
    added.push_back({*index, pipeline.str()});
  }
  return added;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

PhaseTable::PhaseTable(const TargetKind &kind) {
  for (Phase phase : kind.phases) {
    entries.push_back(getPhaseInfo(phase));
    if (phase != Phase::LowerToTarget)
      continue;
    entries.back().name = kind.lowering;
    entries.back().contract = kind.loweringContract;
  }
}

Expected<PhaseTable> PhaseTable::get(const FlagValues &flags) {
  Expected<const TargetKind *> kind = findTargetKind(flags.getText("target"));
  Expected<std::shared_ptr<const Target>> target = findTarget(flags);
  if (!target)
    return target.takeError();
  PhaseTable table(**kind);
  table.targetObject = std::move(*target);
  if (Status status = loadPlugins(flags); !status)
    return status.takeError();
  Expected<std::vector<AddedPasses>> added = parseAddedPasses(table, flags);
  if (!added)
    return added.takeError();
  table.added = std::move(*added);
  return table;
}

int PhaseTable::find(Phase phase) const {
  for (int i = 0; i < size(); ++i)
    if (phase == entries[i].phase)
      return i;
  return -1;
}

int PhaseTable::find(StringRef name) const {
  for (int i = 0; i < size(); ++i)
    if (name == entries[i].name)
      return i;
  return -1;
}

int PhaseTable::findLast(Level level) const {
  int last = 0;
  for (int i = 0; i < size(); ++i)
    if (entries[i].level <= level)
      last = i;
  return last;
}

std::string PhaseTable::dumpFileName(int index) const {
  char number[16];
  std::snprintf(number, sizeof number, "%02d-", index);
  return std::string(number) + entries[index].name + ".mlir";
}

bool weft::isPhaseName(StringRef name) {
  return llvm::any_of(targetKinds(), [&](const TargetKind &kind) {
    return PhaseTable(kind).find(name) >= 0;
  });
}

/// "--target=cuda:CHIP": of the kinds that have a phase, if some have not.
static std::string listKindsWith(StringRef phase) {
  std::vector<std::string> kinds;
  for (const TargetKind &kind : targetKinds())
    if (PhaseTable(kind).find(phase) >= 0)
      kinds.push_back("--target=" + kind.name.str());
  return kinds.size() == targetKinds().size() ? "" : llvm::join(kinds, ", ");
}

static PhaseLine describe(const PhaseInfo &phase) {
  std::string kinds = listKindsWith(phase.name);
  return {phase.name,
          phase.contract + (kinds.empty() ? kinds : " (" + kinds + ")")};
}

std::vector<PhaseLine> weft::listPhases() {
  std::vector<PhaseLine> lines;
  for (const TargetKind &kind : targetKinds()) {
    PhaseTable phases(kind);
    // A phase of some kinds alone comes behind the phase before it.
    size_t position = 0;
    for (int i = 0; i < phases.size(); ++i) {
      auto found = llvm::find_if(lines, [&](const PhaseLine &line) {
        return line.name == phases[i].name;
      });
      // Lowerings come last, in the order of the kinds.
      if (phases[i].phase == Phase::LowerToTarget && !lines.empty())
        position = std::max(position, lines.size() - 1);
      if (found == lines.end())
        found = lines.insert(lines.begin() + position, describe(phases[i]));
      position = found - lines.begin() + 1;
    }
  }
  return lines;
}

std::string weft::phasesMarkdown() {
  std::string text = "| phase | contract |\n|---|---|\n";
  for (const PhaseLine &line : listPhases())
    text += "| `" + line.name + "` | " + line.contract + " |\n";
  return text;
}

//===----------------------------------------------------------------------===//
// The passes
//===----------------------------------------------------------------------===//

void PhaseTable::addPasses(int index, const FlagValues &flags,
                           OpPassManager &passes) const {
  const Phase phase = entries[index].phase;
  if (phase == Phase::LowerToTarget)
    passes.addPass(createDescribeExecutablePass());
  targetObject->addPasses(phase, flags, passes);
  addCommonPasses(phase, flags, *targetObject, passes);
  const KernelCompiler *kernels = targetObject->getKernelCompiler();
  if (phase == Phase::LowerToTarget && kernels)
    kernels->addPasses(flags, passes);
  for (const AddedPasses &extra : added)
    if (extra.phase == index)
      // parseAddedPasses() has parsed it before.
      (void)parsePassPipeline(extra.pipeline, passes);
}

bool PhaseTable::hasAddedPasses(int index) const {
  return llvm::any_of(
      added, [&](const AddedPasses &extra) { return extra.phase == index; });
}

std::vector<std::string> PhaseTable::listAddedPasses(int from, int to) const {
  std::vector<std::string> texts;
  for (const AddedPasses &extra : added)
    if (extra.phase > from && extra.phase <= to)
      texts.push_back(std::string(entries[extra.phase].name) + ":" +
                      extra.pipeline);
  return texts;
}

bool PhaseTable::hasPasses(int index, const FlagValues &flags) const {
  OpPassManager passes(ModuleOp::getOperationName());
  addPasses(index, flags, passes);
  return !passes.empty();
}

static std::string printPipeline(const OpPassManager &passes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Without a pass, the pretty form does not parse.
  passes.printAsTextualPipeline(stream, /*pretty=*/!passes.empty());
  return StringRef(text).rtrim().str();
}

std::string PhaseTable::printPasses(const FlagValues &flags, int from,
                                    int to) const {
  OpPassManager passes(ModuleOp::getOperationName());
  for (int i = from + 1; i <= to; ++i)
    addPasses(i, flags, passes);
  return printPipeline(passes);
}

/// MLIR's text of options knows no escapes, so that a path with blanks behind a
/// quote, or with a single brace, would be read as something else.
static Status checkReadsBack(const std::string &text, const FlagValues &flags) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  FailureOr<OpPassManager> parsed = parsePassPipeline(text, stream);
  if (succeeded(parsed) && printPipeline(*parsed) == text)
    return Status::success();
  std::vector<std::string> paths;
  for (const FileUse &file : flags.files(FlagFile::Read))
    paths.push_back(file.path);
  return usageError("expects paths that a pipeline in text form can contain, "
                    "but got " +
                    llvm::join(paths, " and "))
      .hint("quotes and braces cannot be written in it");
}

Expected<std::string> weft::pipelineText(const PhaseTable &phases,
                                         const FlagValues &flags, int from,
                                         int to) {
  std::string text = phases.printPasses(flags, from, to);
  if (Status status = checkReadsBack(text, flags); !status)
    return status.takeError();
  return text;
}
