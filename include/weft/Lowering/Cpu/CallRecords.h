//===- CallRecords.h - The record of a plan's command -----------*- C++ -*-===//

#ifndef WEFT_LOWERING_CPU_CALLRECORDS_H
#define WEFT_LOWERING_CPU_CALLRECORDS_H

#include "weft/Plan/Plan.h"
#include "weft/Runtime/Records.h"

namespace weft {

/// The kind of a command and its record (Records.h) as 8-byte words; a kernel
/// has none.
struct CallRecord {
  WeftCommandKind kind = WEFT_KERNEL;
  llvm::SmallVector<int64_t> words;

  llvm::StringRef getBytes() const {
    return {reinterpret_cast<const char *>(words.data()),
            words.size() * sizeof(int64_t)};
  }
  template <typename Record> const Record *as() const {
    return reinterpret_cast<const Record *>(words.data());
  }
};

/// Made of the command's routine, integers and floats; an error at the command
/// if their numbers are not those of the routine.
llvm::FailureOr<CallRecord> getCallRecord(plan::CommandOpInterface command);

} // namespace weft

#endif // WEFT_LOWERING_CPU_CALLRECORDS_H
