//===- CudnnPlans.cpp - Workspaces of plans of the real cuDNN -------------===//
//
// Has the real library plan attention for devices that are not there, from
// their properties, and compares the workspaces with their bound
// (CudnnAttention.h). Needs cuDNN and NVRTC, but no GPU: the driver is
// PlansDriver.cpp.
//
//===----------------------------------------------------------------------===//

#include "AttentionGraphs.h"

#include "weft/Abi/CudnnAttention.h"
#include "weft/Runtime/Devices/OpenLibrary.h"

#include <cstdio>
#include <cstring>
#include <map>

using namespace weft;
using namespace weft::cuda;

//===----------------------------------------------------------------------===//
// The library without a device
//===----------------------------------------------------------------------===//

static CudnnEntries real;
static cudnnBackendDescriptor_t properties;
static std::map<void *, cudnnBackendDescriptorType_t> types;

static cudnnStatus_t create(cudnnHandle_t *handle) {
  *handle = reinterpret_cast<cudnnHandle_t>(&properties);
  return CUDNN_STATUS_SUCCESS;
}
static cudnnStatus_t destroy(cudnnHandle_t) { return CUDNN_STATUS_SUCCESS; }

static cudnnStatus_t createDescriptor(cudnnBackendDescriptorType_t type,
                                      cudnnBackendDescriptor_t *made) {
  const cudnnStatus_t status = real.BackendCreateDescriptor(type, made);
  types[*made] = type;
  return status;
}

/// There is no handle: the properties of a device take its place.
static cudnnStatus_t setAttribute(cudnnBackendDescriptor_t to,
                                  cudnnBackendAttributeName_t name,
                                  cudnnBackendAttributeType_t type,
                                  int64_t count, const void *values) {
  return type == CUDNN_TYPE_HANDLE
             ? CUDNN_STATUS_SUCCESS
             : real.BackendSetAttribute(to, name, type, count, values);
}

static cudnnStatus_t finalize(cudnnBackendDescriptor_t descriptor) {
  const cudnnBackendDescriptorType_t type = types[descriptor];
  if (type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR ||
      type == CUDNN_BACKEND_ENGINE_DESCRIPTOR)
    real.BackendSetAttribute(descriptor,
                             type == CUDNN_BACKEND_ENGINE_DESCRIPTOR
                                 ? CUDNN_ATTR_ENGINE_DEVICEPROP
                                 : CUDNN_ATTR_ENGINEHEUR_DEVICEPROP,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &properties);
  return real.BackendFinalize(descriptor);
}

/// A100, H100, B200.
static std::string propertiesOf(int chip) {
  const int processors = chip < 90 ? 108 : chip < 100 ? 132 : 148;
  const int shared = chip < 90 ? 166912 : 232448;
  return "{\"maxGridSize\": [2147483647, 65535, 65535], "
         "\"maxBlockSize\": [1024, 1024, 64], \"regsPerBlock\": 65536, "
         "\"warpSize\": 32, \"maxSharedMemoryPerBlock\": 49152, "
         "\"reservedSharedMemoryPerBlock\": 1024, \"maxRegistersPerSM\": "
         "65536, \"maxCtasPerSM\": 32, \"maxThreadsPerBlock\": 1024, "
         "\"maxThreadsPerSM\": 2048, \"pciDeviceId\": 0, \"isTccDriver\": 0, "
         "\"supportCoopLaunch\": 1, \"smClockRateKHz\": 1980000, "
         "\"memClockRateKHz\": 3201000, \"l2CacheSize\": 62914560, "
         "\"deviceName\": \"GPU\", \"driverVer\": 13000, \"cudaDeviceId\": 0, "
         "\"totalGlobalMem\": 80000000000, \"multiProcessorCount\": " +
         std::to_string(processors) +
         ", \"maxSharedMemoryPerBlockOptin\": " + std::to_string(shared) +
         ", \"deviceVer\": " + std::to_string(chip * 10) + "}";
}

static bool setDevice(int chip) {
  const std::string text = propertiesOf(chip);
  real.BackendCreateDescriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR,
                               &properties);
  real.BackendSetAttribute(
      properties, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
      static_cast<int64_t>(text.size()), text.data());
  return real.BackendFinalize(properties) == CUDNN_STATUS_SUCCESS;
}

