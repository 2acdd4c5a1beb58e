// device.h: runs kernels for a device as blocks of the emulated device, in the
// plain order of threads and in another one. Their results are compared with
// the results of the CPU's kernels of the same names.

#include "Fail.h"
#include "Memory.h"
#include "numbers.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A kernel for buffers that lie so many bytes behind a multiple of 256.
struct Placed {
  void (*run)(void **);
  std::vector<long> places;
};

using weft::emulation::DeviceMemory;

struct Kernel {
  const char *name;
  void (*cpu)(void **buffers, long begin, long end); // null: only a device
  void (*wide)(void **), (*narrow)(void **);
  std::vector<Placed> placed;
  std::vector<Argument> arguments;
  size_t inputs;
  long extent;
  int columns, rows, blocks;
};

//===----------------------------------------------------------------------===//
// Instructions of a device
//===----------------------------------------------------------------------===//

/// Where a kernel calls a function of this file.
#define SITE int(reinterpret_cast<uintptr_t>(__builtin_return_address(0)))

extern "C" {
int device_read_ptx_sreg_tid_x() { return weft_emu_place()->thread[0]; }
int device_read_ptx_sreg_tid_y() { return weft_emu_place()->thread[1]; }
int device_read_ptx_sreg_ctaid_x() { return weft_emu_place()->block[0]; }
void device_barrier_cta_sync_aligned_all(int id) {
  weft_emu_barrier(id, 0, SITE);
}
void device_bar_warp_sync(int mask) { weft_emu_warp_barrier(mask, SITE); }
unsigned device_shfl_sync_bfly_i32(int mask, unsigned value, int bit,
                                   int clamp) {
  return weft_emu_shuffle(WeftEmuXor, mask, value, bit, clamp, SITE);
}
float device_shfl_sync_bfly_f32(int mask, float value, int bit, int clamp) {
  unsigned bits;
  std::memcpy(&bits, &value, 4);
  bits = weft_emu_shuffle(WeftEmuXor, mask, bits, bit, clamp, SITE);
  std::memcpy(&value, &bits, 4);
  return value;
}
/// Instructions that libdevice uses.
float device_ex2_approx_ftz_f32(float x) { return std::exp2(x); }
float device_rcp_approx_ftz_f(float x) { return 1 / x; }
float device_saturate_f(float x) { return x > 0 ? std::fmin(x, 1.0f) : 0.0f; }
float device_fma_rm_f(float a, float b, float c) {
  float near = std::fma(a, b, c);
  bool isAbove = near > static_cast<double>(a) * b + c;
  return isAbove ? std::nextafter(near, -INFINITY) : near;
}
/// Functions that libdevice's pow calls.
float device_fabs_f32(float x) { return std::fabs(x); }
double device_fabs_f64(double x) { return std::fabs(x); }
double device_add_rn_d(double x, double y) { return x + y; }
double device_mul_rn_d(double x, double y) { return x * y; }
double device_rcp_approx_ftz_d(double x) { return 1 / x; }
unsigned device_d2i_lo(double x) {
  unsigned halves[2];
  std::memcpy(halves, &x, 8);
  return halves[0];
}
unsigned device_d2i_hi(double x) {
  unsigned halves[2];
  std::memcpy(halves, &x, 8);
  return halves[1];
}
double device_lohi_i2d(unsigned low, unsigned high) {
  unsigned halves[2] = {low, high};
  double x;
  std::memcpy(&x, halves, 8);
  return x;
}
}

/// Static shared memory of all kernels.
extern "C" char __start_weft_shared[] __attribute__((weak)),
    __stop_weft_shared[] __attribute__((weak));

