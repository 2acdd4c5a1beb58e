//===- EventFile.cpp - The numbers of a run for TensorBoard ---------------===//
//
// Sources: tensorflow/core/lib/io/record_writer.h (frames and the mask of a
// CRC), tensorflow/core/util/event.proto and
// tensorflow/core/framework/summary.proto (field numbers), and
// protobuf.dev/programming-guides/encoding (wire format).
//
//===----------------------------------------------------------------------===//

#include "weft/Runtime/Reports/EventFile.h"

#include "weft/Base/Durable.h"
#include "weft/Base/Results.h"
#include "weft/Runtime/Reports/Progress.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace weft;

//===----------------------------------------------------------------------===//
// TFRecord
//===----------------------------------------------------------------------===//

/// CRC-32C by bytes: the polynomial of Castagnoli, bits reversed.
static constexpr std::array<uint32_t, 256> makeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0);
    table[byte] = crc;
  }
  return table;
}

static constexpr std::array<uint32_t, 256> kCrcTable = makeCrcTable();

/// TFRecord rotates and shifts a CRC, since a CRC of data that holds CRCs is
/// weak.
static uint32_t maskedCrc(const std::string &bytes) {
  uint32_t crc = ~0u;
  for (unsigned char byte : bytes)
    crc = (crc >> 8) ^ kCrcTable[(crc ^ byte) & 0xff];
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

/// The integer in little-endian order.
template <typename Integer> static std::string fixedBytes(Integer value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof value; ++i)
    bytes += char(uint64_t(value) >> (8 * i));
  return bytes;
}

/// length, CRC of the length, data, CRC of the data
static std::string frame(const std::string &data) {
  const std::string length = fixedBytes(uint64_t(data.size()));
  return length + fixedBytes(maskedCrc(length)) + data +
         fixedBytes(maskedCrc(data));
}

//===----------------------------------------------------------------------===//
// Protocol buffers
//===----------------------------------------------------------------------===//

enum WireType { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

static std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7)
    bytes += char(value | 0x80);
  return bytes + char(value);
}

static std::string key(int field, WireType type) {
  return varint(uint64_t(field) << 3 | type);
}

static std::string integerField(int field, int64_t value) {
  return key(field, Varint) + varint(uint64_t(value));
}

static std::string doubleField(int field, double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return key(field, Fixed64) + fixedBytes(bits);
}

static std::string floatField(int field, double value) {
  const float narrow = float(value);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  return key(field, Fixed32) + fixedBytes(bits);
}

static std::string bytesField(int field, const std::string &value) {
  return key(field, Bytes) + varint(value.size()) + value;
}

/// Seconds since 1970.
static double wallTime() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

/// Event: 1 wall_time, 2 step, 3 file_version, 5 summary, 7 session_log.
static std::string makeEvent(int64_t step, int field,
                             const std::string &value) {
  return doubleField(1, wallTime()) + integerField(2, step) +
         bytesField(field, value);
}

/// Summary: 1 value, repeated. Value: 1 tag, 2 simple_value.
static std::string makeValue(const std::string &tag, double value) {
  return bytesField(1, bytesField(1, tag) + floatField(2, value));
}

/// SessionLog: 1 status, where 1 is START.
static std::string makeStart() { return integerField(1, 1); }

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// TensorBoard takes files with "tfevents" in their names and reads the files
/// of a directory in the order of the names.
static std::string fileName(int64_t seconds, int number) {
  return "events.out.tfevents." + std::to_string(seconds) + ".weft." +
         std::to_string(::getpid()) + "." + std::to_string(number);
}

/// Runs that start in the same second get different names.
static constexpr int kMostNames = 1000;

Expected<EventFile> EventFile::create(const std::string &directory,
                                      std::optional<int64_t> firstStep) {
  if (Status s = makeDirectories(directory); !s)
    return s.takeError();
  EventFile events;
  const int64_t seconds = int64_t(wallTime());
  for (int number = 0; !events.file && number < kMostNames; ++number) {
    events.path = directory + "/" + fileName(seconds, number);
    events.file = Descriptor(withoutInterrupts([&] {
      return ::open(events.path.c_str(),
                    O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }));
    if (!events.file && errno != EEXIST)
      break;
  }
  if (!events.file)
    return systemError(ExitCode::Storage, "cannot write the event file", errno)
        .at(events.path);
  if (Status s = events.record(makeEvent(0, 3, "brain.Event:2")); !s)
    return s.takeError();
  if (firstStep)
    if (Status s = events.record(makeEvent(*firstStep, 7, makeStart())); !s)
      return s.takeError();
  return events;
}

Status EventFile::record(const std::string &event) const {
  const std::string bytes = frame(event);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = withoutInterrupts([&] {
      return ::write(file.get(), bytes.data() + done, bytes.size() - done);
    });
    if (n <= 0)
      return systemError(ExitCode::Storage, "cannot write the event file",
                         errno)
          .at(path);
    done += size_t(n);
  }
  return Status::success();
}

Status EventFile::scalars(int64_t step, const Scalars &values) const {
  std::string summary;
  for (const auto &[tag, value] : values)
    summary += makeValue(tag, value);
  return record(makeEvent(step, 5, summary));
}

Status EventFile::step(const StepReport &report) {
  if (!file)
    return Status::success();
  Scalars values = {{"lr", report.lr},
                    {"loss_scale", report.lossScale},
                    {"skipped", report.skipped},
                    {"tokens_per_s", report.tokensPerSecond}};
  if (!report.hasNoTargets)
    values.emplace_back("loss", report.loss);
  for (const auto &[name, value] : report.losses)
    values.emplace_back("losses/" + name, value);
  for (const auto &[name, value] : report.metrics)
    values.emplace_back("metrics/" + name, value);
  if (report.hasGradNorm)
    values.emplace_back("grad_norm", report.gradNorm);
  return scalars(report.step, values);
}

Status EventFile::eval(const EvalReport &report) {
  if (!file)
    return Status::success();
  Scalars values = {{"val_loss", report.loss}};
  if (report.perplexity)
    values.emplace_back("perplexity", *report.perplexity);
  for (const auto &[name, value] : report.losses)
    values.emplace_back("val_losses/" + name, value);
  for (const auto &[name, value] : report.metrics)
    values.emplace_back("val_metrics/" + name, value);
  return scalars(report.step, values);
}
