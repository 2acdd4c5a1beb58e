//===- CachedProgram.cpp - Programs of a model, from the cache ------------===//

#include "CachedProgram.h"

#include "CompileFiles.h"
#include "LocalRun.h"
#include "ProgramCache.h"
#include "ProgramCacheKey.h"

#include "weft/Formats/FileKind.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/StepDirectories.h"
#include "weft/Frontend/Frontend.h"
#include "weft/Pipeline/Driver/Compiler.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Runtime/Collectives/Processes.h"
#include "weft/Runtime/Execute/ParallelFor.h"
#include "weft/Runtime/Run/Signals.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace weft;
namespace fs = std::filesystem;

namespace {
struct Compilation {
  std::string program, notices;
};
} // namespace

static Expected<Compilation> compile(const FlagValues &flags,
                                     const std::string &model, bool trains) {
  Compiler compiler;
  compiler.showTrainingNotices(trains);
  if (Status status = compiler.load(model, flags); !status)
    return status.takeError();
  Expected<std::string> program = compileProgram(compiler);
  if (!program)
    return program.takeError();
  return Compilation{std::move(*program), compiler.notices()};
}

/// An entry of the cache, or nothing. Repeats the warnings and remarks of its
/// compilation, once per run.
static std::optional<Program> findProgram(const ProgramCache &cache,
                                          const std::string &key, bool trains) {
  Descriptor file = cache.find(key);
  if (!file)
    return std::nullopt;
  if (findRankNumber() == 0)
    std::fputs(shownNotices(ProgramCache::readNotices(file), trains).c_str(),
               stderr);
  return Program{cache.pathOf(key), std::move(file)};
}

static Expected<Program> findOrCompile(const FlagValues &flags,
                                       const std::string &model, bool trains) {
  std::error_code missing;
  if (!fs::exists(model, missing))
    return inputError(missing ? "cannot open: " + missing.message()
                              : "no such file or directory")
        .at(model);
  if (std::optional<Error> error = findFolderError(model))
    return std::move(*error);
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
    if (std::optional<Program> found = findProgram(*cache, *key, trains))
      return std::move(*found);
  if (Status status = cache->prepare(); !status)
    return status.takeError();
  std::error_code ignored;
  const bool damaged = fs::exists(path, ignored);
  CacheLock lock = cache->lock(*key);
  // Another process may have compiled the program while this one waited for the
  // lock.
  if (useCached && (lock.waited() || !damaged))
    if (std::optional<Program> found = findProgram(*cache, *key, trains))
      return std::move(*found);
  Expected<Compilation> made = compile(flags, model, trains);
  if (!made)
    return made.takeError();
  if (Status status = cache->store(*key, made->program, made->notices); !status)
    return status.takeError();
  if (Descriptor file = cache->find(*key))
    return Program{path, std::move(file)};
  return storageError("cannot read the output back").at(path);
}

static Error cannotRun(const std::string &path, int number) {
  return storageError("cannot run it: " + errnoText(number)).at(path);
}

Status weft::checkCanRun(const std::string &path) {
  if (::access(path.c_str(), X_OK) == 0)
    return Status::success();
  Error error = cannotRun(path, errno);
  struct stat info;
  const bool isProgram =
      ::stat(path.c_str(), &info) != 0 || (info.st_mode & 0111) != 0;
  return error.hint(isProgram ? "does the file system allow programs, and its "
                                "mode that you run it?"
                              : "chmod +x " + shellWord(path) +
                                    " lets the system run it");
}

/// Becomes the program; returns the error if that fails.
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
  return cannotRun(program.path, errno)
      .hint("does the file system allow programs? XDG_CACHE_HOME chooses "
            "another place");
}

/// Whether one process does all the work: its threads are the ranks, or it
/// only prints the plan.
static bool needsNoRanks(const std::vector<std::string> &runFlags) {
  return std::any_of(
      runFlags.begin(), runFlags.end(), [](const std::string &flag) {
        return flag.rfind("--loopback=", 0) == 0 || flag == "--dry-run=on";
      });
}

Expected<ExitCode> weft::runProgram(const Program &program,
                                    const ProgramRanks &ranks,
                                    const std::vector<std::string> &runFlags) {
  if (ranks.count == 1 || needsNoRanks(runFlags) || findLauncher())
    return execProgram(program, runFlags);
  return ranks.isForCuda ? runLocalRanks(ranks.count, program.path, runFlags,
                                         /*binds=*/false)
                         : runRanks(ranks.count, program.path, runFlags);
}

FlagValues weft::flagsForSamples(const FlagValues &flags) {
  return flags.isSet("kv-cache") ? flags : flags.with("kv-cache", "auto");
}

Expected<Program> weft::prepareProgram(const FlagValues &flags,
                                       const std::string &model, bool trains) {
  // The compiler sees the compile flags, with the driver's at their defaults.
  Expected<FlagValues> compilerFlags =
      compilerFlagTable().parse(flags.canonical(CompileFlag));
  if (!compilerFlags)
    return compilerFlags.takeError();
  Expected<std::vector<FileUse>> inputs = compileInputs(*compilerFlags, model);
  if (!inputs)
    return inputs.takeError();
  if (flags.isSet("config"))
    inputs->push_back({"--config", flags.getString("config")});
  const std::vector<FileUse> outputs = flags.files(FlagFile::Written);
  if (Status status = checkOutputPaths(outputs, *inputs, manifestName); !status)
    return status.takeError();
  if (!outputs.empty())
    if (Status status = checkReplaced(outputs, flags.getSwitch("overwrite"));
        !status)
      return status.takeError();
  return findOrCompile(*compilerFlags, model, trains);
}
