//===- Link.cpp - Object code becomes an executable -----------------------===//

#include "weft/Pipeline/Link.h"

#include "weft/Formats/Digest.h"
#include "weft/Formats/OutputFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace weft;
namespace fs = std::filesystem;

/// In link order: each may use the ones behind it.
static const char *const kLibraries[] = {
    "libWeftRuntimeMain.a", "libWeftRuntime.a", "libWeftCpuKernels.a",
    "libWeftRuntimeCore.a", "libWeftFormats.a",
};

static Expected<std::string> runningTool() {
  std::error_code error;
  fs::path tool = fs::read_symlink("/proc/self/exe", error);
  if (error)
    return Error(ExitCode::Internal,
                 "cannot find the running program: " + error.message());
  return tool.string();
}

Expected<std::string> weft::runtimeFolder() {
  Expected<std::string> tool = runningTool();
  if (!tool)
    return tool.takeError();
  fs::path prefix = fs::path(*tool).parent_path().parent_path();
  for (const char *name : {"lib", "lib/weft"})
    if (fs::exists(prefix / name / kLibraries[0]))
      return (prefix / name).string();
  return Error(ExitCode::Internal,
               std::string("cannot find ") + kLibraries[0] + " beside the tool")
      .at((prefix / "lib").string());
}

Expected<std::string> weft::toolchainDigest() {
  Expected<std::string> tool = runningTool(), folder = runtimeFolder();
  if (!tool)
    return tool.takeError();
  if (!folder)
    return folder.takeError();
  std::vector<std::string> files = {*tool};
  for (const char *library : kLibraries)
    files.push_back((fs::path(*folder) / library).string());
  Digest digest;
  for (const std::string &file : files) {
    Expected<FileDigest> one = digestFile(file);
    if (!one)
      return one.takeError();
    digest.update(one->xxh3);
  }
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
  return Error(ExitCode::Usage, "found no C++ compiler to link with")
      .hint("install g++ or clang, or set WEFT_CXX");
}

namespace {
/// A folder that goes away with its contents.
struct TemporaryFolder {
  fs::path path;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path.empty())
      fs::remove_all(path, ignored);
  }
};
} // namespace

static Status makeTemporaryFolder(TemporaryFolder &folder) {
  std::error_code error;
  fs::path base = fs::temp_directory_path(error);
  std::string pattern = (base / "weft-XXXXXX").string();
  if (error || !mkdtemp(pattern.data()))
    return storageError("cannot make a temporary folder: " + errnoText(errno))
        .at(base.string());
  folder.path = pattern;
  return Status::success();
}

/// Runs the linker; on failure its own messages follow the error.
static Status runLinker(const std::vector<std::string> &command,
                        const std::string &log) {
  llvm::SmallVector<llvm::StringRef> args(command.begin(), command.end());
  std::optional<llvm::StringRef> redirects[] = {
      llvm::StringRef(""), llvm::StringRef(log), llvm::StringRef(log)};
  std::string problem;
  int status = llvm::sys::ExecuteAndWait(command[0], args, std::nullopt,
                                         redirects, 0, 0, &problem);
  if (status == 0)
    return Status::success();
  if (problem.empty())
    problem = "exit code " + std::to_string(status);
  if (auto text = llvm::MemoryBuffer::getFile(log))
    if (llvm::StringRef said = (*text)->getBuffer().trim(); !said.empty())
      problem += ": " + said.substr(0, 4000).str();
  return Error(ExitCode::Internal, "linking failed: " + problem)
      .at(command[0])
      .hint("is libdnnl-dev installed?");
}

/// Moves a finished file to its place with a rename, so that readers see the
/// old or the new one.
static Status install(const fs::path &from, const std::string &output) {
  auto buffer = llvm::MemoryBuffer::getFile(from.string());
  if (!buffer)
    return storageError("cannot read the linked program: " +
                        buffer.getError().message());
  if (Status status =
          writeFile(output, std::string_view((*buffer)->getBufferStart(),
                                             (*buffer)->getBufferSize()));
      !status)
    return status;
  if (!fs::is_regular_file(output))
    return Status::success();
  mode_t mask = umask(0);
  umask(mask);
  if (chmod(output.c_str(), 0777 & ~mask) != 0)
    return storageError("cannot make it executable: " + errnoText(errno))
        .at(output);
  return Status::success();
}

Status weft::linkExecutable(const std::vector<char> &object,
                            const std::string &output) {
  Expected<std::string> linker = findLinker(), folder = runtimeFolder();
  if (!linker)
    return linker.takeError();
  if (!folder)
    return folder.takeError();
  TemporaryFolder temporary;
  if (Status status = makeTemporaryFolder(temporary); !status)
    return status;
  fs::path objectFile = temporary.path / "program.o";
  fs::path program = temporary.path / "program";
  if (Status status = writeFile(objectFile.string(),
                                std::string_view(object.data(), object.size()));
      !status)
    return status;
  // The folder of a library would enter a run path or a symbol: neither does
  // here, and no build id is made, so the bytes depend on the inputs alone.
  std::vector<std::string> command = {*linker, "-o", program.string(),
                                      objectFile.string()};
  for (const char *library : kLibraries)
    command.push_back((fs::path(*folder) / library).string());
#ifdef WEFT_SANITIZER
  // The libraries of a sanitized build call the sanitizer's runtime.
  command.push_back("-fsanitize=" WEFT_SANITIZER);
#endif
  for (const char *flag :
       {"-ldnnl", "-l:libgomp.so.1", "-lpthread", "-ldl", "-lm",
        "-Wl,--build-id=none", "-Wl,--gc-sections", "-Wl,-z,noexecstack"})
    command.push_back(flag);
  if (auto lld = llvm::sys::findProgramByName("ld.lld-22"))
    if (fs::path(*linker).filename().string().rfind("clang", 0) == 0)
      command.push_back("--ld-path=" + *lld);
  if (Status status = runLinker(command, (temporary.path / "log").string());
      !status)
    return status;
  return install(program, output);
}
