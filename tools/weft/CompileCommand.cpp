//===- CompileCommand.cpp - weft compile ----------------------------------===//

#include "CompileFiles.h"
#include "MemoryLines.h"
#include "MlirFlags.h"
#include "ToolCommands.h"

#include "weft/Base/OutputFile.h"
#include "weft/Base/RunFile.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/WeightFiles.h"
#include "weft/Pipeline/Driver/Compiler.h"
#include "weft/Pipeline/Driver/Link.h"
#include "weft/Pipeline/Driver/MemoryFit.h"
#include "weft/Pipeline/Driver/PhaseTable.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Pipeline/Targets/Target.h"

#include "llvm/Support/BuryPointer.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

using namespace weft;

static std::string phasesHelp(size_t columns) {
  std::string text = "\nphases of --from and --to:\n";
  for (const PhaseLine &line : listPhases())
    text += helpLine(line.name, line.contract, columns);
  return text;
}

static void printHelp(const FlagTable &table, const HelpLayout &layout) {
  std::string text =
      "usage: weft compile MODEL [-o FILE] [flags]\n\n" +
      wrapText(
          "MODEL: an .mlir file in the weft dialect, a config.json, or its "
          "folder",
          0, layout.columns) +
      "\n\n" + table.help(AllFlags, layout);
  if (!layout.isShort)
    text += phasesHelp(layout.columns);
  printText(text);
}

/// The last phase that `--emit` or `--to` asks for.
static Expected<int> lastPhase(const FlagValues &flags,
                               const PhaseTable &phases) {
  if (flags.isSet("to") && flags.isSet("emit"))
    return usageError("expects --to or --emit, but got both");
  if (flags.isSet("to")) {
    const std::string name = flags.getString("to");
    int index = phases.find(name);
    if (index < 0)
      return usageError((isPhaseName(name)
                             ? "expects a phase of --target=" +
                                   flags.getText("target") + " after --to"
                             : "expects the name of a phase after --to") +
                        std::string(", but got '") + name + "'")
          .hint("weft compile --help-all lists the phases");
    if (flags.isSet("from") && index < phases.find(flags.getString("from")))
      return usageError("expects --to to name a phase after --from, " +
                        flags.getString("from") + ", but got " +
                        flags.getString("to"));
    return index;
  }
  const std::string &emit = flags.getText("emit");
  return phases.findLast(emit == "graph"                        ? Level::Graph
                         : emit == "dist"                       ? Level::Dist
                         : emit == "plan" || emit == "timeline" ? Level::Plan
                                                                : Level::Llvm);
}

/// A file tells by its last line that weft wrote it: a comment that begins with
/// `comment`, if the format has some.
static Status writeText(const FlagValues &flags, const std::string &text,
                        std::string_view comment) {
  const std::string &output = flags.getString("output");
  if (flags.isSet("output") && output != kStandardOutput)
    return writeFile(output, comment.empty() || isWrittenInPlace(output)
                                 ? text
                                 : sealText(text, comment));
  // finishOutput() in main() says whether it got there.
  printText(text);
  return Status::success();
}

/// Everything behind the phases: what `--emit` asks for.
static Status emitResult(Compiler &compiler, const std::string &model) {
  const FlagValues &flags = compiler.flags();
  const std::string &emit = flags.getText("emit");
  if (flags.isSet("to") || emit == "graph" || emit == "dist" ||
      emit == "plan") {
    if (Status status = compiler.verify(); !status)
      return status;
    return writeText(flags, compiler.text(), "//");
  }
  if (emit == "timeline") {
    Expected<std::string> slices = compiler.timeline();
    if (!slices)
      return slices.takeError();
    return writeText(flags, *slices, "");
  }
  if (emit == "llvm" || emit == "ptx") {
    Expected<std::string> code =
        emit == "llvm" ? compiler.llvmIr() : compiler.ptx();
    if (!code)
      return code.takeError();
    return writeText(flags, *code, emit == "llvm" ? ";" : "//");
  }
  std::string output = outputName(flags, model);
  if (emit == "exe") {
    Expected<Objects> objects = compiler.programObjects();
    if (!objects)
      return objects.takeError();
    return linkExecutable(Linkage::of(compiler.target(), flags), *objects,
                          output);
  }
  Expected<std::vector<char>> object = compiler.objectCode();
  if (!object)
    return object.takeError();
  return writeFile(output, std::string_view(object->data(), object->size()));
}

