//===- LibraryWork.cpp - Arithmetic of emulated libraries -----------------===//

#include "LibraryWork.h"

#include "weft/Base/Half.h"

#include <dlfcn.h>

namespace weft::emulation {

//===----------------------------------------------------------------------===//
// Streams and memory of the emulated driver
//===----------------------------------------------------------------------===//

using EnqueueFn = int (*)(void *stream, void (*work)(void *), void *data,
                          void (*destroy)(void *));
using UseFn = void (*)(const void *place, size_t bytes, int isWrite,
                       const char *who);

void *findInDriver(const char *name) {
  void *driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return driver ? ::dlsym(driver, name) : nullptr;
}

/// The same, where a program has opened one of ours.
template <typename Fn> static Fn findInDriver(const char *name) {
  return reinterpret_cast<Fn>(findInDriver(name));
}

bool enqueue(void *stream, std::function<void()> work) {
  using Work = std::function<void()>;
  auto driver = findInDriver<EnqueueFn>("weft_emulation_enqueue");
  if (!driver)
    return work(), true;
  auto run = [](void *data) { (*static_cast<Work *>(data))(); };
  auto destroy = [](void *data) { delete static_cast<Work *>(data); };
  return driver(stream, run, new Work(std::move(work)), destroy) == 0;
}

void use(const void *data, int64_t bytes, bool isWrite, const char *entry) {
  static UseFn driver = nullptr;
  if (!driver)
    driver = findInDriver<UseFn>("weft_emulation_use");
  if (driver)
    driver(data, static_cast<size_t>(bytes), isWrite, entry);
}

bool poison(size_t allocation, size_t offset, size_t bytes) {
  auto driver =
      findInDriver<int (*)(size_t, size_t, size_t)>("weft_emulation_poison");
  return driver && driver(allocation, offset, bytes) == 0;
}

void spend(double milliseconds) {
  if (auto driver = findInDriver<void (*)(double)>("weft_emulation_spend"))
    driver(milliseconds);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

float loadElement(const void *data, Stored type, int64_t at) {
  if (type == Stored::F32)
    return static_cast<const float *>(data)[at];
  const uint16_t bits = static_cast<const uint16_t *>(data)[at];
  return type == Stored::F16 ? halfToFloat(bits) : bf16ToFloat(bits);
}

void storeElement(void *data, Stored type, int64_t at, float value) {
  if (type == Stored::F32)
    static_cast<float *>(data)[at] = value;
  else
    static_cast<uint16_t *>(data)[at] =
        type == Stored::F16 ? floatToHalf(value) : floatToBf16(value);
}

} // namespace weft::emulation
