//===- BlasLt.cpp - cuBLASLt, opened by name ------------------------------===//

#include "BlasLt.h"

#include "weft/Runtime/Execute/CudaProductRun.h"

using namespace weft;

static LibraryName blasLtLibrary() {
  return {"libcublasLt.so.13", "cuBLAS of CUDA 12 or 13", cudaLibraryPlaces(),
          "libcublasLt.so.12"};
}

/// Versions whose header gives the attributes that products use the same
/// numbers.
static bool isKnown(size_t version) {
  return version / 10000 == 12 || version / 10000 == 13;
}
static_assert(CUBLAS_VER_MAJOR == 12 || CUBLAS_VER_MAJOR == 13,
              "the library has a version of its header");

std::vector<LibraryName> weft::cudaProductLibraries() {
  return {blasLtLibrary()};
}

static Status findEntries(const OpenLibrary &library, BlasLtEntries &entries) {
#define WEFT_FIND_ENTRY(name)                                                  \
  if (Status s = library.find("cublasLt" #name, entries.name); !s)             \
    return s;
  WEFT_BLASLT_CALLS(WEFT_FIND_ENTRY)
  WEFT_BLASLT_QUESTIONS(WEFT_FIND_ENTRY)
#undef WEFT_FIND_ENTRY
  return Status::success();
}

Expected<std::unique_ptr<BlasLt>> BlasLt::open() {
  Expected<OpenLibrary> library = OpenLibrary::open(blasLtLibrary());
  if (!library)
    return library.takeError();
  std::unique_ptr<BlasLt> opened(new BlasLt);
  if (Status status = findEntries(*library, opened->table); !status)
    return status.takeError();
  const size_t version = opened->table.GetVersion();
  opened->versionNumber = versionText(version);
  opened->description =
      "cuBLASLt " + opened->versionNumber + " (" + library->path() + ")";
  if (!isKnown(version))
    return deviceError("expects cuBLASLt 12 or 13, but got ",
                       opened->description);
  BlasLtCalls calls(*opened);
  calls.Create(&opened->lightHandle);
  if (!calls.ok())
    return calls.take().takeError();
  return opened;
}

/// Ignores the status of Destroy: no later call depends on it.
BlasLt::~BlasLt() {
  if (lightHandle)
    table.Destroy(lightHandle);
}

Status BlasLt::check(const char *entry, cublasStatus_t status) const {
  if (status == CUBLAS_STATUS_SUCCESS)
    return Status::success();
  return failedCall(entry,
                    concat(table.GetStatusName(status), " (", status, ")"),
                    status == CUBLAS_STATUS_ALLOC_FAILED);
}
