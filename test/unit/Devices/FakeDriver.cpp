//===- FakeDriver.cpp - A CUDA driver in a table of functions -------------===//

#include "FakeDriver.h"

#include <cstdlib>
#include <cstring>

using namespace weft;

static FakeDriver *fake = nullptr;

namespace {
using Work = std::function<void()>;
struct FakeGraph {
  std::vector<Work> work;
};

void *pointer(CUdeviceptr address) { return reinterpret_cast<void *>(address); }
template <typename Handle> Handle handle(intptr_t number) {
  return reinterpret_cast<Handle>(number);
}

/// Notes a call; CUDA_SUCCESS unless it is the one to fail.
CUresult enter(const char *call) {
  fake->calls.push_back(call);
  return int(fake->calls.size()) - 1 == fake->failAt ? fake->failure
                                                     : CUDA_SUCCESS;
}

/// A call that makes or gives back something of a kind.
CUresult change(const char *call, const char *kind, int by) {
  CUresult result = enter(call);
  // A released resource is gone, even if the call reports an error.
  if (result == CUDA_SUCCESS || by < 0)
    fake->alive[kind] += by;
  return result;
}

/// A call that gives work to a stream.
CUresult give(const char *call, Work work) {
  CUresult result = enter(call);
  if (result != CUDA_SUCCESS)
    return result;
  if (fake->capturing)
    fake->captured.push_back(std::move(work));
  else
    work();
  return result;
}
} // namespace

FakeDriver::FakeDriver() { fake = this; }
FakeDriver::~FakeDriver() { fake = nullptr; }

int FakeDriver::count(const std::string &call) const {
  int found = 0;
  for (const std::string &one : calls)
    found += one == call;
  return found;
}

std::string FakeDriver::leaks() const {
  std::string text;
  for (const auto &[kind, number] : alive)
    if (number != 0)
      text += kind + " " + std::to_string(number) + ";";
  return text;
}

//===----------------------------------------------------------------------===//
// Machine and memory
//===----------------------------------------------------------------------===//

static void addMachine(CudaDriver &table) {
  table.cuInit = [](unsigned) { return enter("cuInit"); };
  table.cuDriverGetVersion = [](int *out) {
    *out = fake->version;
    return enter("cuDriverGetVersion");
  };
  table.cuDeviceGetCount = [](int *out) {
    *out = fake->devices;
    return enter("cuDeviceGetCount");
  };
  table.cuDeviceGet = [](CUdevice *out, int number) {
    *out = fake->chosen = number;
    return enter("cuDeviceGet");
  };
  table.cuDeviceGetUuid_v2 = [](CUuuid *out, CUdevice number) {
    std::memset(out->bytes, number + 1, sizeof out->bytes);
    return enter("cuDeviceGetUuid_v2");
  };
  table.cuDeviceGetPCIBusId = [](char *out, int bytes, CUdevice) {
    std::strncpy(out, "0000:3B:00.0", size_t(bytes));
    return enter("cuDeviceGetPCIBusId");
  };
  table.cuDeviceGetName = [](char *out, int bytes, CUdevice) {
    std::strncpy(out, "Fake GPU", size_t(bytes));
    return enter("cuDeviceGetName");
  };
  table.cuDeviceGetAttribute = [](int *out, CUdevice_attribute which,
                                  CUdevice) {
    *out =
        which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? fake->major
        : which == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
            ? fake->sharedBytes
        : which == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
            ? fake->mapsMemory
        : which == CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED
            ? int(fake->multicastGranularity != 0)
        : which == CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED
            ? int(fake->hasFabric)
        : which == CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED
            ? 1
            : fake->minor;
    return enter("cuDeviceGetAttribute");
  };
  table.cuDevicePrimaryCtxRetain = [](CUcontext *out, CUdevice) {
    *out = handle<CUcontext>(1);
    return change("cuDevicePrimaryCtxRetain", "context", 1);
  };
  table.cuDevicePrimaryCtxRelease_v2 = [](CUdevice) {
    return change("cuDevicePrimaryCtxRelease_v2", "context", -1);
  };
  table.cuCtxSetCurrent = [](CUcontext) { return enter("cuCtxSetCurrent"); };
  table.cuGetErrorName = [](CUresult result, const char **out) {
    *out = result == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
                                              : "CUDA_ERROR_ILLEGAL_ADDRESS";
    return CUDA_SUCCESS;
  };
  table.cuGetErrorString = [](CUresult, const char **out) {
    *out = "a failure on purpose";
    return CUDA_SUCCESS;
  };
}

