//===- Entry.cpp - From the command line to the exit status ---------------===//

#include "weft/Runtime/Run/Entry.h"

#include "weft/Formats/StandardStreams.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Execute/CpuFeatures.h"
#include "weft/Runtime/Execute/Segments.h"
#include "weft/Runtime/Run/Generate.h"
#include "weft/Runtime/Run/Run.h"
#include "weft/Runtime/Run/Trainer.h"

#include <cstdio>
#include <exception>
#include <new>
#include <unistd.h>

using namespace weft;

/// The file that is running; relative weights are looked for beside it.
static std::string ownPath(const char *fallback) {
  char path[4096];
  ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return size > 0 && size < ssize_t(sizeof path) ? std::string(path, size)
                                                 : fallback;
}

static Status checkMachine(const Metadata &metadata) {
  std::vector<std::string> missing = missingCpuFeatures(metadata.cpuFeatures);
  if (missing.empty())
    return Status::success();
  std::string names;
  for (const std::string &name : missing)
    names += (names.empty() ? "" : ", ") + name;
  return Error(ExitCode::Device, "the program was compiled for " +
                                     metadata.target +
                                     "; this processor lacks " + names)
      .hint("compile with --target=cpu on this machine, or with a lower level "
            "such as --target=cpu:x86-64-v3");
}

static Expected<ExitCode> runProgram(const WeftExecutable &executable,
                                     const std::vector<std::string> &args,
                                     const std::string &program) {
  if (executable.abiVersion != WEFT_ABI_VERSION)
    return Error(ExitCode::Internal,
                 "expects ABI version " + std::to_string(WEFT_ABI_VERSION) +
                     ", but got " + std::to_string(executable.abiVersion));
  auto metadata = parseMetadata(
      std::string_view(executable.metadata, size_t(executable.metadataBytes)));
  if (!metadata)
    return metadata.takeError();
  if (std::string wrong = checkSegments(executable, int(metadata->ranks()));
      !wrong.empty())
    return Error(ExitCode::Internal, std::move(wrong));
  if (Status s = checkPorts(executable, *metadata); !s)
    return s.takeError();
  auto options = parseRunOptions(args, *metadata, program);
  if (!options)
    return options.takeError();
  if (options->help || options->version) {
    std::string text = options->help ? runHelp(*metadata, program)
                                     : metadata->name + ", compiled by weft " +
                                           metadata->version + "\n";
    std::fputs(text.c_str(), stdout);
    return ExitCode::Ok;
  }
  if (Status s = checkMachine(*metadata); !s)
    return s.takeError();
  if (Status s = checkHyperParameters(executable, *metadata, *options); !s)
    return s.takeError();
  if (Status s = checkGenerate(*options, *metadata, executable); !s)
    return s.takeError();
  auto faults = Faults::fromEnvironment();
  if (!faults)
    return faults.takeError();
  if (Status s = checkFaults(executable, *faults); !s)
    return s.takeError();
  return Run(executable, *metadata, *options, *faults, ownPath(program.c_str()))
      .execute();
}

static int runGuarded(const WeftExecutable &executable,
                      const std::vector<std::string> &args,
                      const std::string &program) {
  try {
    auto code = runProgram(executable, args, program);
    return code ? int(*code) : code.error().report();
  } catch (const std::bad_alloc &) {
    return Error(ExitCode::DoesNotFit, "the machine has no memory left")
        .report();
  } catch (const std::exception &failure) {
    return Error(ExitCode::Internal, failure.what()).report();
  }
}

int weft::weftMain(const WeftExecutable &executable, int argc, char **argv) {
  reserveStandardStreams();
  enterProcess(argv);
  std::string program = argc > 0 ? argv[0] : "weft";
  std::vector<std::string> args(argv + (argc > 0), argv + argc);
  int status =
      finishOutput(runGuarded(executable, args, program), ReaderGone::Reported);
  leaveProcess();
  return status;
}
