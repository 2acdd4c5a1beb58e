//===- DriverModule.cpp - Modules of the emulated driver ------------------===//

#include "Driver.h"
#include "Fail.h"
#include "weft/Formats/Cubin.h"
#include "weft/Formats/Digest.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace weft::emulation {

//===----------------------------------------------------------------------===//
// Cubins
//===----------------------------------------------------------------------===//

constexpr uint16_t kCudaMachine = 190;
/// The version of NVIDIA's ELF ABI that CUDA 13 brought.
constexpr unsigned char kNewAbi = 8;

static bool isCubin(const Elf64_Ehdr &header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_machine == kCudaMachine;
}

/// Where the file ends: a program gives its begin alone.
static size_t sizeOf(const Elf64_Ehdr &header) {
  auto *bytes = reinterpret_cast<const char *>(&header);
  size_t end = std::max({size_t(header.e_ehsize),
                         header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr),
                         header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr)});
  for (int i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, bytes + header.e_shoff + i * sizeof(section),
                sizeof(section));
    if (section.sh_type != SHT_NOBITS)
      end = std::max(end, size_t(section.sh_offset + section.sh_size));
  }
  return end;
}

/// The number of the chip that a cubin is for: from version 8 of its format on
/// in the second byte of the flags, before in the first one.
static int chipOf(const Elf64_Ehdr &header) {
  bool isNew = header.e_ident[EI_ABIVERSION] >= kNewAbi;
  return header.e_flags >> (isNew ? 8 : 0) & 0xff;
}

/// Code runs on chips of the same major number, if they are not older.
static bool runsHere(int chip) {
  int here = chipNumber();
  return chip / 10 == here / 10 && chip <= here;
}

//===----------------------------------------------------------------------===//
// Twins
//===----------------------------------------------------------------------===//

/// Kernels of libraries that are loaded from now on find weft_emu_ here, though
/// the program has opened this library for itself alone.
static void shareSymbols() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&weft_emu_place), &info))
    dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

static const WeftTwins *openTwins(const std::string &path) {
  // A name without a folder would be looked for in the loader's.
  std::string place = std::filesystem::absolute(path).string();
  void *library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail(std::string("cannot open twins: ") + dlerror());
  auto *twins = static_cast<const WeftTwins *>(dlsym(library, "weft_twins"));
  if (!twins)
    fail("expects weft_twins in " + path);
  if (twins->version != WEFT_TWINS_VERSION)
    fail("expects twins of version " + std::to_string(WEFT_TWINS_VERSION) +
         ", but got " + std::to_string(twins->version) + " in " + path);
  return twins;
}

static std::vector<std::string> splitPaths(const char *text) {
  std::vector<std::string> paths;
  std::string left = text ? text : "";
  while (!left.empty()) {
    size_t colon = left.find(':');
    if (colon != 0)
      paths.push_back(left.substr(0, colon));
    left = colon == std::string::npos ? "" : left.substr(colon + 1);
  }
  return paths;
}

static std::vector<const WeftTwins *> openAllTwins() {
  shareSymbols();
  std::vector<const WeftTwins *> all;
  for (const std::string &path : splitPaths(std::getenv("WEFT_TWINS")))
    all.push_back(openTwins(path));
  return all;
}

/// Changes a cubin to the ABI version of CUDA 12, as test/Cuda/Inputs/
/// old_ptxas.py does.
static void makeOld(std::string &bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header))
    return;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.e_ident[EI_ABIVERSION] < kNewAbi)
    return;
  header.e_flags = chipOf(header);
  header.e_ident[EI_ABIVERSION] = kNewAbi - 1;
  std::memcpy(bytes.data(), &header, sizeof(header));
}

/// Empty if there is no such file.
static std::string digestOfFile(const std::string &path, bool isOld) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return "";
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (isOld)
    makeOld(bytes);
  return digest128(bytes);
}

static bool isTwinOf(const WeftTwins &twins, const std::string &digest,
                     bool isOld) {
  if (*twins.digest)
    return twins.digest == digest;
  std::vector<std::string> cubins = splitPaths(twins.cubin);
  return std::any_of(cubins.begin(), cubins.end(),
                     [&](const std::string &path) {
                       return digestOfFile(path, isOld) == digest;
                     });
}

