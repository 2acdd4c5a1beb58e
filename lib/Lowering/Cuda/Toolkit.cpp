//===- Toolkit.cpp - The CUDA toolkit of the compiling machine ------------===//

#include "weft/Lowering/Cuda/Cuda.h"

#include "weft/Formats/OutputFile.h"
#include "weft/Support/HelperProgram.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace mlir;

namespace weft {

/// Folders that may be a toolkit.
static llvm::SmallVector<std::string> toolkitFolders() {
  if (const char *chosen = std::getenv("WEFT_CUDA_HOME"); chosen && *chosen)
    return {chosen};
  llvm::SmallVector<std::string> folders;
  if (const char *home = std::getenv("CUDA_HOME"); home && *home)
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

/// Writes the text for ptxas, runs it in a folder and reads what it has made.
static Expected<std::vector<char>>
assemble(const std::string &ptxas, StringRef chip, const std::string &ptx) {
  Expected<Temporary> folder = makeHelperFolder("weft-ptxas");
  if (!folder)
    return folder.takeError();
  std::string input = folder->path() + "/kernels.ptx";
  std::string output = folder->path() + "/kernels.cubin";
  if (Status status = writeFile(input, ptx); !status)
    return status.takeError();
  if (Status status = runHelper(
          {ptxas, ("-arch=" + chip).str(), "-O3", "-o", output, input},
          folder->path(), ptxas);
      !status)
    return status.takeError();
  auto code = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!code)
    return storageError("cannot read what " + ptxas +
                        " has written: " + code.getError().message());
  StringRef bytes = (*code)->getBuffer();
  return std::vector<char>(bytes.begin(), bytes.end());
}

FailureOr<std::vector<char>> emitCubin(ModuleOp module,
                                       const CudaTarget &target) {
  FailureOr<std::string> ptxas = findInToolkit(module, "bin/ptxas");
  if (failed(ptxas))
    return failure();
  FailureOr<std::string> ptx = emitPtx(module, target);
  if (failed(ptx))
    return failure();
  Expected<std::vector<char>> code = assemble(*ptxas, target.chip, *ptx);
  if (!code)
    return module.emitError(code.error().message());
  return std::move(*code);
}

} // namespace weft