static void runGrid(const Kernel &kernel, void (*function)(void **),
                    std::vector<void *> buffers, int seed = 0) {
  weft::emulation::Grid grid;
  grid.blocks[0] = kernel.blocks;
  grid.threads[0] = kernel.columns;
  grid.threads[1] = kernel.rows;
  grid.sharedBegin = __start_weft_shared;
  grid.sharedEnd = __stop_weft_shared;
  weft::emulation::setKernelName(kernel.name);
  weft::emulation::beginLaunch();
  weft::emulation::Order order(seed);
  weft::emulation::runGrid(grid, [&] { function(buffers.data()); }, order);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

static void setElement(const std::string &type, void *to, long i,
                       double value) {
  if (type == "f32")
    static_cast<float *>(to)[i] = value;
  else if (type == "f64")
    static_cast<double *>(to)[i] = value;
  else if (type == "f16")
    static_cast<_Float16 *>(to)[i] = value;
  else if (type == "i1")
    static_cast<char *>(to)[i] = value > 0;
  else if (type == "i32")
    static_cast<int *>(to)[i] = value * 500;
  else if (type == "i64")
    static_cast<long *>(to)[i] = 2 + std::lround(value);
  else {
    float single = value;
    unsigned bits;
    std::memcpy(&bits, &single, 4);
    static_cast<unsigned short *>(to)[i] = bits >> 16;
  }
}

constexpr long kFence = 64; // bytes behind a buffer that nobody may touch
constexpr char kUnwritten = char(weft::emulation::kPoison);

/// The value that a kernel's name sets for an input: `_nan0`, `_zeros1` or
/// `_ones2`.
static std::optional<double> valueInName(const Kernel &kernel, size_t input) {
  static constexpr std::pair<const char *, double> kinds[] = {
      {"_nan", NAN}, {"_zeros", 0}, {"_ones", 1}};
  for (auto [kind, value] : kinds)
    if (std::strstr(kernel.name, (kind + std::to_string(input)).c_str()))
      return value;
  return std::nullopt;
}

static void fillInput(const Kernel &kernel, size_t input, void *memory) {
  const Argument &argument = kernel.arguments[input];
  std::optional<double> fixed = valueInName(kernel, input);
  for (long i = 0; i < argument.count; ++i)
    setElement(argument.type, memory, i,
               fixed ? *fixed : std::rand() / double(RAND_MAX) * 4 - 2);
}

/// Buffers with the same inputs every time, at these bytes behind multiples of
/// 256. Each is an allocation of its own, in which nobody has written what is
/// before and behind it: to read that is an error.
static std::vector<void *> makeBuffers(const Kernel &kernel,
                                       const std::vector<long> &places) {
  std::srand(1);
  std::vector<void *> buffers;
  for (const Argument &argument : kernel.arguments) {
    long place = places[buffers.size()];
    long bytes = place + argument.count * bytesOf(argument.type) + kFence;
    DeviceMemory &device = DeviceMemory::get();
    char *memory = device.allocate(bytes) + place;
    if (buffers.size() < kernel.inputs) {
      fillInput(kernel, buffers.size(), memory);
      device.markWritten(memory, bytes - place - kFence);
    }
    buffers.push_back(memory);
  }
  return buffers;
}

static void freeBuffers(const std::vector<void *> &buffers) {
  DeviceMemory &device = DeviceMemory::get();
  for (void *memory : buffers)
    device.free(device.find(memory)->begin);
}

/// Each buffer `skew` of its elements behind a multiple of 256 bytes.
static std::vector<void *> makeBuffers(const Kernel &kernel, int skew) {
  std::vector<long> places;
  for (const Argument &argument : kernel.arguments)
    places.push_back(skew * bytesOf(argument.type));
  return makeBuffers(kernel, places);
}

/// Writes the contents of the buffers to the files NAME.NUMBER of the folder.
static void writeBuffers(const Kernel &kernel,
                         const std::vector<void *> &buffers,
                         const std::string &folder) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Argument &argument = kernel.arguments[i];
    std::ofstream file(folder + "/" + kernel.name + "." + std::to_string(i),
                       std::ios::binary);
    file.write(static_cast<char *>(buffers[i]),
               argument.count * bytesOf(argument.type));
  }
}

/// Kernels with "exact" in their names have the bits of the CPU. What the
/// device writes is left in the folder.
static int checkKernel(const Kernel &kernel, const std::string &folder) {
  bool isExact = std::strstr(kernel.name, "exact");
  const std::string fence(kFence, kUnwritten);
  std::vector<void *> cpu = makeBuffers(kernel, 0),
                      wide = makeBuffers(kernel, 0),
                      mixed = makeBuffers(kernel, 0),
                      narrow = makeBuffers(kernel, 1);
  if (kernel.cpu)
    kernel.cpu(cpu.data(), 0, kernel.extent);
  runGrid(kernel, kernel.wide, wide);
  writeBuffers(kernel, wide, folder);
  runGrid(kernel, kernel.wide, mixed, /*seed=*/1);
  runGrid(kernel, kernel.narrow, narrow);
  int wrong = 0;
  auto expect = [&](bool holds, const char *what, size_t i) {
    if (!holds)
      std::printf("%s: argument %zu %s\n", kernel.name, i, what);
    wrong += !holds;
  };
  std::vector<std::vector<void *>> elsewhere = {narrow};
  for (const Placed &placed : kernel.placed) {
    elsewhere.push_back(makeBuffers(kernel, placed.places));
    runGrid(kernel, placed.run, elsewhere.back());
  }
  for (size_t i = 0; i < cpu.size(); ++i) {
    const Argument &argument = kernel.arguments[i];
    long bytes = argument.count * bytesOf(argument.type);
    if (kernel.cpu || i < kernel.inputs)
      expect(isExact ? !std::memcmp(cpu[i], wide[i], bytes)
                     : isClose(argument, cpu[i], wide[i]),
             "is not the CPU's", i);
    expect(!std::memcmp(wide[i], mixed[i], bytes),
           "has other bits in another order of threads", i);
    expect(!std::memcmp(static_cast<char *>(wide[i]) + bytes, fence.data(),
                        kFence),
           "is too long", i);
    for (const std::vector<void *> &buffers : elsewhere) {
      char *end = static_cast<char *>(buffers[i]) + bytes;
      expect(!std::memcmp(wide[i], buffers[i], bytes),
             "has other bits at another place", i);
      expect(!std::memcmp(end, fence.data(), kFence),
             "is too long at another place", i);
      if (reinterpret_cast<uintptr_t>(buffers[i]) % 256 != 0)
        expect(end[-bytes - 1] == kUnwritten, "begins too early", i);
    }
    if (i < kernel.inputs)
      expect(!std::memcmp(cpu[i], wide[i], bytes), "has changed", i);
  }
  for (const std::vector<void *> &buffers : elsewhere)
    freeBuffers(buffers);
  for (const std::vector<void *> *buffers : {&cpu, &wide, &mixed})
    freeBuffers(*buffers);
  std::printf("%s: %s\n", kernel.name, wrong ? "wrong" : "equal");
  return wrong;
}
