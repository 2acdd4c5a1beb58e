//===- Link.cpp - Object code becomes an executable -----------------------===//

#include "weft/Pipeline/Driver/Link.h"

#include "weft/Base/Flags.h"
#include "weft/Base/OutputFile.h"
#include "weft/Formats/Digest.h"
#include "weft/Pipeline/Targets/RuntimeFolder.h"
#include "weft/Pipeline/Targets/Target.h"
#include "weft/Support/HelperProgram.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <filesystem>

using namespace weft;
namespace fs = std::filesystem;

/// Replaces kRuntimeMain in a program whose ranks may be MPI processes.
static constexpr const char *kRuntimeMpi = "libWeftRuntimeMpi.a";

Linkage Linkage::of(const Target &target, const FlagValues &flags) {
  return {target, flags.isSet("mesh") && target.usesMpi()};
}

// The archives of a target follow the runtime, which calls them, and precede
// the libraries that they use.
std::vector<std::string> weft::runtimeArchives(const Linkage &linkage) {
  std::vector<std::string> archives = {
      linkage.usesMpi ? kRuntimeMpi : kRuntimeMain, "libWeftRuntime.a"};
  llvm::append_range(archives, linkage.target.getLibraries().archives);
  archives.push_back("libWeftRuntimeCore.a");
  archives.push_back("libWeftFormats.a");
  archives.push_back("libWeftBase.a");
  return archives;
}

Expected<std::vector<std::string>>
weft::toolchainFiles(const Linkage &linkage) {
  Expected<std::string> tool = runningTool(), folder = runtimeFolder();
  if (!tool)
    return tool.takeError();
  if (!folder)
    return folder.takeError();
  std::vector<std::string> files = {*tool};
  std::vector<std::string> names = runtimeArchives(linkage);
  llvm::append_range(names, linkage.target.getLibraries().parts);
  for (const std::string &name : names)
    files.push_back((fs::path(*folder) / name).string());
  return files;
}

/// The digest of a file, or the error of an unreadable file as a text. The
/// error is not reported here but by the step that needs the file.
static std::string identify(const std::string &file) {
  Expected<FileDigest> digest = digestFile(file);
  return digest ? digest->xxh3 : digest.error().where();
}

Expected<std::string> weft::toolchainDigest(const Linkage &linkage) {
  Expected<std::vector<std::string>> files = toolchainFiles(linkage);
  if (!files)
    return files.takeError();
  Digest digest;
  for (const std::string &file : *files)
    digest.update(identify(file) + "\n");
  return digest.value128();
}

/// The compiler driver that knows the system's start files and libraries.
static Expected<std::string> findLinker() {
  if (const char *chosen = std::getenv("WEFT_CXX")) {
    if (auto path = llvm::sys::findProgramByName(chosen))
      return *path;
    return Error(ExitCode::Usage,
                 std::string("WEFT_CXX names no program: ") + chosen);
  }
  for (const char *name : {"clang++-22", "c++", "g++", "clang++"})
    if (auto path = llvm::sys::findProgramByName(name))
      return *path;
  return Error(ExitCode::Device, "found no C++ compiler to link with")
      .hint("install g++ or clang, or set WEFT_CXX");
}

/// clang links with the lld of its version where there is one.
static void chooseLld(std::vector<std::string> &command) {
  if (auto lld = llvm::sys::findProgramByName("ld.lld-22"))
    if (fs::path(command.front()).filename().string().rfind("clang", 0) == 0)
      command.push_back("--ld-path=" + *lld);
}

using Files = std::vector<std::string>;

