//===- Harness.h - Calling library routines from tests ----------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_KERNELS_HARNESS_H
#define WEFT_TEST_UNIT_KERNELS_HARNESS_H

#include "weft/Abi/CpuRoutineAbi.h"
#include "weft/Abi/CpuWorkspaces.h"
#include "weft/Abi/RecordTypes.h"
#include "weft/Base/Half.h"
#include "weft/Runtime/Execute/Context.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace weft {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;
using Doubles = std::vector<double>;

/// Uniform numbers in [-1, 1), the same on every machine.
inline Floats randomFloats(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  Floats values(count);
  for (float &value : values)
    value = static_cast<float>(static_cast<int32_t>(generator())) * 0x1p-31f;
  return values;
}

using Lows = std::vector<uint16_t>;

/// A number rounded to f16 or bf16, as bits and as a number.
inline uint16_t toLow(float value, int64_t dtype) {
  return dtype == WEFT_F16 ? floatToHalf(value) : floatToBf16(value);
}
inline float fromLow(uint16_t bits, int64_t dtype) {
  return dtype == WEFT_F16 ? halfToFloat(bits) : bf16ToFloat(bits);
}

/// Elements of f32, f16 or bf16, with numbers for them.
class Elements {
public:
  Elements(const Floats &values, int64_t dtype) : dtype(dtype) {
    if (dtype == WEFT_F32)
      wide = values;
    else
      for (float value : values)
        low.push_back(toLow(value, dtype));
  }
  void *data() {
    return dtype == WEFT_F32 ? static_cast<void *>(wide.data()) : low.data();
  }
  void *at(int64_t index) {
    return static_cast<char *>(data()) + index * (dtype == WEFT_F32 ? 4 : 2);
  }
  /// The numbers that the elements hold.
  Floats values() const {
    Floats result = wide;
    for (uint16_t bits : low)
      result.push_back(fromLow(bits, dtype));
    return result;
  }

private:
  int64_t dtype;
  Floats wide;
  Lows low;
};

/// `values` rounded to the type.
inline Floats rounded(const Floats &values, int64_t dtype) {
  return Elements(values, dtype).values();
}

/// Largest error of one rounding to the type, relative to the number.
inline double roundingError(int64_t dtype) {
  return dtype == WEFT_F16 ? 0x1p-11 : dtype == WEFT_BF16 ? 0x1p-8 : 0x1p-24;
}

