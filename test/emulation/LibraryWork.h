//===- LibraryWork.h - Arithmetic of emulated libraries ---------*- C++ -*-===//
//
// Streams and memory of the emulated driver, for the libraries beside it, and
// elements of their tensors.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_EMULATION_LIBRARYWORK_H
#define WEFT_TEST_EMULATION_LIBRARYWORK_H

#include <cstdint>
#include <functional>

namespace weft::emulation {

/// Gives work to a stream of the emulated driver, in this process or, where
/// there is none, runs it.
bool enqueue(void *stream, std::function<void()> work);
/// A function of the emulated driver; null if there is none.
void *findInDriver(const char *name);
/// Tells the driver's checks of memory what an entry point touches.
void use(const void *data, int64_t bytes, bool isWrite, const char *entry);
/// Poisons a part of the only allocation of so many bytes, behind what the
/// stream that was made first has been given; false if there is none.
bool poison(size_t allocation, size_t offset, size_t bytes);
/// Lets time pass on the driver's clock.
void spend(double milliseconds);

/// How an element is stored.
enum class Stored { F32, F16, Bf16 };

inline int64_t bytesOf(Stored type) { return type == Stored::F32 ? 4 : 2; }
float loadElement(const void *data, Stored type, int64_t at);
/// Rounds the value to the type.
void storeElement(void *data, Stored type, int64_t at, float value);

} // namespace weft::emulation

#endif // WEFT_TEST_EMULATION_LIBRARYWORK_H
