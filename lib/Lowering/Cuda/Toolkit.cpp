//===- Toolkit.cpp - The CUDA toolkit of the compiling machine ------------===//

#include "weft/Lowering/Cuda/Cuda.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace weft {

/// Folders that may be a toolkit.
static llvm::SmallVector<std::string> toolkitFolders() {
  if (const char *chosen = std::getenv("WEFT_CUDA_HOME"))
    return {chosen};
  llvm::SmallVector<std::string> folders;
  if (const char *home = std::getenv("CUDA_HOME"))
    folders.push_back(home);
  llvm::SmallString<128> real;
  if (auto ptxas = llvm::sys::findProgramByName("ptxas"))
    if (!llvm::sys::fs::real_path(*ptxas, real))
      folders.push_back(
          llvm::sys::path::parent_path(llvm::sys::path::parent_path(real))
              .str());
  folders.push_back("/usr/local/cuda");
  return folders;
}

FailureOr<std::string> findInToolkit(ModuleOp module, StringRef file) {
  llvm::SmallVector<std::string> folders = toolkitFolders();
  for (const std::string &folder : folders) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, file);
    if (llvm::sys::fs::exists(path))
      return path.str().str();
  }
  InFlightDiagnostic error = module.emitError("expects ")
                             << file << " of a CUDA toolkit, but found none in "
                             << llvm::join(folders, " or ");
  error.attachNote() << "install the CUDA toolkit, or set WEFT_CUDA_HOME to "
                        "its folder";
  return error;
}

namespace {
/// A file for another program, removed at the end.
struct ScratchFile {
  explicit ScratchFile(StringRef ending) {
    failed = bool(llvm::sys::fs::createTemporaryFile("weft", ending, path));
    remover.setFile(path);
  }
  llvm::SmallString<128> path;
  bool failed;
  llvm::FileRemover remover;
};
} // namespace

/// Runs ptxas; its messages follow the error.
static LogicalResult runPtxas(ModuleOp module, StringRef ptxas, StringRef chip,
                              StringRef input, StringRef output,
                              StringRef log) {
  std::string arch = ("-arch=" + chip).str();
  std::optional<StringRef> redirects[] = {StringRef(""), log, log};
  std::string problem;
  int status = llvm::sys::ExecuteAndWait(
      ptxas, {ptxas, arch, "-O3", "-o", output, input}, std::nullopt, redirects,
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
  if (status == 0)
    return success();
  if (problem.empty())
    problem = "exit code " + std::to_string(status);
  if (auto text = llvm::MemoryBuffer::getFile(log))
    problem += ": " + (*text)->getBuffer().trim().substr(0, 4000).str();
  return module.emitError("ptxas failed: ") << problem;
}

FailureOr<std::vector<char>> emitCubin(ModuleOp module,
                                       const CudaTarget &target) {
  FailureOr<std::string> ptxas = findInToolkit(module, "bin/ptxas");
  if (failed(ptxas))
    return failure();
  FailureOr<std::string> ptx = emitPtx(module, target);
  if (failed(ptx))
    return failure();
  ScratchFile input("ptx"), output("cubin"), log("log");
  std::error_code error;
  llvm::raw_fd_ostream stream(input.path, error);
  if (input.failed || output.failed || log.failed || error)
    return module.emitError("found no folder for temporary files");
  stream << *ptx;
  stream.close();
  if (failed(runPtxas(module, *ptxas, target.chip, input.path, output.path,
                      log.path)))
    return failure();
  auto code = llvm::MemoryBuffer::getFile(output.path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!code)
    return module.emitError("cannot read what ptxas has written: ")
           << code.getError().message();
  StringRef bytes = (*code)->getBuffer();
  return std::vector<char>(bytes.begin(), bytes.end());
}

} // namespace weft