static void addMemory(CudaDriver &table) {
  table.cuMemGetInfo_v2 = [](size_t *free, size_t *total) {
    *free = fake->freeBytes;
    *total = fake->totalBytes;
    return enter("cuMemGetInfo_v2");
  };
  table.cuMemGetAllocationGranularity = [](size_t *out,
                                           const CUmemAllocationProp *,
                                           CUmemAllocationGranularity_flags) {
    *out = fake->granularity;
    return enter("cuMemGetAllocationGranularity");
  };
  table.cuMulticastGetGranularity = [](size_t *out,
                                       const CUmulticastObjectProp *,
                                       CUmulticastGranularity_flags) {
    *out = fake->multicastGranularity;
    return enter("cuMulticastGetGranularity");
  };
  table.cuMemAddressReserve = [](CUdeviceptr *out, size_t bytes, size_t,
                                 CUdeviceptr, unsigned long long) {
    CUresult result = change("cuMemAddressReserve", "addresses", 1);
    if (result == CUDA_SUCCESS)
      *out = reinterpret_cast<CUdeviceptr>(std::malloc(bytes));
    return result;
  };
  table.cuMemAddressFree = [](CUdeviceptr memory, size_t) {
    std::free(pointer(memory));
    return change("cuMemAddressFree", "addresses", -1);
  };
  table.cuMemCreate = [](CUmemGenericAllocationHandle *out, size_t bytes,
                         const CUmemAllocationProp *properties,
                         unsigned long long) {
    *out = 1;
    if ((properties->requestedHandleTypes & CU_MEM_HANDLE_TYPE_FABRIC) &&
        !fake->isFabricPermitted)
      return CUDA_ERROR_NOT_PERMITTED;
    fake->memoryBytes = bytes;
    fake->memoryProperties = *properties;
    return change("cuMemCreate", "memory", 1);
  };
  table.cuMemRelease = [](CUmemGenericAllocationHandle) {
    return change("cuMemRelease", "memory", -1);
  };
  table.cuMemMap = [](CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle,
                      unsigned long long) {
    return change("cuMemMap", "mappings", 1);
  };
  table.cuMemUnmap = [](CUdeviceptr, size_t) {
    return change("cuMemUnmap", "mappings", -1);
  };
  table.cuMemSetAccess = [](CUdeviceptr, size_t, const CUmemAccessDesc *,
                            size_t) { return enter("cuMemSetAccess"); };
  table.cuMemAllocHost_v2 = [](void **out, size_t bytes) {
    CUresult result = change("cuMemAllocHost_v2", "host memory", 1);
    if (result == CUDA_SUCCESS)
      *out = std::malloc(bytes);
    return result;
  };
  table.cuMemFreeHost = [](void *memory) {
    std::free(memory);
    return change("cuMemFreeHost", "host memory", -1);
  };
  table.cuMemcpyHtoDAsync_v2 = [](CUdeviceptr to, const void *from,
                                  size_t bytes, CUstream) {
    return give("cuMemcpyHtoDAsync_v2",
                [=] { std::memcpy(pointer(to), from, bytes); });
  };
  table.cuMemcpyDtoHAsync_v2 = [](void *to, CUdeviceptr from, size_t bytes,
                                  CUstream) {
    return give("cuMemcpyDtoHAsync_v2",
                [=] { std::memcpy(to, pointer(from), bytes); });
  };
  table.cuMemcpyDtoDAsync_v2 = [](CUdeviceptr to, CUdeviceptr from,
                                  size_t bytes, CUstream) {
    return give("cuMemcpyDtoDAsync_v2",
                [=] { std::memcpy(pointer(to), pointer(from), bytes); });
  };
  table.cuMemsetD8Async = [](CUdeviceptr to, unsigned char byte, size_t bytes,
                             CUstream) {
    return give("cuMemsetD8Async",
                [=] { std::memset(pointer(to), byte, bytes); });
  };
}

//===----------------------------------------------------------------------===//
// Streams, kernels, graphs
//===----------------------------------------------------------------------===//

