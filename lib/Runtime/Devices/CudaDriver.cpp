//===- CudaDriver.cpp - The entry points of the CUDA driver ---------------===//

#include "weft/Runtime/Devices/CudaDriver.h"

#include "weft/Runtime/Devices/OpenLibrary.h"

#include <algorithm>

using namespace weft;

/// The first version with the entry points that programs need. Their machine
/// code may need a later one (CudaImages.h).
static constexpr int kLeastVersion = 12000;

/// Newer entry points, and what programs use on older drivers: another entry
/// point of the same form, or "" for none.
static constexpr std::pair<const char *, const char *> kNewerEntries[] = {
    {"cuEventElapsedTime_v2", "cuEventElapsedTime"}, // since 12.8
    {"cuMulticastGetGranularity", ""}};              // since 12.1

std::string weft::cudaVersionText(int version) {
  return concat(version / 1000, ".", version % 1000 / 10);
}

std::string weft::driverText(int version) {
  return version >= 13000 ? "580" : version >= 12080 ? "570" : "525";
}

/// Finds an entry point, or what takes its place on older drivers.
template <typename Entry>
static Status findEntry(const OpenLibrary &library, const char *name,
                        Entry *&entry) {
  Status found = library.find(name, entry);
  if (found)
    return found;
  for (const auto &[newer, older] : kNewerEntries)
    if (std::string_view(name) == newer)
      return *older ? library.find(older, entry) : Status::success();
  return found;
}

/// An older driver also lacks entry points, but its version is the clearer
/// error.
static Status checkVersion(const CudaCalls &cuda) {
  const CudaDriver &table = cuda.driver();
  if (!table.cuDriverGetVersion || !table.cuGetErrorName ||
      !table.cuGetErrorString)
    return Status::success();
  int version = 0;
  if (Status s = cuda.cuDriverGetVersion(&version); !s)
    return s;
  if (version >= kLeastVersion)
    return Status::success();
  return deviceError("expects an NVIDIA driver for CUDA ",
                     cudaVersionText(kLeastVersion), ", but got one for CUDA ",
                     cudaVersionText(version))
      .hint("install driver " + driverText(kLeastVersion) + " or later");
}

// The places are for machines whose loader does not find it: containers, and
// the Windows Subsystem for Linux.
LibraryName CudaDriver::library() {
  return {"libcuda.so.1",
          "the NVIDIA driver (525 or later)",
          {"/usr/local/nvidia/lib64", "/usr/lib/wsl/lib"}};
}

Expected<CudaDriver> CudaDriver::open() {
  auto library = OpenLibrary::open(CudaDriver::library());
  if (!library)
    return library.takeError();
  CudaDriver driver;
  Status complete;
#define WEFT_FIND_ENTRY(name)                                                  \
  if (Status s = findEntry(*library, #name, driver.name); !s && complete)      \
    complete = s.takeError();
  WEFT_CUDA_DRIVER_CALLS(WEFT_FIND_ENTRY)
#undef WEFT_FIND_ENTRY
  if (Status s = checkVersion(CudaCalls(driver)); !s)
    return s.takeError();
  if (!complete)
    return complete.takeError();
  return driver;
}

Error CudaCalls::failure(const char *call, CUresult result) const {
  const char *name = nullptr, *text = nullptr;
  if (table.cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
    name = "an error without name";
  if (table.cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
    text = "no more is known";
  const bool isFull = result == CUDA_ERROR_OUT_OF_MEMORY;
  return Error(isFull ? ExitCode::DoesNotFit : ExitCode::Device,
               std::string("expects ") + call + " to succeed, but got " + name +
                   " (" + std::to_string(int(result)) + ", " + text + ")");
}

Expected<CudaHostMemory> weft::makeHostMemory(const CudaCalls &cuda,
                                              int64_t bytes) {
  void *memory = nullptr;
  if (Status s =
          cuda.cuMemAllocHost_v2(&memory, size_t(std::max<int64_t>(bytes, 1)));
      !s && s.error().code() == ExitCode::DoesNotFit)
    return memoryError(s.error().message(), " for ", humanBytes(bytes),
                       " of pinned memory of the host")
        .hint("it is memory of the machine that nothing else may use: end "
              "other programs, or raise the limit of locked memory (ulimit "
              "-l)");
  else if (!s)
    return s.takeError();
  return CudaHostMemory(cuda.driver(), memory);
}

Expected<CudaStream> weft::makeStream(const CudaCalls &cuda) {
  CUstream stream = nullptr;
  if (Status s = cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING); !s)
    return s.takeError();
  return CudaStream(cuda.driver(), stream);
}

Expected<CudaStream> weft::makeUrgentStream(const CudaCalls &cuda) {
  int least = 0, greatest = 0;
  if (Status s = cuda.cuCtxGetStreamPriorityRange(&least, &greatest); !s)
    return s.takeError();
  CUstream stream = nullptr;
  if (Status s = cuda.cuStreamCreateWithPriority(
          &stream, CU_STREAM_NON_BLOCKING, greatest);
      !s)
    return s.takeError();
  return CudaStream(cuda.driver(), stream);
}

Expected<CudaEvent> weft::makeEvent(const CudaCalls &cuda, bool timed) {
  CUevent event = nullptr;
  const unsigned flags = timed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING;
  if (Status s = cuda.cuEventCreate(&event, flags); !s)
    return s.takeError();
  return CudaEvent(cuda.driver(), event);
}
