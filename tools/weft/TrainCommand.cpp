//===- TrainCommand.cpp - weft train: compile (cached) and run ------------===//

#include "Commands.h"
#include "MlirFlags.h"

#include "weft/Formats/Digest.h"
#include "weft/Formats/OutputFile.h"
#include "weft/Pipeline/CompileFlags.h"
#include "weft/Pipeline/Compiler.h"
#include "weft/Pipeline/Link.h"
#include "weft/Pipeline/Phases.h"
#include "weft/Runtime/RunFlags.h"
#include "weft/Runtime/ThreadTeam.h"

#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <unistd.h>

using namespace weft;
namespace fs = std::filesystem;

/// $XDG_CACHE_HOME/weft, else ~/.cache/weft.
static Expected<fs::path> cacheFolder() {
  if (const char *base = std::getenv("XDG_CACHE_HOME"); base && *base)
    return fs::path(base) / "weft";
  if (const char *home = std::getenv("HOME"); home && *home)
    return fs::path(home) / ".cache" / "weft";
  return usageError("found no folder for compiled programs")
      .hint("set HOME or XDG_CACHE_HOME, or use weft compile -o FILE");
}

/// The files that decide what a model means. Weights may be large: their size
/// and time of change stand for them here; the program checks their digest.
static Status addModel(Digest &digest, const fs::path &model) {
  std::error_code error;
  std::vector<fs::path> files;
  fs::path folder =
      fs::is_directory(model, error) ? model : model.parent_path();
  if (!fs::is_directory(model, error))
    files.push_back(model);
  for (const auto &entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    bool isConfig = name == "config.json" && fs::is_directory(model);
    bool isWeights = entry.path().extension() == ".safetensors" ||
                     name == "model.safetensors.index.json";
    bool isTokenizer = name.rfind("tokenizer", 0) == 0 ||
                       name == "vocab.json" || name == "merges.txt";
    if (isConfig)
      files.push_back(entry.path());
    else if (model.extension() != ".mlir" && (isWeights || isTokenizer))
      digest.update(
          name + "\n" + std::to_string(entry.file_size(error)) + "\n" +
          std::to_string(
              entry.last_write_time(error).time_since_epoch().count()) +
          "\n");
  }
  std::sort(files.begin(), files.end());
  for (const fs::path &file : files) {
    Expected<FileDigest> one = digestFile(file.string());
    if (!one)
      return one.takeError();
    digest.update(file.filename().string() + "\n" + one->xxh3 + "\n");
  }
  return Status::success();
}

/// Name of the cached program: everything that decides its bytes.
static Expected<std::string> cacheKey(const FlagValues &flags,
                                      const std::string &model) {
  Digest digest;
  Expected<std::string> toolchain = toolchainDigest();
  if (!toolchain)
    return toolchain.takeError();
  digest.update(*toolchain + "\n");
  digest.update(llvm::sys::getHostCPUName().str() + "\n");
  digest.update(model + "\n");
  for (const std::string &flag : flags.canonical(CompileFlag))
    if (flag.rfind("--explain=", 0) != 0)
      digest.update(flag + "\n");
  for (const char *name : {"groups", "cost-table", "autocast-lists"})
    if (flags.isSet(name)) {
      Expected<FileDigest> file = digestFile(flags.getString(name));
      if (!file)
        return file.takeError();
      digest.update(file->xxh3 + "\n");
    }
  if (Status status = addModel(digest, model); !status)
    return status.takeError();
  return digest.value128();
}

static Status compileTo(const FlagValues &flags, const std::string &model,
                        const std::string &output) {
  Compiler compiler;
  if (Status status = compiler.load(model, flags); !status)
    return status;
  if (Status status = compiler.run(static_cast<int>(phases().size()) - 2);
      !status)
    return status;
  Expected<std::vector<char>> object = compiler.objectCode();
  if (!object)
    return object.takeError();
  return linkExecutable(*object, output);
}

/// The compiled program, from the cache if it is there.
static Expected<std::string> findProgram(const FlagValues &flags,
                                         const std::string &model) {
  if (!fs::exists(model))
    return inputError("no such file or directory").at(model);
  Expected<fs::path> folder = cacheFolder();
  if (!folder)
    return folder.takeError();
  Expected<std::string> key = cacheKey(flags, model);
  if (!key)
    return key.takeError();
  std::error_code error;
  fs::create_directories(*folder, error);
  if (error)
    return storageError("cannot make the folder: " + error.message())
        .at(folder->string());
  std::string program = (*folder / *key).string();
  // Only a compilation explains itself.
  if (!flags.isSet("explain") && access(program.c_str(), X_OK) == 0)
    return program;
  if (Status status = compileTo(flags, model, program); !status)
    return status.takeError();
  return program;
}

Expected<ExitCode> weft::trainCommand(const Arguments &args) {
  FlagTable table(compileFlags());
  table.add(runFlagSpecs());
  Expected<FlagValues> flags = parseModelFlags(table, "weft train", args);
  if (!flags)
    return flags.takeError();
  if (flags->getSwitch("help")) {
    std::printf("usage: weft train MODEL --data FILE --steps N [flags]\n\n"
                "%s\n%s",
                table.help(CompileFlag).c_str(), table.help(RunFlag).c_str());
    return ExitCode::Ok;
  }
  if (flags->positionals().empty())
    return usageError("expects a MODEL").hint("weft train --help");
  if (Status status = applyMlirFlags(flags->passThrough()); !status)
    return status.takeError();

  // The compiler sees the compile flags, with the driver's at their defaults.
  Expected<FlagValues> compile =
      compilerFlagTable().parse(flags->canonical(CompileFlag));
  if (!compile)
    return compile.takeError();
  Expected<std::string> program =
      findProgram(*compile, flags->positionals().front());
  if (!program)
    return program.takeError();
  std::vector<std::string> run = flags->canonical(RunFlag);
  std::vector<char *> argv = {program->data()};
  for (std::string &arg : run)
    argv.push_back(arg.data());
  argv.push_back(nullptr);
  unbindThread();
  execv(program->c_str(), argv.data());
  return Error(ExitCode::Internal, "cannot run it: " + errnoText(errno))
      .at(*program)
      .hint("remove the file: the next run compiles it again");
}