/// `--print-pipeline`: the passes up to the requested phase, one per line.
static Status printPipeline(const FlagValues &flags) {
  if (Status status = checkSupported(flags); !status)
    return status;
  for (const char *flag : {"output", "dump-dir", "reproducer"})
    if (flags.isSet(flag))
      return usageError("expects --print-pipeline without --" +
                        std::string(flag) + ", but got both");
  for (const char *flag : {"memory-limit", "device"})
    if (flags.isSet(flag))
      return usageError("expects --print-pipeline without --" +
                        std::string(flag) +
                        ", which chooses passes that fit a model")
          .hint("give --recompute and --reshard instead");
  Expected<PhaseTable> phases = PhaseTable::get(flags);
  if (!phases)
    return phases.takeError();
  Expected<int> last = lastPhase(flags, *phases);
  if (!last)
    return last.takeError();
  const bool isDump = flags.isSet("from");
  const int first = isDump ? phases->find(flags.getString("from")) : -1;
  if (isDump && first < 0)
    return usageError("expects the name of a phase after --from, but got '" +
                      flags.getString("from") + "'");
  Expected<std::string> text = pipelineText(*phases, flags, first, *last);
  if (!text)
    return text.takeError();
  printText(*text + "\n");
  return Status::success();
}

/// A dump carries flags of phases that come later.
static Status checkReached(const FlagValues &flags, const PhaseTable &phases,
                           int last) {
  if (flags.isSet("from") || last >= phases.find(Phase::PlanMemory))
    return Status::success();
  for (const char *flag : {"memory-limit", "device"})
    if (flags.isSet(flag))
      return usageError("--" + std::string(flag) +
                        " expects a compilation that plans memory, but got one "
                        "that ends with " +
                        phases[last].name)
          .hint("--emit=plan goes far enough");
  return Status::success();
}

/// A dump carries passes of later phases, but its IR does not show them.
static void warnOfUnreachedPasses(const FlagValues &flags,
                                  const PhaseTable &phases, int last) {
  if (flags.isSet("from"))
    return;
  for (const std::string &added : phases.listAddedPasses(last, phases.size()))
    warn("--add-pass=" + added + " does not run: the compilation ends with " +
             std::string(phases[last].name),
         "weft compile OUTPUT --from=" + std::string(phases[last].name) +
             " continues with it");
}

/// The last phase, after a look at the files that are written on the way there.
static Expected<int> planPhases(const FlagValues &flags,
                                const std::string &model,
                                const PhaseTable &phases) {
  Expected<int> last = lastPhase(flags, phases);
  if (!last)
    return last;
  if (Status status = checkReached(flags, phases, *last); !status)
    return status.takeError();
  if (!flags.isSet("to"))
    if (Status status = phases.target().checkEmit(flags.getText("emit"),
                                                  flags.getText("target"));
        !status)
      return status.takeError();
  if (Status status = checkCompileFiles(flags, model, phases, *last); !status)
    return status.takeError();
  warnOfUnreachedPasses(flags, phases, *last);
  return last;
}

/// Before the model is read, unless it is a dump, which names its target
/// itself.
static Expected<int> planPhases(const FlagValues &flags,
                                const std::string &model) {
  if (flags.isSet("from"))
    return -1;
  Expected<PhaseTable> phases = PhaseTable::get(flags);
  if (!phases)
    return phases.takeError();
  return planPhases(flags, model, *phases);
}

/// The program will ask for --init-from; it may run far from here.
static void warnOfUnreadWeights(Compiler &compiler) {
  auto files =
      compiler.module()->getAttrOfType<mlir::ArrayAttr>("weft.unread_weights");
  std::vector<std::string> paths;
  for (mlir::Attribute file :
       files ? files.getValue() : llvm::ArrayRef<mlir::Attribute>())
    if (auto path = llvm::dyn_cast<mlir::StringAttr>(file))
      paths.push_back(path.str());
  if (!paths.empty())
    warn("the model's folder has weights that weft does not read, " +
             unreadWeightsText(paths) +
             "; the program does not start without --init-from",
         unreadWeightsHint(paths.front()));
}

