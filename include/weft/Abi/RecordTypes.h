//===- RecordTypes.h - Records by the kind of their command -----*- C++ -*-===//

#ifndef WEFT_ABI_RECORDTYPES_H
#define WEFT_ABI_RECORDTYPES_H

#include "weft/Abi/Executable.h"

#include <type_traits>

namespace weft {

/// The record of a kind.
template <WeftCommandKind Kind> struct RecordType;
#define WEFT_RECORD_TYPE(number, KIND, name, Record)                           \
  template <> struct RecordType<WEFT_##KIND> {                                 \
    using Type = Record;                                                       \
  };
WEFT_COMMAND_KINDS(WEFT_RECORD_TYPE)
#undef WEFT_RECORD_TYPE
template <WeftCommandKind Kind>
using RecordOf = typename RecordType<Kind>::Type;

/// Bytes of a record without its list; 0 for a record without fields.
template <typename Record>
inline constexpr int64_t kRecordBytes =
    std::is_empty_v<Record> ? 0 : sizeof(Record);

/// Bytes of an entry of the list behind a record; 0 for one without a list.
template <typename Record> constexpr int64_t kEntryBytes = 0;
template <>
inline constexpr int64_t kEntryBytes<WeftCopyRecord> = sizeof(WeftCopyDim);
template <> inline constexpr int64_t kEntryBytes<WeftConstantRecord> = 1;

/// Bytes of the struct that may follow a record; 0 if none does.
template <typename Record> constexpr int64_t kVariantBytes = 0;
template <>
inline constexpr int64_t kVariantBytes<WeftAttentionRecord> =
    sizeof(WeftAttentionVariant);
template <>
inline constexpr int64_t kVariantBytes<WeftAttentionGradRecord> =
    sizeof(WeftAttentionVariant);

/// The variant behind a record of attention, forward or backward, of `bytes`
/// in all.
template <typename Record>
const WeftAttentionVariant &variantOf(const Record &record, int64_t bytes) {
  static_assert(kVariantBytes<Record> != 0, "no record of attention");
  static constexpr WeftAttentionVariant none = {};
  return bytes == kRecordBytes<Record>
             ? none
             : *reinterpret_cast<const WeftAttentionVariant *>(&record + 1);
}

/// Whether it has a rule at all.
inline bool isVariant(const WeftAttentionVariant &variant) {
  return variant.window || variant.hasSegments || variant.softcap != 0.0;
}

/// The list behind a record.
template <typename Entry, typename Record>
const Entry *entriesOf(const Record &record) {
  static_assert(sizeof(Entry) == kEntryBytes<Record>, "another list");
  return reinterpret_cast<const Entry *>(&record + 1);
}

/// Whether `bytes` is the size of the record and its variant or list, padded to
/// a multiple of 8. It must be at least the size of the record.
template <typename Record> bool holdsList(const Record &record, int64_t bytes) {
  const int64_t rest = bytes - kRecordBytes<Record>;
  if constexpr (kEntryBytes<Record> == 0)
    return rest == 0 || rest == kVariantBytes<Record>;
  else // a product could overflow
    return record.count >= 0 && rest % 8 == 0 &&
           record.count <= rest / kEntryBytes<Record> &&
           rest - record.count * kEntryBytes<Record> < 8;
}

/// The record of a command, or null if the command is of another kind or the
/// record of another size.
template <WeftCommandKind Kind>
const RecordOf<Kind> *findRecord(const WeftCommand &command) {
  using Record = RecordOf<Kind>;
  static constexpr Record none = {};
  if (command.kind != Kind)
    return nullptr;
  if constexpr (std::is_empty_v<Record>)
    return command.recordBytes == 0 ? &none : nullptr;
  if (!command.record || command.recordBytes < kRecordBytes<Record>)
    return nullptr;
  const auto *record = static_cast<const Record *>(command.record);
  return holdsList(*record, command.recordBytes) ? record : nullptr;
}

/// "gemm", "copy", ..., "kernel"; "unknown" for a number that is no kind.
inline const char *kindName(int64_t kind) {
  switch (kind) {
  case WEFT_KERNEL:
    return "kernel";
#define WEFT_KIND_NAME(number, KIND, name, Record)                             \
  case number:                                                                 \
    return #name;
    WEFT_COMMAND_KINDS(WEFT_KIND_NAME)
#undef WEFT_KIND_NAME
  default:
    return "unknown";
  }
}

} // namespace weft

#endif // WEFT_ABI_RECORDTYPES_H
