//===- AddedPasses.cpp - The pipelines of --add-pass ----------------------===//

#include "AddedPasses.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace weft;

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
  return usageError("expects --add-pass=PHASE:PIPELINE with passes, but got " +
                    inQuotes(pipeline) +
                    (message.empty() ? "" : ": " + message))
      .hint("--load-pass-plugin=FILE loads the passes of a plug-in; weft-opt "
            "--help lists those of weft");
}

Expected<std::vector<AddedPasses>>
weft::parseAddedPasses(const PhaseTable &phases, const FlagValues &flags) {
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
