//===- CudaImages.cpp - The machine code of a program ---------------------===//

#include "weft/Runtime/Devices/CudaImages.h"

#include "weft/Abi/CudaChips.h"
#include "weft/Abi/RecordTypes.h"
#include "weft/Runtime/Execute/Context.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>

using namespace weft;

/// Bytes of shared memory that every launch may ask for.
static constexpr unsigned kPlainSharedBytes = 48 * 1024;

/// 90 of "sm_90"; 0 for a name of another form.
static int numberOf(const std::string &chip) {
  return chip.rfind("sm_", 0) == 0 ? std::atoi(chip.c_str() + 3) : 0;
}

static bool runsOn(int code, const CudaChip &chip) {
  return runsOnChip(code, chip.major, chip.minor);
}

std::string weft::compileHint(const CudaChip &chip) {
  if (int target = findCudaChip(chip.major, chip.minor))
    return "compile with --target=cuda:sm_" + std::to_string(target);
  return "no --target makes code for " + chip.name();
}

Expected<std::string> weft::chooseChip(const WeftExecutable &executable,
                                       const CudaChip &chip) {
  std::string best, all;
  std::set<std::string> seen;
  for (int32_t i = 0; i < executable.numImages; ++i) {
    const std::string name = executable.images[i].chip;
    if (!seen.insert(name).second)
      continue;
    all += (all.empty() ? "" : ", ") + name;
    if (runsOn(numberOf(name), chip) && numberOf(name) > numberOf(best))
      best = name;
  }
  if (!best.empty())
    return best;
  return deviceError("expects a device of ", all.empty() ? "no kind" : all,
                     ", but got ", chip.device, " (", chip.name(), ")")
      .hint(compileHint(chip) +
            ", or choose another device with CUDA_VISIBLE_DEVICES");
}

/// Whether a toolkit of CUDA 13 has made an image: its ELF files have version 8
/// of NVIDIA's ABI, which drivers of CUDA 12 do not load.
static bool isOfCuda13(const WeftImage &image) {
  constexpr size_t kAbiVersion = 8; // EI_ABIVERSION
  const auto *bytes = static_cast<const unsigned char *>(image.data);
  return image.bytes > int64_t(kAbiVersion) &&
         std::memcmp(bytes,
                     "\x7f"
                     "ELF",
                     4) == 0 &&
         bytes[kAbiVersion] >= 8;
}

/// CUDA 12.8 is the first version that knows sm_100.
int weft::leastDriver(const WeftExecutable &executable,
                      const std::string &chip) {
  int least = numberOf(chip) >= 100 ? 12080 : 12000;
  for (int32_t i = 0; i < executable.numImages; ++i)
    if (executable.images[i].chip == chip && isOfCuda13(executable.images[i]))
      least = std::max(least, 13000);
  return least;
}

Expected<CudaImages> CudaImages::load(const CudaCalls &cuda,
                                      const WeftExecutable &executable,
                                      const std::string &code,
                                      const CudaChip &device) {
  CudaImages images(cuda, device);
  for (int32_t i = 0; i < executable.numImages; ++i) {
    if (executable.images[i].chip != code)
      continue;
    CUmodule module = nullptr;
    if (Status s = cuda.cuModuleLoadData(&module, executable.images[i].data);
        !s)
      return s.takeError();
    images.modules.emplace_back(cuda.driver(), module);
  }
  return images;
}

Expected<CUfunction> CudaImages::lookUp(const std::string &name) const {
  for (const CudaModule &module : modules) {
    CUfunction function = nullptr;
    // Not through the calls: that one image lacks a kernel is no failure.
    CUresult found = cuda.driver().cuModuleGetFunction(&function, module.get(),
                                                       name.c_str());
    if (found == CUDA_SUCCESS)
      return function;
    if (found != CUDA_ERROR_NOT_FOUND)
      return cuda.failure("cuModuleGetFunction", found);
  }
  return deviceError(
      "expects the kernel ", inQuotes(name),
      " in the images of the program, but cuModuleGetFunction finds none");
}

Expected<CUfunction> CudaImages::find(const std::string &name,
                                      unsigned sharedBytes) {
  auto [entry, isNew] = kernels.try_emplace(name);
  Kernel &kernel = entry->second;
  if (!kernel.function) {
    auto function = lookUp(name);
    if (!function)
      return function.takeError();
    kernel = {*function, kPlainSharedBytes};
  }
  if (sharedBytes <= kernel.sharedBytes)
    return kernel.function;
  if (sharedBytes > unsigned(device.sharedBytes))
    return deviceError("expects at most ", device.sharedBytes,
                       " bytes of shared memory for a block on ", device.device,
                       " (", device.name(), "), but the kernel ",
                       inQuotes(name), " needs ", sharedBytes);
  if (Status s = cuda.cuFuncSetAttribute(
          kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
          int(sharedBytes));
      !s)
    return s.takeError();
  kernel.sharedBytes = sharedBytes;
  return kernel.function;
}

//===- Constants ----------------------------------------------------------===//

CudaConstants::CudaConstants(const WeftExecutable &executable) {
  for (const WeftProgram &program : programsOf(executable))
    for (int32_t i = 0; i < program.numCommands; ++i) {
      // A record of a wrong size is an error of the command.
      const auto *record = findRecord<WEFT_CONSTANT>(program.commands[i]);
      if (!record || !offsets.try_emplace(record, int64_t(all.size())).second)
        continue;
      const char *first = entriesOf<char>(*record);
      all.insert(all.end(), first, first + record->count);
      all.resize(alignConstant(int64_t(all.size())));
    }
}
