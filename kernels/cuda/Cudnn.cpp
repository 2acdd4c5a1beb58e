//===- Cudnn.cpp - cuDNN, opened by name ----------------------------------===//

#include "Cudnn.h"

#include "weft/Runtime/Devices/OpenLibrary.h"
#include "weft/Runtime/Execute/CudaProductRun.h"

using namespace weft;

static LibraryName cudnnLibrary() {
  return {"libcudnn.so.9", "cuDNN 9 for CUDA 13", cudaLibraryPlaces()};
}
static_assert(CUDNN_MAJOR == 9, "the library has the version of its header");

static Status findEntries(const OpenLibrary &library, CudnnEntries &table) {
#define WEFT_FIND_ENTRY(name)                                                  \
  if (Status s = library.find("cudnn" #name, table.name); !s)                  \
    return s;
  WEFT_CUDNN_CALLS(WEFT_FIND_ENTRY)
  WEFT_CUDNN_QUESTIONS(WEFT_FIND_ENTRY)
#undef WEFT_FIND_ENTRY
  return Status::success();
}

/// cuDNN compiles with NVRTC, which it opens by name: one that lies where only
/// we look is there if it has been opened.
static LibraryName compilerLibrary() {
  return {"libnvrtc.so.13", "NVRTC of CUDA 13", cudaLibraryPlaces()};
}

std::vector<LibraryName> weft::cudnnLibraries() {
  return {cudnnLibrary(), compilerLibrary()};
}

std::string Cudnn::versionName() const { return versionText(version()); }

Expected<std::unique_ptr<Cudnn>> Cudnn::open() {
  Expected<OpenLibrary> library = OpenLibrary::open(cudnnLibrary());
  if (!library)
    return library.takeError();
  CudnnEntries entries;
  if (Status status = findEntries(*library, entries); !status)
    return status.takeError();
  if (Status compiler = findLibraries({compilerLibrary()}); !compiler)
    return compiler.takeError();
  return open(entries, library->path());
}

Expected<std::unique_ptr<Cudnn>> Cudnn::open(const CudnnEntries &entries,
                                             const std::string &path) {
  std::unique_ptr<Cudnn> opened(new Cudnn);
  opened->table = entries;
  const size_t version = opened->version();
  opened->description = "cuDNN " + opened->versionName() + " (" + path + ")";
  if (version / 10000 != CUDNN_MAJOR || version < kOldest)
    return Error(ExitCode::Device,
                 "expects cuDNN " + std::to_string(CUDNN_MAJOR) + " from " +
                     versionText(kOldest) + ", but got " + opened->description);
  CudnnCalls calls(*opened);
  calls.Create(&opened->backendHandle);
  if (!calls.ok())
    return calls.take().takeError();
  return opened;
}

/// Ignores the status of Destroy: no later call depends on it.
Cudnn::~Cudnn() {
  if (backendHandle)
    table.Destroy(backendHandle);
}

Status Cudnn::check(const char *entry, cudnnStatus_t status) const {
  if (status == CUDNN_STATUS_SUCCESS)
    return Status::success();
  char text[512] = "";
  table.GetLastErrorString(text, sizeof text - 1);
  std::string reason = text;
  const bool isOutOfMemory =
      status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
      status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
  return failedCall(
      entry,
      std::string(table.GetErrorString(status)) + " (" +
          std::to_string(status) + ")" +
          (reason.empty() ? "" : ": " + reason.substr(0, reason.find('\n'))),
      isOutOfMemory);
}
