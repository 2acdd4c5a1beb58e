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

/// The linker that WEFT_CXX chooses, as a path; "" without the variable. A
/// linker found on the PATH is not part of the digest: a cached program runs on
/// a machine without one.
static std::string identifyChosenLinker() {
  const char *chosen = std::getenv("WEFT_CXX");
  if (!chosen)
    return "";
  auto path = llvm::sys::findProgramByName(chosen);
  return path ? *path + " " + identify(*path) : chosen;
}

Expected<std::string> weft::toolchainDigest(const Linkage &linkage) {
  Expected<std::vector<std::string>> files = toolchainFiles(linkage);
  if (!files)
    return files.takeError();
  Digest digest;
  for (const std::string &file : *files)
    digest.update(identify(file) + "\n");
  digest.update(identifyChosenLinker() + "\n");
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

using Strings = std::vector<std::string>;

/// The runtime and the libraries of a target, as arguments of the linker. No
/// run path and no symbol holds a folder, so the bytes of a program depend on
/// the inputs alone.
static Strings libraryArguments(const Linkage &linkage,
                                const std::string &folder) {
  Strings arguments;
  for (const std::string &archive : runtimeArchives(linkage))
    arguments.push_back((fs::path(folder) / archive).string());
#ifdef WEFT_SANITIZER
  // The libraries of a sanitized build call the sanitizer's runtime.
  arguments.push_back("-fsanitize=" WEFT_SANITIZER);
#endif
  llvm::append_range(arguments, linkage.target.getLibraries().flags);
  for (const char *flag :
       {"-lpthread", "-ldl", "-lm", "-Wl,--gc-sections", "-Wl,-z,noexecstack"})
    arguments.push_back(flag);
  return arguments;
}

/// Whether a linker says that it found no file of a name.
static bool lacksFile(const Error &error) {
  return error.message().find("find") != std::string::npos ||
         error.message().find("o such file") != std::string::npos;
}

Status weft::linkExecutable(const Linkage &linkage, const Objects &objects,
                            const std::string &output) {
  Expected<std::string> program = linkProgram(linkage, objects);
  if (!program)
    return program.takeError();
  return writeFile(output, *program, FileMode::Executable);
}

static Status writeObjects(const Objects &objects, const fs::path &folder,
                           Strings &files) {
  for (const std::vector<char> &object : objects) {
    files.push_back(
        (folder / ("program-" + std::to_string(files.size()) + ".o")).string());
    if (Status status = writeFile(
            files.back(), std::string_view(object.data(), object.size()));
        !status)
      return status.takeError().hint(kHelperFolderHint);
  }
  return Status::success();
}

Expected<std::string> weft::linkObjects(const Objects &objects,
                                        const Strings &arguments,
                                        const std::string &hint) {
  Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  Expected<Temporary> temporary = makeHelperFolder("weft-link");
  if (!temporary)
    return temporary.takeError();
  fs::path result = fs::path(temporary->path()) / "program";
  Strings files;
  if (Status status = writeObjects(objects, temporary->path(), files); !status)
    return status.takeError();
  Strings command = {*linker, "-o", result.string()};
  llvm::append_range(command, files);
  llvm::append_range(command, arguments);
  command.push_back("-Wl,--build-id=none");
  chooseLld(command);
  if (Status status = runHelper(command, temporary->path(), "linking");
      !status) {
    Error error = status.takeError();
    const bool isOfLibrary =
        error.code() == ExitCode::Device && lacksFile(error);
    return isOfLibrary ? error.hint(hint) : error;
  }
  auto buffer = llvm::MemoryBuffer::getFile(result.string());
  if (!buffer)
    return systemError(ExitCode::Storage, "cannot read the linked program",
                       buffer.getError().value());
  return (*buffer)->getBuffer().str();
}

Expected<std::string> weft::linkProgram(const Linkage &linkage,
                                        const Objects &objects) {
  Expected<std::string> folder = runtimeFolder();
  if (!folder)
    return folder.takeError();
  return linkObjects(objects, libraryArguments(linkage, *folder),
                     linkage.target.getLibraries().hint);
}