/// The report in the program's metadata; none in a module without metadata.
static std::optional<MemoryReport> readMemory(mlir::ModuleOp module) {
  auto metadata = module->getAttrOfType<mlir::StringAttr>("weft.metadata");
  if (!metadata)
    return std::nullopt;
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse(metadata.getValue());
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  const llvm::json::Object *object = value->getAsObject();
  const llvm::json::Object *memory =
      object ? object->getObject("memory") : nullptr;
  if (!memory)
    return std::nullopt;
  return MemoryReport::fromJson(*memory);
}

/// The file that was made, on stderr, as fitLines().
static void printMade(Compiler &compiler, const std::string &output,
                      std::chrono::steady_clock::time_point begin) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(output, error);
  if (error)
    return;
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begin;
  std::string text = "made      " + printable(output, 200) + ", " +
                     humanBytes(static_cast<int64_t>(bytes)) + ", in " +
                     threeDigits(took.count(), 2) + " s\n";
  if (!compiler.fit())
    if (auto report = readMemory(compiler.module()))
      text += "memory    " + humanBytes(report->getNeededBytes()) +
              listTerms(*report) + "\n";
  std::fputs(text.c_str(), stderr);
}

static Status compileModel(Compiler &compiler, const FlagValues &flags,
                           const std::string &model) {
  const auto begin = std::chrono::steady_clock::now();
  Expected<int> last = planPhases(flags, model);
  if (!last)
    return last.takeError();
  if (Status status = compiler.load(model, flags); !status)
    return status;
  if (flags.isSet("from"))
    last = planPhases(compiler.flags(), model, compiler.phases());
  if (!last)
    return last.takeError();
  if (Status status = checkRecordedWeights(compiler, model, *last); !status)
    return status;
  warnOfUnreadWeights(compiler);
  const FlagValues given = compiler.flags();
  if (Status status = runWithinMemory(compiler, *last); !status)
    return status;
  std::fputs(fitLines(compiler, given).c_str(), stderr);
  if (Status status = emitResult(compiler, model); !status)
    return status;
  const std::string &emit = compiler.flags().getText("emit");
  const bool isProgram =
      !compiler.flags().isSet("to") && (emit == "exe" || emit == "obj");
  if (isProgram)
    printMade(compiler, outputName(compiler.flags(), model), begin);
  return Status::success();
}

Expected<ExitCode> weft::compileCommand(const Arguments &args) {
  FlagTable table = compilerFlagTable();
  table.add(simulateFlags());
  table.add(configFlags(DriverFlag));
  table.add(helpFlags(DriverFlag));
  Expected<FlagValues> flags = parseModelFlags(table, "weft compile", args);
  if (!flags)
    return flags.takeError();
  if (std::optional<HelpLayout> layout = askedHelp(*flags)) {
    printHelp(table, *layout);
    return ExitCode::Ok;
  }
  *flags = withoutTraining(*flags);
  Expected<bool> isAnswered = printConfig(*flags, "weft compile");
  if (!isAnswered)
    return isAnswered.takeError();
  if (*isAnswered)
    return ExitCode::Ok;
  const bool simulates = flags->getSwitch("dry-run");
  const bool printsPasses = !simulates && flags->getSwitch("print-pipeline");
  if (flags->getSwitch("json") && !simulates)
    return usageError("expects --json with --dry-run, but got only --json");
  if (flags->positionals().empty() && !printsPasses)
    return usageError("expects a MODEL").hint("weft compile --help");
  if (Status status = applyMlirFlags(flags->passThrough()); !status)
    return status.takeError();
  if (simulates) {
    if (Status status = simulateModel(*flags, flags->positionals().front());
        !status)
      return status.takeError();
    return ExitCode::Ok;
  }
  if (printsPasses) {
    if (Status status = printPipeline(*flags); !status)
      return status.takeError();
    return ExitCode::Ok;
  }
  // The process ends with this command: its IR is not taken apart first.
  auto owned = std::make_unique<Compiler>();
  Compiler &compiler = *owned;
  llvm::BuryPointer(std::move(owned));
  if (Status status =
          compileModel(compiler, *flags, flags->positionals().front());
      !status)
    return status.takeError();
  return ExitCode::Ok;
}