static std::vector<std::string> linkerCommand(const Linkage &linkage,
                                              const std::string &linker,
                                              const std::string &folder,
                                              const Files &objects,
                                              const fs::path &program) {
  // The folder of a library would enter a run path or a symbol: neither does
  // here, and no build id is made, so the bytes depend on the inputs alone.
  std::vector<std::string> command = {linker, "-o", program.string()};
  llvm::append_range(command, objects);
  for (const std::string &archive : runtimeArchives(linkage))
    command.push_back((fs::path(folder) / archive).string());
#ifdef WEFT_SANITIZER
  // The libraries of a sanitized build call the sanitizer's runtime.
  command.push_back("-fsanitize=" WEFT_SANITIZER);
#endif
  llvm::append_range(command, linkage.target.getLibraries().flags);
  if (linkage.usesMpi)
    command.push_back("-lmpi");
  for (const char *flag : {"-lpthread", "-ldl", "-lm", "-Wl,--build-id=none",
                           "-Wl,--gc-sections", "-Wl,-z,noexecstack"})
    command.push_back(flag);
  chooseLld(command);
  return command;
}

/// Whether a linker says that it found no file of a name.
static bool lacksFile(const Error &error) {
  return error.message().find("find") != std::string::npos ||
         error.message().find("o such file") != std::string::npos;
}

/// A hint about libraries that may be missing on this machine.
static std::string linkHint(const Linkage &linkage) {
  std::string hint = linkage.target.getLibraries().hint;
  return linkage.usesMpi ? hint + " is libopenmpi-dev?" : hint;
}

Status weft::linkExecutable(const Linkage &linkage, const Objects &objects,
                            const std::string &output) {
  Expected<std::string> program = linkProgram(linkage, objects);
  if (!program)
    return program.takeError();
  return writeFile(output, *program, FileMode::Executable);
}

static Status writeObjects(const Objects &objects, const fs::path &folder,
                           Files &files) {
  for (const std::vector<char> &object : objects) {
    files.push_back(
        (folder / ("program-" + std::to_string(files.size()) + ".o")).string());
    if (Status status = writeFile(
            files.back(), std::string_view(object.data(), object.size()));
        !status)
      return status;
  }
  return Status::success();
}

/// Runs the linker's command, which `makeCommand` gives for the files of the
/// objects and of the result, and returns the bytes of the latter.
static Expected<std::string>
linkFile(const Objects &objects, const std::string &hint,
         llvm::function_ref<std::vector<std::string>(const Files &,
                                                     const fs::path &)>
             makeCommand) {
  Expected<Temporary> temporary = makeHelperFolder("weft-link");
  if (!temporary)
    return temporary.takeError();
  fs::path program = fs::path(temporary->path()) / "program";
  Files files;
  if (Status status = writeObjects(objects, temporary->path(), files); !status)
    return status.takeError();
  if (Status status =
          runHelper(makeCommand(files, program), temporary->path(), "linking");
      !status) {
    Error error = status.takeError();
    return lacksFile(error) ? error.hint(hint) : error;
  }
  auto buffer = llvm::MemoryBuffer::getFile(program.string());
  if (!buffer)
    return systemError(ExitCode::Storage, "cannot read the linked program",
                       buffer.getError().value());
  return (*buffer)->getBuffer().str();
}

Expected<std::string> weft::linkProgram(const Linkage &linkage,
                                        const Objects &objects) {
  Expected<std::string> linker = findLinker(), folder = runtimeFolder();
  if (!linker)
    return linker.takeError();
  if (!folder)
    return folder.takeError();
  return linkFile(objects, linkHint(linkage),
                  [&](const Files &files, const fs::path &program) {
                    return linkerCommand(linkage, *linker, *folder, files,
                                         program);
                  });
}

Status weft::linkShared(const std::vector<char> &object,
                        const std::string &output) {
  Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  Expected<std::string> library =
      linkFile({object}, "", [&](const Files &files, const fs::path &program) {
        std::vector<std::string> command = {*linker,
                                            "-shared",
                                            "-o",
                                            program.string(),
                                            files.front(),
                                            "-lm",
                                            "-Wl,--build-id=none"};
        chooseLld(command);
        return command;
      });
  if (!library)
    return library.takeError();
  return writeFile(output, *library, FileMode::Executable);
}
