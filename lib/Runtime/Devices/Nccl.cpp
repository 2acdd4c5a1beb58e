//===- Nccl.cpp - The entry points of NCCL --------------------------------===//

#include "weft/Runtime/Devices/Nccl.h"

#include "weft/Runtime/Devices/OpenLibrary.h"

using namespace weft;

/// The first one that has ncclAlltoAll.
static constexpr int kLeastVersion = 22800;

std::string weft::ncclVersionText(int version) {
  return std::to_string(version / 10000) + "." +
         std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100);
}

LibraryName NcclLibrary::library() {
  return {"libnccl.so.2", "NCCL (2.28 or later)", cudaLibraryPlaces()};
}

Error NcclLibrary::failure(const char *call, ncclResult_t result,
                           ncclComm_t comm) const {
  std::string text =
      std::string(call) + " failed: " + ncclGetErrorString(result);
  if (const char *more = ncclGetLastError(comm); more && *more)
    text += ": " + std::string(more);
  if (result != ncclUnhandledCudaError)
    return Error(ExitCode::Communication, text);
  // "Cuda failure 2 'out of memory'"
  const bool lacksMemory = text.find("out of memory") != text.npos;
  return Error(lacksMemory ? ExitCode::DoesNotFit : ExitCode::Device, text);
}

/// An older one lacks entry points too: that it is old says more.
static Status checkVersion(NcclLibrary &library) {
  if (!library.ncclGetVersion || !library.ncclGetErrorString ||
      !library.ncclGetLastError)
    return Status::success();
  if (const ncclResult_t got = library.ncclGetVersion(&library.version))
    return library.failure("ncclGetVersion", got, nullptr);
  if (library.version >= kLeastVersion)
    return Status::success();
  return Error(ExitCode::Device,
               "expects NCCL " + ncclVersionText(kLeastVersion) +
                   " or later, but got " + ncclVersionText(library.version));
}

Expected<NcclLibrary> NcclLibrary::open() {
  auto opened = OpenLibrary::open(NcclLibrary::library());
  if (!opened)
    return opened.takeError();
  NcclLibrary library;
  Status complete;
#define WEFT_FIND_ENTRY(name)                                                  \
  if (Status s = opened->find(#name, library.name); !s && complete)            \
    complete = s.takeError();
  WEFT_NCCL_CALLS(WEFT_FIND_ENTRY)
#undef WEFT_FIND_ENTRY
  if (Status s = checkVersion(library); !s)
    return s.takeError();
  if (!complete)
    return complete.takeError();
  return library;
}