/// Bitwise equality, so that NaNs compare and signs of zero count.
template <typename T>
bool sameBits(const std::vector<T> &a, const std::vector<T> &b) {
  return a.size() == b.size() &&
         (a.empty() ||
          std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Largest |got - want| / (1 + |want|).
template <typename Got>
double largestError(const std::vector<Got> &got, const Doubles &want) {
  EXPECT_EQ(got.size(), want.size());
  double worst = 0.0;
  for (size_t i = 0; i < got.size(); ++i) {
    double error = std::fabs(got[i] - want[i]) / (1.0 + std::fabs(want[i]));
    worst = error <= worst ? worst : error; // keeps a NaN
  }
  return worst;
}

/// Most threads of a program of the tests, unless it runs on more.
constexpr int kProgramThreads = 3;

/// The best instruction set of the process.
constexpr CpuIsa kBestIsa = CpuIsa::Amx;

/// A context of that many threads and at most that instruction set.
struct TestContext : WeftContext {
  explicit TestContext(int threads = 2, CpuIsa isa = kBestIsa)
      : WeftContext(options(threads, isa)) {}
  static ContextOptions options(int threads, CpuIsa isa) {
    ContextOptions options;
    options.threads = threads;
    options.maxThreads = kProgramThreads;
    options.isa = isa;
    return options;
  }
};

/// A record as it lies in the tables, with the list behind it.
class RecordBytes {
public:
  template <typename Record> RecordBytes(const Record &record) {
    append(&record, kRecordBytes<Record>);
  }
  template <typename Record, typename Entry>
  RecordBytes(const Record &record, const std::vector<Entry> &list)
      : RecordBytes(record) {
    append(list.data(), list.size() * sizeof(Entry));
  }
  template <typename Record> const Record *as() const {
    return reinterpret_cast<const Record *>(words.data());
  }
  const void *data() const { return words.data(); }
  int64_t size() const { return static_cast<int64_t>(words.size()) * 8; }
  /// Cut, or with zeros behind it.
  RecordBytes resized(int64_t bytes) const {
    RecordBytes other = *this;
    other.words.resize(bytes / 8);
    return other;
  }

private:
  void append(const void *data, size_t bytes) {
    const size_t at = words.size();
    words.resize(at + (bytes + 7) / 8);
    if (bytes > 0)
      std::memcpy(words.data() + at, data, bytes);
  }
  std::vector<int64_t> words;
};

/// The kind of a routine's commands.
inline WeftCommandKind kindOf(WeftLibraryFn routine) {
#define WEFT_TEST_KIND(number, KIND, name, Record)                             \
  if (routine == weft_cpu_##name)                                              \
    return WEFT_##KIND;
  WEFT_COMMAND_KINDS(WEFT_TEST_KIND)
#undef WEFT_TEST_KIND
  return WEFT_KERNEL;
}

/// Whether a record is one of the kind.
inline bool holdsRecord(WeftCommandKind kind, const RecordBytes &record) {
  WeftCommand command = {};
  command.kind = kind;
  command.record = record.data();
  command.recordBytes = record.size();
  switch (kind) {
#define WEFT_TEST_RECORD(number, KIND, name, Record)                           \
  case WEFT_##KIND:                                                            \
    return findRecord<WEFT_##KIND>(command) != nullptr;
    WEFT_COMMAND_KINDS(WEFT_TEST_RECORD)
#undef WEFT_TEST_RECORD
  default:
    return false;
  }
}

/// Words between guards, which a routine may fill and must not leave.
class GuardedWorkspace {
public:
  explicit GuardedWorkspace(int64_t bytes)
      : words(bytes / 8 + 2 * kGuard + 1, kWord) {}
  void *data() { return words.data() + kGuard; }
  void expectIntact(int64_t bytes) const {
    for (size_t i = 0; i < kGuard; ++i)
      EXPECT_EQ(words[i], kWord);
    for (size_t i = kGuard + (bytes + 7) / 8; i < words.size(); ++i)
      EXPECT_EQ(words[i], kWord);
  }

private:
  static constexpr size_t kGuard = 64;
  static constexpr uint64_t kWord = ~uint64_t(0); // NaN in every type
  std::vector<uint64_t> words;
};

/// Runs a routine as a command of `kind` with a workspace of `bytes`.
inline void callIn(GuardedWorkspace &workspace, int64_t bytes,
                   WeftContext &context, WeftLibraryFn routine,
                   const std::vector<const void *> &buffers,
                   const RecordBytes &record, WeftCommandKind kind) {
  std::vector<void *> addresses;
  for (const void *buffer : buffers)
    addresses.push_back(const_cast<void *>(buffer));
  if (bytes > 0)
    addresses.push_back(workspace.data());
  WeftCommand command = {};
  command.name = "routine";
  command.scope = "h.3";
  command.library = routine;
  command.kind = kind;
  command.record = record.data();
  command.recordBytes = record.size();
  command.numBuffers = static_cast<int32_t>(addresses.size());
  command.workspaceBytes = bytes;
  routine(&context, &command, addresses.data());
  workspace.expectIntact(bytes);
}
inline void callIn(GuardedWorkspace &workspace, int64_t bytes,
                   WeftContext &context, WeftLibraryFn routine,
                   const std::vector<const void *> &buffers,
                   const RecordBytes &record) {
  callIn(workspace, bytes, context, routine, buffers, record, kindOf(routine));
}

/// The same with the workspace that the context's program gives it;
/// leaves errors in the context.
inline void callAs(WeftCommandKind kind, WeftContext &context,
                   WeftLibraryFn routine,
                   const std::vector<const void *> &buffers,
                   const RecordBytes &record) {
  int64_t bytes = 0;
  if (holdsRecord(kind, record))
    bytes = workspaceBytes(kind, record.data(), context.mostThreads());
  GuardedWorkspace workspace(bytes);
  callIn(workspace, bytes, context, routine, buffers, record, kind);
}

/// Runs a routine that must succeed.
inline void callOk(WeftContext &context, WeftLibraryFn routine,
                   const std::vector<const void *> &buffers,
                   const RecordBytes &record) {
  callAs(kindOf(routine), context, routine, buffers, record);
  ASSERT_FALSE(context.failed()) << context.message();
}

/// Runs a routine that must report `message` with `code`.
inline void expectError(int code, const std::string &message,
                        WeftLibraryFn routine,
                        const std::vector<const void *> &buffers,
                        const RecordBytes &record) {
  TestContext context(1);
  callAs(kindOf(routine), context, routine, buffers, record);
  EXPECT_EQ(context.error(), code);
  EXPECT_EQ(context.message(), "routine in h.3: " + message);
}

constexpr CpuIsa kAllIsas[] = {CpuIsa::Baseline, CpuIsa::Avx2, CpuIsa::Avx512,
                               CpuIsa::Avx512Bf16, CpuIsa::Amx};

} // namespace weft

#endif // WEFT_TEST_UNIT_KERNELS_HARNESS_H
