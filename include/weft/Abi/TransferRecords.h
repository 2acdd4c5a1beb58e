//===- TransferRecords.h - Copies and events of a device --------*- C++ -*-===//
//
// Commands that no kernel or routine runs, in programs for devices that run
// asynchronously to the host. Their kinds and records are stored in the tables
// like the ones of Records.h. All other commands are issued to stream 0. A
// stream runs its commands in order, across all runs of programs.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_TRANSFERRECORDS_H
#define WEFT_ABI_TRANSFERRECORDS_H

#include "weft/Abi/Executable.h"

/// The values are part of the ABI, and below all values of WeftCommandKind.
enum WeftTransferKind {
  /// Copies the program inputs at the command's offsets from the host;
  /// WEFT_READBACK copies outputs to it.
  WEFT_UPLOAD = -2,
  WEFT_READBACK = -3,
  /// Records the progress of the stream in the event. WEFT_WAIT makes the
  /// stream wait for the latest record, in this or an earlier run of any
  /// program.
  WEFT_RECORD = -4,
  WEFT_WAIT = -5
};

struct WeftTransferRecord {
  int64_t stream; // from 0
  int64_t event;  // of WEFT_RECORD and WEFT_WAIT, from 0
};

namespace weft {

/// The streams of collectives: gathers of parameters, reductions of gradients.
inline constexpr int64_t kCollectiveStreams[] = {3, 4};

inline bool isTransfer(int64_t kind) {
  return kind <= WEFT_UPLOAD && kind >= WEFT_WAIT;
}

/// "upload", "readback", "record", "wait"; null for another kind.
inline const char *transferName(int64_t kind) {
  static const char *const names[] = {"upload", "readback", "record", "wait"};
  return isTransfer(kind) ? names[WEFT_UPLOAD - kind] : nullptr;
}

/// The record of a transfer; null for another command, or a record of another
/// size or with numbers below 0.
inline const WeftTransferRecord *findTransfer(const WeftCommand &command) {
  if (!isTransfer(command.kind) || !command.record ||
      command.recordBytes != sizeof(WeftTransferRecord))
    return nullptr;
  const auto *record = static_cast<const WeftTransferRecord *>(command.record);
  return record->stream >= 0 && record->event >= 0 ? record : nullptr;
}

} // namespace weft

#endif // WEFT_ABI_TRANSFERRECORDS_H