static void addStreams(CudaDriver &table) {
  table.cuStreamCreate = [](CUstream *out, unsigned) {
    *out = handle<CUstream>(1);
    return change("cuStreamCreate", "stream", 1);
  };
  table.cuCtxGetStreamPriorityRange = [](int *least, int *greatest) {
    *least = 0, *greatest = -5;
    return enter("cuCtxGetStreamPriorityRange");
  };
  table.cuStreamCreateWithPriority = [](CUstream *out, unsigned, int) {
    *out = handle<CUstream>(1);
    return change("cuStreamCreateWithPriority", "stream", 1);
  };
  table.cuStreamDestroy_v2 = [](CUstream) {
    return change("cuStreamDestroy_v2", "stream", -1);
  };
  table.cuStreamSynchronize = [](CUstream) {
    return enter("cuStreamSynchronize");
  };
  table.cuStreamWaitEvent = [](CUstream, CUevent, unsigned) {
    return enter("cuStreamWaitEvent");
  };
  table.cuStreamWriteValue32_v2 = [](CUstream, CUdeviceptr place,
                                     cuuint32_t value, unsigned) {
    std::memcpy(reinterpret_cast<void *>(place), &value, sizeof value);
    return enter("cuStreamWriteValue32_v2");
  };
  table.cuEventCreate = [](CUevent *out, unsigned) {
    *out = handle<CUevent>(1);
    return change("cuEventCreate", "event", 1);
  };
  table.cuEventDestroy_v2 = [](CUevent) {
    return change("cuEventDestroy_v2", "event", -1);
  };
  table.cuEventRecord = [](CUevent, CUstream) {
    return enter("cuEventRecord");
  };
  table.cuEventRecordWithFlags = [](CUevent, CUstream, unsigned) {
    return enter("cuEventRecordWithFlags");
  };
  table.cuEventSynchronize = [](CUevent) {
    return enter("cuEventSynchronize");
  };
  table.cuEventElapsedTime = [](float *out, CUevent, CUevent) {
    *out = 0.5f;
    return enter("cuEventElapsedTime_v2");
  };
}

static void addKernels(CudaDriver &table) {
  table.cuModuleLoadData = [](CUmodule *out, const void *) {
    *out = handle<CUmodule>(1);
    return change("cuModuleLoadData", "module", 1);
  };
  table.cuModuleUnload = [](CUmodule) {
    return change("cuModuleUnload", "module", -1);
  };
  table.cuModuleGetFunction = [](CUfunction *out, CUmodule, const char *name) {
    CUresult result = enter("cuModuleGetFunction");
    auto found = fake->kernels.find(name);
    if (result == CUDA_SUCCESS && found == fake->kernels.end())
      return CUDA_ERROR_NOT_FOUND;
    if (result == CUDA_SUCCESS)
      *out = reinterpret_cast<CUfunction>(&found->second);
    return result;
  };
  table.cuFuncSetAttribute = [](CUfunction, CUfunction_attribute, int) {
    return enter("cuFuncSetAttribute");
  };
  table.cuLaunchKernel = [](CUfunction function, unsigned, unsigned, unsigned,
                            unsigned, unsigned, unsigned, unsigned, CUstream,
                            void **arguments, void **) {
    const auto *kernel = reinterpret_cast<const FakeKernel *>(function);
    std::vector<void *> values;
    for (int i = 0; i < kernel->arguments; ++i)
      values.push_back(*static_cast<void **>(arguments[i]));
    return give("cuLaunchKernel", [=] { kernel->body(values.data()); });
  };
}

static void addGraphs(CudaDriver &table) {
  table.cuStreamBeginCapture_v2 = [](CUstream, CUstreamCaptureMode) {
    CUresult result = enter("cuStreamBeginCapture_v2");
    fake->capturing = result == CUDA_SUCCESS;
    fake->captured.clear();
    return result;
  };
  table.cuStreamEndCapture = [](CUstream, CUgraph *out) {
    fake->capturing = false;
    CUresult result = change("cuStreamEndCapture", "graph", 1);
    if (result == CUDA_SUCCESS)
      *out = reinterpret_cast<CUgraph>(new FakeGraph{fake->captured});
    return result;
  };
  table.cuGraphDestroy = [](CUgraph graph) {
    delete reinterpret_cast<FakeGraph *>(graph);
    return change("cuGraphDestroy", "graph", -1);
  };
  table.cuGraphInstantiateWithFlags = [](CUgraphExec *out, CUgraph graph,
                                         unsigned long long) {
    CUresult result = change("cuGraphInstantiateWithFlags", "exec", 1);
    if (result == CUDA_SUCCESS)
      *out = reinterpret_cast<CUgraphExec>(
          new FakeGraph(*reinterpret_cast<FakeGraph *>(graph)));
    return result;
  };
  table.cuGraphExecDestroy = [](CUgraphExec exec) {
    delete reinterpret_cast<FakeGraph *>(exec);
    return change("cuGraphExecDestroy", "exec", -1);
  };
  table.cuGraphLaunch = [](CUgraphExec exec, CUstream) {
    auto *graph = reinterpret_cast<FakeGraph *>(exec);
    return give("cuGraphLaunch", [=] {
      for (const Work &work : graph->work)
        work();
    });
  };
}

CudaDriver FakeDriver::table() const {
  CudaDriver table;
  addMachine(table);
  addMemory(table);
  addStreams(table);
  addKernels(table);
  addGraphs(table);
  return table;
}