static Expected<std::unique_ptr<Cudnn>> openWithoutDevice() {
  Expected<OpenLibrary> library =
      OpenLibrary::open({"libcudnn.so.9", "cuDNN", cudaLibraryPlaces()});
  if (!library)
    return library.takeError();
#define WEFT_FIND(name)                                                        \
  real.name =                                                                  \
      reinterpret_cast<decltype(real.name)>(*library->find("cudnn" #name));
  WEFT_CUDNN_CALLS(WEFT_FIND)
  WEFT_CUDNN_QUESTIONS(WEFT_FIND)
#undef WEFT_FIND
  CudnnEntries entries = real;
  entries.Create = create;
  entries.Destroy = destroy;
  entries.BackendCreateDescriptor = createDescriptor;
  entries.BackendSetAttribute = setAttribute;
  entries.BackendFinalize = finalize;
  return Cudnn::open(entries, library->path());
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

namespace {
enum Layout { Dense, Packed, HeadsFirst };
struct Shape {
  int64_t batch, queries, keys, heads, keyHeads, size, causal;
  Layout layout;
};
} // namespace

static const Shape kShapes[] = {
    {32, 1024, 1024, 12, 12, 64, 1, Packed},
    {4, 2048, 2048, 16, 4, 128, 1, Dense},
    {1, 512, 512, 2, 1, 256, 1, Dense},
    {2, 200, 200, 4, 2, 64, 1, Dense},
    {2, 128, 128, 4, 1, 128, 1, HeadsFirst},
    {2, 100, 100, 4, 4, 40, 1, Dense},
    {2, 96, 96, 4, 2, 96, 1, HeadsFirst},
    {2, 65, 65, 6, 3, 72, 1, Packed},
    {2, 64, 64, 4, 4, 32, 0, Packed},
    {1, 100, 300, 2, 2, 64, 0, Dense},
    {2, 7, 7, 4, 4, 16, 1, Dense},
    {2, 64, 64, 4, 4, 8, 1, Dense},
};

static WeftAttentionGradRecord recordOf(const Shape &shape) {
  WeftAttentionGradRecord record = {};
  WeftAttentionRecord &s = record.forward;
  s.batch = shape.batch, s.queries = shape.queries, s.keys = shape.keys;
  s.heads = shape.heads, s.keyHeads = shape.keyHeads, s.headSize = shape.size;
  s.causal = shape.causal, s.dtype = WEFT_F16, s.scale = 0.125;
  auto strides = [&](int64_t rows, int64_t heads) -> WeftHeadStrides {
    const int64_t d = s.headSize, all = s.heads + 2 * s.keyHeads;
    if (shape.layout == HeadsFirst)
      return {heads * rows * d, d, rows * d};
    const int64_t row = (shape.layout == Packed ? all : heads) * d;
    return {rows * row, row, d};
  };
  s.q = record.dq = strides(s.queries, s.heads);
  s.out = record.dout = {s.queries * s.heads * s.headSize, s.heads * s.headSize,
                         s.headSize};
  s.k = s.v = record.dk = record.dv = strides(s.keys, s.keyHeads);
  return record;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Prints one number beside its bound; false if there is none.
static bool report(const char *what, const Expected<CudnnPlan> &plan,
                   int64_t bound) {
  if (plan)
    std::printf(" %s %lld of %lld", what,
                static_cast<long long>(plan->workspaceBytes),
                static_cast<long long>(bound));
  else
    std::printf(" %s: %s", what, plan.error().message().c_str());
  return plan.ok();
}

/// False if a plan needs more than its bound, or there is none.
static bool check(const Cudnn &library, const Shape &shape, int chip) {
  const WeftAttentionGradRecord record = recordOf(shape);
  const WeftAttentionRecord &s = record.forward;
  std::printf("sm_%d %lldx%lld/%lldx%lldx%lldx%lld:", chip,
              static_cast<long long>(s.batch), static_cast<long long>(s.heads),
              static_cast<long long>(s.keyHeads),
              static_cast<long long>(s.queries), static_cast<long long>(s.keys),
              static_cast<long long>(s.headSize));
  bool isRight = report("forward", planForward(library, s, kCudnnEngineBytes),
                        kCudnnEngineBytes);
  for (CudnnOrder order : {CudnnOrder::Fixed, CudnnOrder::Any}) {
    const int64_t most = cudnnGradEngineBytes(s, chip, order);
    isRight &= report(order == CudnnOrder::Fixed ? "backward" : "in any order",
                      planBackward(library, record, most, chip, order), most);
  }
  std::printf("\n");
  return isRight;
}

int main() {
  Expected<std::unique_ptr<Cudnn>> library = openWithoutDevice();
  if (!library) {
    std::fprintf(stderr, "%s\n", library.error().message().c_str());
    return 1;
  }
  int plans = 0, wrong = 0;
  for (int chip : {80, 90, 100}) {
    if (!setDevice(chip))
      return std::fprintf(stderr, "no device of sm_%d\n", chip), 1;
    for (const Shape &shape : kShapes)
      if (findWrongCudnnGradient(recordOf(shape), chip).empty())
        ++plans, wrong += !check(**library, shape, chip);
  }
  std::printf("%s: %d shapes, %d wrong\n", (*library)->describe().c_str(),
              plans, wrong);
  return wrong != 0;
}
