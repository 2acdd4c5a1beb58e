//===- Toolkit.cpp - The CUDA toolkit of the compiling machine ------------===//

#include "weft/Lowering/Cuda/Cuda.h"

#include "weft/Base/OutputFile.h"
#include "weft/Formats/Digest.h"
#include "weft/Lowering/Cuda/DeviceCode.h"
#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Support/HelperProgram.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace weft;

InFlightDiagnostic weft::emitMachineError(MLIRContext *context,
                                          const Error &error) {
  InFlightDiagnostic diagnostic =
      emitError(UnknownLoc::get(context), error.where());
  if (!error.hintText().empty())
    diagnostic.attachNote() << error.hintText();
  diagnostic.getUnderlyingDiagnostic()->getMetadata().push_back(
      DiagnosticArgument(error.exitStatus()));
  return diagnostic;
}

/// Folders that may be a toolkit, each once.
static SmallVector<std::string> toolkitFolders() {
  if (const char *chosen = std::getenv("WEFT_CUDA_HOME"); chosen && *chosen)
    return {chosen};
  SmallVector<std::string> folders;
  auto add = [&](std::string folder) {
    if (!llvm::is_contained(folders, folder))
      folders.push_back(std::move(folder));
  };
  if (const char *home = std::getenv("CUDA_HOME"); home && *home)
    add(home);
  SmallString<128> real;
  if (auto ptxas = llvm::sys::findProgramByName("ptxas"))
    if (!llvm::sys::fs::real_path(*ptxas, real))
      add(llvm::sys::path::parent_path(llvm::sys::path::parent_path(real))
              .str());
  add("/usr/local/cuda");
  return folders;
}

static std::optional<std::string> findInFolders(ArrayRef<std::string> folders,
                                                StringRef file) {
  for (const std::string &folder : folders) {
    SmallString<128> path(folder);
    llvm::sys::path::append(path, file);
    if (llvm::sys::fs::exists(path))
      return path.str().str();
  }
  return std::nullopt;
}

FailureOr<std::string> weft::findInToolkit(ModuleOp module, StringRef file) {
  SmallVector<std::string> folders = toolkitFolders();
  if (std::optional<std::string> path = findInFolders(folders, file))
    return *path;
  Error error(ExitCode::Device, "expects " + file.str() +
                                    " of a CUDA toolkit, but found none in " +
                                    llvm::join(folders, " or "));
  error.hint("install the CUDA toolkit, or set WEFT_CUDA_HOME to its folder");
  return emitMachineError(module.getContext(), error);
}

/// Falls back to path, size and modification time: an executable file need not
/// be readable.
static std::string identifyFile(const std::string &path) {
  if (Expected<FileDigest> digest = digestFile(path))
    return digest->xxh3;
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status))
    return "none";
  return path + " " + std::to_string(status.getSize()) + " " +
         std::to_string(
             status.getLastModificationTime().time_since_epoch().count());
}

std::string weft::identifyToolkit() {
  std::string identity;
  for (const char *file : {kPtxas, kLibdevice}) {
    std::optional<std::string> path = findInFolders(toolkitFolders(), file);
    identity += (identity.empty() ? "" : " ") +
                (path ? identifyFile(*path) : std::string("none"));
  }
  return identity;
}

/// Writes the PTX to a temporary folder, runs ptxas there and reads its output.
Expected<std::vector<char>> weft::assemblePtx(const std::string &ptxas,
                                              StringRef architecture,
                                              const std::string &ptx,
                                              ArrayRef<std::string> options) {
  Expected<Temporary> folder = makeHelperFolder("weft-ptxas");
  if (!folder)
    return folder.takeError();
  std::string input = folder->path() + "/kernels.ptx";
  std::string output = folder->path() + "/kernels.cubin";
  if (Status status = writeFile(input, ptx); !status)
    return status.takeError().hint(kHelperFolderHint);
  std::vector<std::string> command = {
      ptxas, ("-arch=" + architecture).str(), "-O3", "-o", output, input};
  llvm::append_range(command, options);
  if (Status status = runHelper(command, folder->path(), "assembling"); !status)
    return status.takeError();
  auto code = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!code)
    return systemError(ExitCode::Device, "cannot read its output",
                       code.getError().value())
        .at(ptxas);
  StringRef bytes = (*code)->getBuffer();
  return std::vector<char>(bytes.begin(), bytes.end());
}

//===----------------------------------------------------------------------===//
// Registers in memory
//===----------------------------------------------------------------------===//

/// Registers of a multiprocessor, on all chips that there is a target for, and
/// the most blocks that it takes.
static constexpr unsigned kRegisters = 65536, kMostBlocks = 32;

