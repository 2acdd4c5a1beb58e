//===- TrainCommand.cpp - weft train: compile (cached) and run ------------===//

#include "CompileFiles.h"
#include "LocalRun.h"
#include "MlirFlags.h"
#include "ProgramCache.h"
#include "ProgramCacheKey.h"
#include "ToolCommands.h"

#include "weft/Base/StandardStreams.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/StepDirectories.h"
#include "weft/Pipeline/Driver/Compiler.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Runtime/Collectives/Processes.h"
#include "weft/Runtime/Execute/ParallelFor.h"
#include "weft/Runtime/Run/RunFlags.h"
#include "weft/Runtime/Run/Signals.h"
#include "weft/Weft/Optimizers.h"

#include <cstdio>
#include <filesystem>
#include <unistd.h>

using namespace weft;
namespace fs = std::filesystem;

static Expected<std::string> compile(const FlagValues &flags,
                                     const std::string &model) {
  Compiler compiler;
  if (Status status = compiler.load(model, flags); !status)
    return status.takeError();
  return compileProgram(compiler);
}

namespace {
/// A compiled program: what runs is the open file, whatever happens to its
/// name meanwhile.
struct Program {
  std::string path;
  Descriptor file;
};
} // namespace

/// The compiled program, from the cache if it is there.
static Expected<Program> findOrCompile(const FlagValues &flags,
                                       const std::string &model) {
  std::error_code missing;
  if (!fs::exists(model, missing))
    return inputError(missing ? "cannot open: " + missing.message()
                              : "no such file or directory")
        .at(model);
  Expected<ProgramCache> cache = ProgramCache::open();
  if (!cache)
    return cache.takeError();
  Expected<std::string> key = programCacheKey(flags, model);
  if (!key)
    return key.takeError();
  const std::string path = cache->pathOf(*key);
  // Only a compilation explains itself.
  const bool useCached = !flags.isSet("explain");
  if (useCached)
    if (Descriptor file = cache->find(*key))
      return Program{path, std::move(file)};
  if (Status status = cache->prepare(); !status)
    return status.takeError();
  std::error_code ignored;
  const bool damaged = fs::exists(path, ignored);
  CacheLock lock = cache->lock(*key);
  // Another process may have compiled the program while this one waited for the
  // lock.
  if (useCached && (lock.waited() || !damaged))
    if (Descriptor file = cache->find(*key))
      return Program{path, std::move(file)};
  Expected<std::string> program = compile(flags, model);
  if (!program)
    return program.takeError();
  if (Status status = cache->store(*key, *program); !status)
    return status.takeError();
  if (Descriptor file = cache->find(*key))
    return Program{path, std::move(file)};
  return storageError("cannot read back what was written").at(path);
}

/// Becomes the program; returns what went wrong.
static Error execProgram(const Program &program,
                         std::vector<std::string> flags) {
  std::string name = program.path;
  std::vector<char *> argv = {name.data()};
  for (std::string &flag : flags)
    argv.push_back(flag.data());
  argv.push_back(nullptr);
  std::fflush(stdout);
  unbindThread();
  // The program keeps a signal that comes before it can answer it.
  blockStopSignals();
  fexecve(program.file.get(), argv.data(), environ);
  // Where only a path can be run.
  execv(program.path.c_str(), argv.data());
  return storageError("cannot run it: " + errnoText(errno))
      .at(program.path)
      .hint("does the file system allow programs? XDG_CACHE_HOME chooses "
            "another place");
}

Expected<ExitCode> weft::trainCommand(const Arguments &args) {
  FlagTable table(compileFlags());
  table.add(describedRunFlags());
  Expected<FlagValues> flags = parseModelFlags(table, "weft train", args);
  if (!flags)
    return flags.takeError();
  if (flags->getSwitch("help")) {
    printText("usage: weft train MODEL --data FILE --steps N [flags]\n\n" +
              table.help(CompileFlag) + "\n" + table.help(RunFlag));
    return ExitCode::Ok;
  }
  if (flags->positionals().empty())
    return usageError("expects a MODEL").hint("weft train --help");
  if (Status status = applyMlirFlags(flags->passThrough()); !status)
    return status.takeError();

  // The compiler sees the compile flags, with the driver's at their defaults.
  Expected<FlagValues> compilerFlags =
      compilerFlagTable().parse(flags->canonical(CompileFlag));
  if (!compilerFlags)
    return compilerFlags.takeError();
  const std::string &model = flags->positionals().front();
  Expected<std::vector<FileUse>> inputs = compileInputs(*compilerFlags, model);
  if (!inputs)
    return inputs.takeError();
  const std::vector<FileUse> outputs = flags->files(FlagFile::Written);
  if (Status status = checkOutputPaths(outputs, *inputs, manifestName); !status)
    return status.takeError();
  if (Status status = checkReplaced(outputs, flags->getSwitch("overwrite"));
      !status)
    return status.takeError();
  Expected<Program> program = findOrCompile(*compilerFlags, model);
  if (!program)
    return program.takeError();
  const std::vector<std::string> runFlags = flags->canonical(RunFlag);
  const int64_t ranks = meshRanks(*flags);
  if (ranks == 1 || flags->isSet("loopback") || flags->getSwitch("dry-run") ||
      findLauncher())
    return execProgram(*program, runFlags);
  const bool isForCuda = flags->getText("target").rfind("cuda", 0) == 0;
  return isForCuda ? runLocalRanks(ranks, program->path, runFlags,
                                   /*binds=*/false)
                   : runRanks(ranks, program->path, runFlags);
}

std::vector<FlagSpec> weft::describedRunFlags() {
  static const std::string decay =
      "weight decay of every optimizer; default: " + spellDefaultDecays();
  std::vector<FlagSpec> specs = runFlagSpecs();
  for (FlagSpec &spec : specs)
    if (spec.name == llvm::StringRef("weight-decay"))
      spec.help = decay.c_str();
  return specs;
}
