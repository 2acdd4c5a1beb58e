//===- Nccl.h - The entry points of NCCL ------------------------*- C++ -*-===//
//
// A table of functions, which the library fills when it is opened by name.
// Needs nccl.h, and no library at link time.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_NCCL_H
#define WEFT_RUNTIME_DEVICES_NCCL_H

#include "weft/Base/Results.h"
#include "weft/Formats/RunRecord.h"
#include "weft/Runtime/Execute/RankMeetings.h"

#include <nccl.h>

/// Every entry point once.
#define WEFT_NCCL_CALLS(X)                                                     \
  X(ncclGetVersion)                                                            \
  X(ncclGetErrorString)                                                        \
  X(ncclGetLastError)                                                          \
  X(ncclGetUniqueId)                                                           \
  X(ncclCommInitRankConfig)                                                    \
  X(ncclCommSplit)                                                             \
  X(ncclCommGetAsyncError)                                                     \
  X(ncclCommFinalize)                                                          \
  X(ncclCommDestroy)                                                           \
  X(ncclCommAbort)                                                             \
  X(ncclCommWindowRegister)                                                    \
  X(ncclCommWindowDeregister)                                                  \
  X(ncclAllGather)                                                             \
  X(ncclReduceScatter)                                                         \
  X(ncclAlltoAll)

namespace weft {

struct LibraryName;

struct NcclLibrary {
#define WEFT_NCCL_ENTRY(name) decltype(&::name) name = nullptr;
  WEFT_NCCL_CALLS(WEFT_NCCL_ENTRY)
#undef WEFT_NCCL_ENTRY
  int version = 0; // 22809 of 2.28.9

  /// libnccl.so.2 of this machine. Exit 9 with the places where it is not, with
  /// its version if it is too old, or with the entry point that it lacks.
  static Expected<NcclLibrary> open();
  static LibraryName library();

  /// The error of a call on a communicator, or on none.
  Error failure(const char *call, ncclResult_t result, ncclComm_t comm) const;
};

/// "2.28.9" of 22809.
std::string ncclVersionText(int version);

//===- The environment of NCCL's sums -------------------------------------===//

/// Fixes the variables that decide in which order NCCL adds, with `channels`
/// channels for each communicator. Warns of other values if `warns`. Call it
/// before the first call of NCCL.
void fixNcclVariables(int channels, bool warns);

/// Removes the variable that would replace the choice of --gather. Warns of it
/// if `warns`. Call it before the first call of NCCL.
void removeNcclCtaPolicy(bool warns);

/// The facts that bits of native reductions depend on: the version of NCCL and
/// the other variables in its environment.
Settings ncclFacts(const NcclLibrary &library);

/// Warns, if `warns`, of the first fact that differs between ranks. All ranks
/// call.
Status compareNcclFacts(RankMeetings &meetings, const Settings &facts,
                        bool warns);

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_NCCL_H
