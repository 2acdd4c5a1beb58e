//===- RecordTest.cpp - Routines refuse records that are not theirs -------===//

#include "Harness.h"
#include "weft/Abi/RecordTypes.h"

using namespace weft;

namespace {

/// The message of a routine that is called as a command of `kind`.
std::string messageOf(WeftLibraryFn routine, WeftCommandKind kind,
                      const RecordBytes &record) {
  TestContext context(1);
  callAs(kind, context, routine, {}, record);
  EXPECT_EQ(context.error(), 70);
  return context.message();
}

std::string bytesMessage(const std::string &wanted, int64_t got) {
  return "routine in h.3: expects a record of " + wanted + ", but got " +
         std::to_string(got);
}

/// Checks the errors for a record of a wrong size and a list of a wrong length.
template <typename Record>
void checkSizes(WeftLibraryFn routine, const Record &record) {
  constexpr int64_t bytes = kRecordBytes<Record>;
  const std::string whole = std::to_string(bytes) + " bytes";
  WeftCommandKind kind = kindOf(routine);
  const RecordBytes right(record);
  if constexpr (bytes > 0) {
    EXPECT_EQ(messageOf(routine, kind, right.resized(bytes - 8)),
              bytesMessage(whole, bytes - 8));
    EXPECT_EQ(messageOf(routine, kind, right.resized(0)),
              bytesMessage(whole, 0));
  }
  std::string list;
  if constexpr (kEntryBytes<Record> != 0)
    list = " and 0 entries of " + std::to_string(kEntryBytes<Record>);
  EXPECT_EQ(messageOf(routine, kind, right.resized(bytes + 8)),
            bytesMessage(whole + list, bytes + 8));
}

template <typename Record>
void checkList(WeftLibraryFn routine, int64_t count) {
  Record record = {};
  record.count = count;
  constexpr int64_t bytes = sizeof(Record), entry = kEntryBytes<Record>;
  const std::string wanted = std::to_string(bytes) + " bytes and " +
                             std::to_string(count) + " entries of " +
                             std::to_string(entry);
  for (int64_t entries : {0, 1, 3}) {
    const int64_t got = bytes + entries * std::max<int64_t>(entry, 8);
    EXPECT_EQ(
        messageOf(routine, kindOf(routine), RecordBytes(record).resized(got)),
        bytesMessage(wanted, got));
  }
}

} // namespace

TEST(Records, OfAnotherKindAreRefused) {
#define CHECK_KIND(number, KIND, name, Record)                                 \
  EXPECT_EQ(messageOf(weft_cpu_##name, WEFT_KERNEL, Record{}),                 \
            "routine in h.3: expects a command of kind " #name " (" #number    \
            "), but got kernel (0)");
  WEFT_COMMAND_KINDS(CHECK_KIND)
#undef CHECK_KIND
  EXPECT_EQ(messageOf(weft_cpu_fill, WEFT_COPY, WeftFillRecord{}),
            "routine in h.3: expects a command of kind fill (7), but got "
            "copy (6)");
  EXPECT_EQ(messageOf(weft_cpu_copy, static_cast<WeftCommandKind>(31),
                      WeftCopyRecord{}),
            "routine in h.3: expects a command of kind copy (6), but got "
            "unknown (31)");
}

TEST(Records, OfAnotherSizeAreRefused) {
#define CHECK_SIZE(number, KIND, name, Record)                                 \
  checkSizes(weft_cpu_##name, Record{});
  WEFT_COMMAND_KINDS(CHECK_SIZE)
#undef CHECK_SIZE
}

// 2^61 entries of 8 bytes are 0 bytes modulo 2^64.
TEST(Records, ListsOfAnotherLengthAreRefused) {
  for (int64_t count :
       {int64_t(33), int64_t(-1), int64_t(1) << 61, INT64_MAX}) {
    checkList<WeftCopyRecord>(weft_cpu_copy, count);
    checkList<WeftConstantRecord>(weft_cpu_constant, count);
  }
}
