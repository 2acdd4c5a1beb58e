//===- DeviceTarget.cpp - --target=cuda, without a chip -------------------===//
//
// The compiler needs no header of CUDA, so the driver's entry points are
// declared here.
//
//===----------------------------------------------------------------------===//

#include "DeviceTarget.h"

#include "weft/Abi/CudaChips.h"
#include "weft/Pipeline/Options/CudaModels.h"

#include <dlfcn.h>

using namespace weft;

namespace {
/// Attributes of a device (CUdevice_attribute of cuda.h).
enum : int { kMajor = 75, kMinor = 76 };

struct Driver {
  int (*cuInit)(unsigned) = nullptr;
  int (*cuDeviceGet)(int *, int) = nullptr;
  int (*cuDeviceGetAttribute)(int *, int, int) = nullptr;
};

struct Capability {
  int major = 0, minor = 0;
};
} // namespace

/// The first file that the loader opens. It stays open: the driver may have
/// threads.
static void *openLibrary() {
  // Containers, and the Windows Subsystem for Linux, have it elsewhere.
  for (const char *file :
       {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1",
        "/usr/lib/wsl/lib/libcuda.so.1"})
    if (void *library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL))
      return library;
  return nullptr;
}

template <typename Entry>
static bool find(void *library, const char *name, Entry *&entry) {
  entry = reinterpret_cast<Entry *>(::dlsym(library, name));
  return entry;
}

static Expected<Driver> openDriver() {
  void *library = openLibrary();
  if (!library)
    return deviceError("there is no libcuda.so.1 of an NVIDIA driver");
  Driver driver;
  if (find(library, "cuInit", driver.cuInit) &&
      find(library, "cuDeviceGet", driver.cuDeviceGet) &&
      find(library, "cuDeviceGetAttribute", driver.cuDeviceGetAttribute))
    return driver;
  return deviceError("libcuda.so.1 is no NVIDIA driver");
}

/// The first device. Results other than 0 are errors.
static Expected<Capability> findCapability() {
  Expected<Driver> driver = openDriver();
  if (!driver)
    return driver.takeError();
  int device = 0;
  Capability found;
  if (driver->cuInit(0) != 0 || driver->cuDeviceGet(&device, 0) != 0 ||
      driver->cuDeviceGetAttribute(&found.major, kMajor, device) != 0 ||
      driver->cuDeviceGetAttribute(&found.minor, kMinor, device) != 0)
    return deviceError("the NVIDIA driver finds none");
  return found;
}

static Error withExamples(Error error) {
  return error.hint("name the chip that the program is for, such as "
                    "--target=cuda:sm_80 (A100), cuda:sm_90 (H100, H200) or "
                    "cuda:sm_100 (B200)");
}

static Expected<std::string> findChip(const FlagValues &flags) {
  if (flags.isSet("device"))
    return findCudaModel(flags.getText("device"))->chip.str();
  Expected<Capability> found = findCapability();
  if (!found)
    return withExamples(deviceError(
        "--target=cuda expects a CUDA device in this machine, but got none: ",
        found.error().message()));
  if (int chip = findCudaChip(found->major, found->minor))
    return "sm_" + std::to_string(chip);
  return withExamples(deviceError(
      "--target=cuda expects a device that weft makes code for, but got sm_",
      found->major, found->minor));
}

Expected<FlagValues> weft::withDeviceTarget(const FlagValues &flags) {
  if (flags.getText("target") != "cuda")
    return flags;
  Expected<std::string> chip = findChip(flags);
  if (!chip)
    return chip.takeError();
  return flags.with("target", "cuda:" + *chip);
}
