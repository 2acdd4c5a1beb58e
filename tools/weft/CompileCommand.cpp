//===- CompileCommand.cpp - weft compile ----------------------------------===//

#include "Commands.h"
#include "CompileFiles.h"
#include "MlirFlags.h"

#include "weft/Formats/OutputFile.h"
#include "weft/Pipeline/CompileFlags.h"
#include "weft/Pipeline/Compiler.h"
#include "weft/Pipeline/Link.h"
#include "weft/Pipeline/Phases.h"

#include "llvm/Support/BuryPointer.h"

#include <cstdio>

using namespace weft;

static void printHelp(const FlagTable &table) {
  std::printf("usage: weft compile MODEL [-o FILE] [flags]\n\n"
              "MODEL: an .mlir file in the weft dialect, a config.json, or its "
              "folder\n\n%s\n%s\nphases:\n",
              table.help(CompileFlag).c_str(), table.help(DriverFlag).c_str());
  for (const Phase &phase : phases())
    std::printf("  %-16s %s\n", phase.name, phase.contract);
}

/// The last phase that `--emit` or `--to` asks for.
static Expected<int> lastPhase(const FlagValues &flags) {
  if (flags.isSet("to") && flags.isSet("emit"))
    return usageError("expects --to or --emit, but got both");
  if (flags.isSet("to")) {
    int index = findPhase(flags.getString("to"));
    if (index < 0)
      return usageError("expects the name of a phase after --to, but got '" +
                        flags.getString("to") + "'")
          .hint("weft compile --help lists the phases");
    if (flags.isSet("from") && index < findPhase(flags.getString("from")))
      return usageError("expects --to to name a phase after that of --from, " +
                        flags.getString("from") + ", but got " +
                        flags.getString("to"));
    return index;
  }
  const std::string &emit = flags.getText("emit");
  Level last = emit == "graph"  ? Level::Graph
               : emit == "dist" ? Level::Dist
               : emit == "plan" ? Level::Plan
                                : Level::Llvm;
  int index = 0;
  for (size_t i = 0; i < phases().size(); ++i)
    if (phases()[i].level <= last)
      index = static_cast<int>(i);
  return index;
}

static Status writeText(const FlagValues &flags, const std::string &text) {
  if (flags.isSet("output") && flags.getString("output") != "-")
    return writeFile(flags.getString("output"), text);
  // finishOutput() in main() says whether it got there.
  std::fwrite(text.data(), 1, text.size(), stdout);
  return Status::success();
}

/// Everything behind the phases: what `--emit` asks for.
static Status emitResult(Compiler &compiler, const std::string &model) {
  const FlagValues &flags = compiler.flags();
  const std::string &emit = flags.getText("emit");
  if (flags.isSet("to") || emit == "graph" || emit == "dist" || emit == "plan")
    return writeText(flags, compiler.text());
  if (emit == "llvm") {
    Expected<std::string> ir = compiler.llvmIr();
    if (!ir)
      return ir.takeError();
    return writeText(flags, *ir);
  }
  Expected<std::vector<char>> object = compiler.objectCode();
  if (!object)
    return object.takeError();
  std::string output = executableName(flags, model);
  if (emit == "obj")
    return writeFile(flags.isSet("output") ? output : output + ".o",
                     std::string_view(object->data(), object->size()));
  return linkExecutable(*object, output);
}

/// `--print-pipeline`: the passes up to `last`, one per line.
static Expected<ExitCode> printPipeline(const FlagValues &flags, int last) {
  if (Status status = checkSupported(flags); !status)
    return status.takeError();
  int first = flags.isSet("from") ? findPhase(flags.getString("from")) : 0;
  if (first < 0)
    return usageError("expects the name of a phase after --from, but got '" +
                      flags.getString("from") + "'");
  Expected<std::string> text = pipelineText(flags, first, last);
  if (!text)
    return text.takeError();
  std::printf("%s\n", text->c_str());
  return ExitCode::Ok;
}

Expected<ExitCode> weft::compileCommand(const Arguments &args) {
  FlagTable table = compilerFlagTable();
  table.add({{"help", FlagKind::Switch, DriverFlag, "", "", "show this text"}});
  Expected<FlagValues> flags = parseModelFlags(table, "weft compile", args);
  if (!flags)
    return flags.takeError();
  if (flags->getSwitch("help")) {
    printHelp(table);
    return ExitCode::Ok;
  }
  Expected<int> last = lastPhase(*flags);
  if (!last)
    return last.takeError();
  if (Status status = applyMlirFlags(flags->passThrough()); !status)
    return status.takeError();
  if (flags->getSwitch("print-pipeline"))
    return printPipeline(*flags, *last);
  if (flags->positionals().empty())
    return usageError("expects a MODEL").hint("weft compile --help");
  const std::string model = flags->positionals().front();
  if (Status status = checkCompileFiles(*flags, model, *last); !status)
    return status.takeError();
  // The process ends with this command: its IR is not taken apart first.
  auto owned = std::make_unique<Compiler>();
  Compiler &compiler = *owned;
  llvm::BuryPointer(std::move(owned));
  if (Status status = compiler.load(model, *flags); !status)
    return status.takeError();
  if (Status status = checkRecordedWeights(compiler, model, *last); !status)
    return status.takeError();
  if (Status status = compiler.run(*last); !status)
    return status.takeError();
  if (Status status = emitResult(compiler, model); !status)
    return status.takeError();
  return ExitCode::Ok;
}