/// How many blocks of a kernel its registers let a multiprocessor take.
static unsigned countBlocks(const CubinKernel &kernel) {
  uint64_t perBlock = std::max(kernel.registers, 1u);
  for (uint32_t threads : kernel.threads)
    perBlock *= std::max(threads, 1u);
  return std::clamp<uint64_t>(kRegisters / perBlock, 1, kMostBlocks);
}

namespace {
/// How many blocks of a kernel a multiprocessor is to take; 0: ptxas decides.
struct AskedBlocks {
  unsigned blocks = 0;
  unsigned best = 0; // of those asked for, with the fewest bytes in memory
  uint32_t bestBytes = UINT32_MAX;
  bool isSettled = false;
};
} // namespace

/// Of all kernels, by their names.
using AskedOf = llvm::StringMap<AskedBlocks>;

/// Chooses the next number of blocks to request, from the result of the last
/// one.
static void askForLess(AskedBlocks &asked, const CubinKernel &kernel) {
  if (kernel.localBytes < asked.bestBytes) {
    asked.best = asked.blocks;
    asked.bestBytes = kernel.localBytes;
  }
  asked.isSettled = kernel.localBytes == 0 || asked.blocks == 1;
  if (asked.isSettled)
    asked.blocks = asked.best;
  else
    asked.blocks = std::max(
        (asked.blocks == 0 ? countBlocks(kernel) : asked.blocks) - 1, 1u);
}

/// ptxas spills registers to memory to let more blocks run at once. Requests
/// one block less for each kernel that spills, until it spills nothing or one
/// block is left. The request with the fewest spilled bytes is kept. False if
/// no request changes.
static bool askForLess(const Cubin &cubin, AskedOf &asked) {
  bool changes = false;
  for (const CubinKernel &kernel : cubin.kernels) {
    AskedBlocks &of = asked[kernel.name];
    const unsigned before = of.blocks;
    if (!of.isSettled)
      askForLess(of, kernel);
    changes |= of.blocks != before;
  }
  return changes;
}

/// The text of the kernels, with what they are to take.
static std::string withBlocks(std::string ptx, const AskedOf &asked) {
  for (const auto &[kernel, of] : asked) {
    size_t begin = ptx.find((".entry " + kernel + "(").str());
    size_t body = ptx.find("\n{", begin);
    if (of.blocks > 0 && begin != std::string::npos &&
        body != std::string::npos)
      ptx.insert(body, "\n.minnctapersm " + std::to_string(of.blocks));
  }
  return ptx;
}

static Expected<std::vector<char>>
assembleWithoutSpills(const std::string &ptxas, StringRef chip,
                      const std::string &ptx) {
  AskedOf asked;
  for (;;) {
    Expected<std::vector<char>> code =
        assemblePtx(ptxas, chip, withBlocks(ptx, asked));
    if (!code)
      return code;
    Expected<Cubin> cubin =
        readCubin(std::string_view(code->data(), code->size()));
    if (!cubin || !askForLess(*cubin, asked))
      return code;
  }
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

Status weft::checkCubin(const Cubin &cubin, StringRef chip, StringRef kernel) {
  if (cubin.chip != chip)
    return inputError("expects machine code of " + chip.str() +
                      ", but got code of " + cubin.chip);
  if (llvm::none_of(cubin.kernels,
                    [&](auto &entry) { return entry.name == kernel; }))
    return inputError("expects machine code of the kernel " +
                      inQuotes(kernel.str()) + ", but got none");
  return Status::success();
}

/// Checks that the output of ptxas is machine code of the chip with every
/// kernel.
static Status checkAssembled(ModuleOp module, StringRef chip,
                             const std::vector<char> &code) {
  Expected<Cubin> cubin = readCubin(std::string_view(code.data(), code.size()));
  if (!cubin)
    return cubin.takeError();
  auto kernels = module.lookupSymbol<gpu::GPUModuleOp>(kKernelModule);
  for (auto function : kernels.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      if (Status status = checkCubin(*cubin, chip, function.getName()); !status)
        return status;
  return Status::success();
}

FailureOr<std::vector<char>> weft::emitCubin(ModuleOp module,
                                             const CudaTarget &target) {
  FailureOr<std::string> ptxas = findInToolkit(module, kPtxas);
  if (failed(ptxas))
    return failure();
  FailureOr<std::string> ptx = emitPtx(module, target);
  if (failed(ptx))
    return failure();
  Expected<std::vector<char>> code =
      assembleWithoutSpills(*ptxas, target.chip, *ptx);
  if (!code)
    return emitMachineError(module.getContext(), code.error());
  if (Status whole = checkAssembled(module, target.chip, *code); !whole) {
    Error error = whole.takeError();
    error.withCode(ExitCode::Device).at(*ptxas);
    return emitMachineError(module.getContext(), error);
  }
  return std::move(*code);
}
