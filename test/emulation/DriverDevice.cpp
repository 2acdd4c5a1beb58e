//===- DriverDevice.cpp - The device of the emulated driver ---------------===//

#include "Block.h"
#include "Driver.h"
#include "Memory.h"
#include "Settings.h"

#include <cstdlib>
#include <cstring>

using namespace weft::emulation;

CUresult cuDeviceGetCount(int *count) {
  WEFT_ENTER("cuDeviceGetCount", Needs::Init);
  *count = 1;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  WEFT_ENTER("cuDeviceGet", Needs::Init);
  if (ordinal != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  *device = 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  WEFT_ENTER("cuDeviceGetName", Needs::Init);
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  const char *chosen = std::getenv("WEFT_EMULATION_NAME");
  std::string text =
      chosen ? chosen : "emulated sm_" + std::to_string(chipNumber());
  if (!name || length <= int(text.size()))
    return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(name, text.c_str(), text.size() + 1);
  return CUDA_SUCCESS;
}

/// The number comes first, so that UUIDs of two numbers differ.
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  WEFT_ENTER("cuDeviceGetUuid_v2", Needs::Init);
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!uuid)
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t number =
      numberSetting("WEFT_EMULATION_UUID", numberSetting("LOCAL_RANK", 0));
  std::memcpy(uuid->bytes, &number, sizeof(number));
  std::memcpy(uuid->bytes + sizeof(number), "emulated", 8);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice device) {
  WEFT_ENTER("cuDeviceGetPCIBusId", Needs::Init);
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  const char *chosen = std::getenv("WEFT_EMULATION_PCI");
  const std::string text = chosen ? chosen : "0000:00:00.0";
  if (!id || length <= int(text.size()))
    return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(id, text.c_str(), text.size() + 1);
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
  WEFT_ENTER("cuDeviceTotalMem_v2", Needs::Init);
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  *bytes = DeviceMemory::get().total();
  return CUDA_SUCCESS;
}

int weft::emulation::sharedBytesOfBlock() {
  return int(numberSetting("WEFT_EMULATION_SHARED",
                           (chipNumber() == 80 ? 163 : 227) << 10));
}

size_t weft::emulation::multicastUnit() {
  return numberSetting("WEFT_EMULATION_MULTICAST", 0);
}

bool weft::emulation::hasFabric() {
  return numberSetting("WEFT_EMULATION_FABRIC", 0) != 0;
}

/// A value, or -1 for an attribute that nothing here asks for.
static int attributeOf(CUdevice_attribute attribute) {
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    return chipNumber() / 10;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    return chipNumber() % 10;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    return processorSetting();
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    return kWarp;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
    return kMaxThreads;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
    return 64;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
    return INT32_MAX;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
    return 65535;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    return 48 << 10;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    return sharedBytesOfBlock();
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    return sharedBytesOfBlock() + 1024;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    return 2048;
  case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
    return multicastUnit() != 0;
  case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
    return hasFabric();
  case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
  case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    return 1;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
  case CU_DEVICE_ATTRIBUTE_INTEGRATED:
  case CU_DEVICE_ATTRIBUTE_ECC_ENABLED:
  case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
  case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
  case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
    return 0;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    return 1000000;
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    return 5120;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    return 50 << 20;
  default:
    return -1;
  }
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                              CUdevice device) {
  WEFT_ENTER("cuDeviceGetAttribute", Needs::Init);
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  int known = attributeOf(attribute);
  if (known < 0)
    return refuse(CUDA_ERROR_INVALID_VALUE, "knows no attribute " +
                                                std::to_string(attribute) +
                                                " of a device");
  *value = known;
  return CUDA_SUCCESS;
}