const WeftTwins *findTwins(const void *cubin, size_t bytes) {
  static auto *all = new std::vector<const WeftTwins *>(openAllTwins());
  std::string digest = digest128(cubin, bytes);
  const bool isOld =
      bytes >= sizeof(Elf64_Ehdr) &&
      static_cast<const Elf64_Ehdr *>(cubin)->e_ident[EI_ABIVERSION] < kNewAbi;
  for (const WeftTwins *twins : *all)
    if (isTwinOf(*twins, digest, isOld))
      return twins;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static Handles<Module> &modules() {
  static auto *all = new Handles<Module>;
  return *all;
}

static Function *findFunction(CUfunction handle) {
  for (Module *module : modules().all())
    for (const auto &function : module->functions)
      if (function.get() == reinterpret_cast<Function *>(handle))
        return function.get();
  return nullptr;
}

/// Says once of each image that it has no twins.
static CUresult refuseUnknown(const void *image, size_t bytes) {
  static auto *known = new std::set<std::string>;
  std::string digest = digest128(image, bytes);
  if (!known->insert(digest).second)
    return CUDA_ERROR_INVALID_IMAGE;
  return refuse(CUDA_ERROR_INVALID_IMAGE,
                "WEFT_TWINS has no twins of the cubin with the digest " +
                    digest + " (" + std::to_string(bytes) + " bytes)");
}

/// The names of the kernels of a cubin; none where a test has the head of one
/// alone.
static std::set<std::string> namesOf(const void *image, size_t bytes) {
  std::set<std::string> names;
  auto cubin = readCubin({static_cast<const char *>(image), bytes});
  if (!cubin)
    return names;
  for (const CubinKernel &kernel : cubin->kernels)
    names.insert(kernel.name);
  return names;
}

} // namespace weft::emulation

using namespace weft::emulation;

CUresult cuModuleLoadData(CUmodule *handle, const void *image) {
  WEFT_ENTER("cuModuleLoadData", Needs::Context);
  if (!handle || !image)
    return CUDA_ERROR_INVALID_VALUE;
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  if (!isCubin(header))
    return refuse(CUDA_ERROR_INVALID_IMAGE, "expects a cubin");
  if (driverVersion() < 13000 && header.e_ident[EI_ABIVERSION] >= kNewAbi)
    return refuse(CUDA_ERROR_INVALID_IMAGE, "expects a cubin of CUDA 12");
  if (!runsHere(chipOf(header)))
    return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                  "expects a cubin for sm_" + std::to_string(chipNumber()) +
                      ", but got one for sm_" + std::to_string(chipOf(header)));
  size_t bytes = sizeOf(*static_cast<const Elf64_Ehdr *>(image));
  const WeftTwins *library = findTwins(image, bytes);
  if (!library)
    return refuseUnknown(image, bytes);
  Module *module = modules().make();
  module->library = library;
  if (!*library->digest)
    module->names = namesOf(image, bytes);
  *handle = reinterpret_cast<CUmodule>(module);
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule handle) {
  WEFT_ENTER("cuModuleUnload", Needs::Context);
  if (CUresult error = refuseInCapture("cuModuleUnload"))
    return error;
  if (!modules().has(handle))
    return CUDA_ERROR_INVALID_HANDLE;
  runOnDevice([] { queue().finishAll(); });
  modules().remove(reinterpret_cast<Module *>(handle));
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *handle, CUmodule moduleHandle,
                             const char *name) {
  WEFT_ENTER("cuModuleGetFunction", Needs::Context);
  if (!modules().has(moduleHandle))
    return CUDA_ERROR_INVALID_HANDLE;
  auto *module = reinterpret_cast<Module *>(moduleHandle);
  for (int i = 0; i < module->library->numKernels; ++i) {
    const WeftTwin &twin = module->library->kernels[i];
    if (std::strcmp(twin.name, name) != 0 ||
        (!module->names.empty() && !module->names.count(name)))
      continue;
    module->functions.push_back(std::make_unique<Function>());
    module->functions.back()->library = module->library;
    module->functions.back()->twin = &twin;
    *handle = reinterpret_cast<CUfunction>(module->functions.back().get());
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND; // as one asks all images for a kernel
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The largest block: the size in the kernel's bounds, if it has any.
static int maxThreadsOf(const WeftTwin &twin) {
  int threads = 1;
  for (unsigned size : twin.threads)
    threads *= size ? size : 1;
  return twin.threads[0] ? threads : 1024;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
                            CUfunction handle) {
  WEFT_ENTER("cuFuncGetAttribute", Needs::Context);
  Function *function = findFunction(handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = maxThreadsOf(*function->twin);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *value = function->twin->sharedBytes;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = function->maxDynamicShared;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    *value = 32;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    *value = 0;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    *value = chipNumber();
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute,
                            int value) {
  WEFT_ENTER("cuFuncSetAttribute", Needs::Context);
  Function *function = findFunction(handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
    return CUDA_SUCCESS;
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
      value < 0 || value > sharedBytesOfBlock() - function->twin->sharedBytes)
    return CUDA_ERROR_INVALID_VALUE;
  function->maxDynamicShared = value;
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction handle, unsigned gridX, unsigned gridY,
                        unsigned gridZ, unsigned blockX, unsigned blockY,
                        unsigned blockZ, unsigned sharedBytes,
                        CUstream streamHandle, void **arguments, void **extra) {
  WEFT_ENTER("cuLaunchKernel", Needs::Context);
  Stream *stream = findStream(streamHandle);
  Function *function = findFunction(handle);
  if (!stream || !function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (extra)
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "arguments in a buffer");
  return launch(*stream, *function,
                {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes},
                arguments);
}
