//===- HelperProgram.cpp - Programs that work for us ----------------------===//

#include "weft/Support/HelperProgram.h"

#include "weft/Base/OutOfMemory.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <cstring>
#include <filesystem>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace fs = std::filesystem;

using namespace mlir;
using namespace weft;

Expected<Temporary> weft::makeHelperFolder(const std::string &stem) {
  std::error_code error;
  fs::path base = fs::temp_directory_path(error);
  if (error)
    return storageError("found no folder for temporary files: " +
                        error.message())
        .hint("set TMPDIR to a folder that exists");
  Expected<Temporary> folder = Temporary::folder((base / stem).string());
  if (!folder)
    return folder.takeError().hint(kHelperFolderHint);
  return folder;
}

/// The environment with TMPDIR, under which compilers make their temporaries.
static std::vector<std::string> makeEnvironment(const std::string &folder) {
  std::vector<std::string> result = {"TMPDIR=" + folder};
  for (char **entry = environ; *entry; ++entry)
    if (std::strncmp(*entry, "TMPDIR=", 7) != 0)
      result.push_back(*entry);
  return result;
}

/// Starts the program in a group of its own, which signals end from now on, and
/// waits for it. Returns its exit code, or fills `problem`.
static int runInGroup(ArrayRef<StringRef> args, ArrayRef<StringRef> environment,
                      StringRef log, std::string &problem) {
  std::optional<StringRef> redirects[] = {"", log, log};
  bool failed = false;
  startHelper();
  llvm::sys::ProcessInfo child = llvm::sys::ExecuteNoWait(
      args[0], args, environment, redirects, /*MemoryLimit=*/0, &problem,
      &failed, /*AffinityMask=*/nullptr, /*DetachProcess=*/true);
  setHelperGroup(failed ? 0 : child.Pid);
  if (failed)
    return -1;
  llvm::sys::ProcessInfo ended =
      llvm::sys::Wait(child, /*SecondsToWait=*/std::nullopt, &problem);
  setHelperGroup(0);
  return ended.ReturnCode;
}

HelperEnd weft::waitForHelper(const std::vector<std::string> &command,
                              const std::string &folder) {
  const std::string log = folder + "/log";
  const std::vector<std::string> environment = makeEnvironment(folder);
  SmallVector<StringRef> args(command.begin(), command.end());
  SmallVector<StringRef> variables(environment.begin(), environment.end());
  // Processes that the helper started become our children when it ends, so that
  // none of them works in the folder when it is removed.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  removeTemporariesOnSignals();
  HelperEnd end;
  end.code = runInGroup(args, variables, log, end.problem);
  if (end.code == 0)
    return end;
  if (auto text = llvm::MemoryBuffer::getFile(log))
    end.said = (*text)->getBuffer().trim().substr(0, 4000).str();
  return end;
}

/// Whether the process has a limit on memory, which its helpers inherit.
static bool isMemoryLimited() {
  for (auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit;
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      return true;
  }
  return false;
}

/// Whether a helper that has failed says, or shows by its end, that it got no
/// memory: a loader ends with 127, and what crashes under a limit has not
/// checked an allocation.
static bool lacksMemory(const HelperEnd &end) {
  constexpr int kNotLoaded = 127;
  const std::string text = end.problem + "\n" + end.said;
  for (const char *words :
       {"annot allocate memory", "ut of memory", "emory exhausted", "bad_alloc",
        "failed to map", "cannot map", "pthread_create failed"})
    if (text.find(words) != std::string::npos)
      return true;
  return isMemoryLimited() && (end.code < 0 || end.code == kNotLoaded ||
                               text.find("due to signal") != text.npos);
}

/// Whether a helper that has failed got no space on the disk of `folder`, of
/// which little is free even without its output. A linker that maps its output
/// gets a bus error, and its messages need space too.
static bool lacksSpace(const HelperEnd &end, const std::string &folder) {
  if (end.said.find("No space left on device") != std::string::npos)
    return true;
  // A few programs: a helper may have removed its output since.
  constexpr uintmax_t kLeastBytes = uintmax_t(64) << 20;
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  const bool isFull = !error && space.available < kLeastBytes;
  const bool saysNothing = end.problem.empty() && end.said.empty();
  const bool isBusError = end.said.find("Bus error") != std::string::npos ||
                          end.problem.find("Bus error") != std::string::npos;
  return isFull && (saysNothing || isBusError);
}

Status weft::runHelper(const std::vector<std::string> &command,
                       const std::string &folder, const std::string &work) {
  const HelperEnd end = waitForHelper(command, folder);
  if (end.code == 0)
    return Status::success();
  if (lacksMemory(end))
    return noMemoryError().during(work).at(command[0]);
  std::string problem = end.problem.empty()
                            ? "exit code " + std::to_string(end.code)
                            : end.problem;
  if (!end.said.empty())
    problem += ": " + end.said;
  if (lacksSpace(end, folder))
    return storageError(work + " failed on a full disk: " + problem)
        .at(folder)
        .hint(kHelperFolderHint);
  return Error(ExitCode::Device, work + " failed: " + problem).at(command[0]);
}
