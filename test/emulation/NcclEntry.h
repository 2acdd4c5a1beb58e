//===- NcclEntry.h - Entry points of the emulated NCCL ----------*- C++ -*-===//

#ifndef WEFT_TEST_EMULATION_NCCLENTRY_H
#define WEFT_TEST_EMULATION_NCCLENTRY_H

#include "NcclObjects.h"

#define WEFT_EXPORT extern "C" __attribute__((visibility("default")))

#define WEFT_BEGIN(entry)                                                      \
  if (std::optional<ncclResult_t> fault = injectedFault(#entry))               \
  return *fault

#define WEFT_BEGIN_ALONE(entry)                                                \
  WEFT_BEGIN(entry);                                                           \
  if (ncclResult_t error = refuseInGroupOrCapture(#entry))                     \
  return error

#define WEFT_CALL(entry, comm, ...)                                            \
  Call call(#entry, comm __VA_OPT__(, ) __VA_ARGS__);                          \
  if (call.error)                                                              \
  return call.error

#endif // WEFT_TEST_EMULATION_NCCLENTRY_H
