//===- ReadWeight.cpp - One weight of a file, into the arena --------------===//

#include "weft/Base/Half.h"
#include "weft/Runtime/Checkpoints/WeightSource.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Execute/DTypes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace weft;

/// Reads elements as f32; all conversions go through f32. Adds to `lost` the
/// number of elements that are finite in f64 but not in f32.
static Status readWide(const ModelWeights::Entry &entry, int64_t begin,
                       int64_t count, float *values, int64_t &lost) {
  if (entry.info->type != TensorType::F64)
    return entry.file->readFloats(*entry.info, begin, count, values);
  std::vector<double> wide(static_cast<size_t>(count));
  if (Status s =
          entry.file->read(*entry.info, begin * 8, count * 8, wide.data());
      !s)
    return s;
  for (int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(wide[i]);
    lost += std::isfinite(wide[i]) && !std::isfinite(values[i]);
  }
  return Status::success();
}

static void store(float value, int32_t dtype, char *out) {
  if (dtype == WEFT_F32) {
    std::memcpy(out, &value, 4);
  } else if (dtype == WEFT_F64) {
    double wide = value;
    std::memcpy(out, &wide, 8);
  } else {
    uint16_t bits = dtype == WEFT_F16 ? floatToHalf(value) : floatToBf16(value);
    std::memcpy(out, &bits, 2);
  }
}

/// Checks that the values of a rank's shard stay finite in a narrower type.
static Status checkFinite(const ModelWeights::Entry &entry, TensorType type,
                          const HeldRange &held, int64_t lost,
                          int64_t overflows) {
  const std::string &name = entry.info->name;
  const std::string &path = entry.file->path();
  if (lost > 0)
    return overflowError(name, TensorType::F32, lost, held.elements()).at(path);
  if (overflows > 0)
    return overflowError(name, type, overflows, held.elements())
        .at(path)
        .hint("--master-weights=on keeps the weights in f32");
  return Status::success();
}

/// Reads bytes [at, at + bytes) of a weight without storing them.
static Status readThrough(const ModelWeights::Entry &entry, int64_t at,
                          int64_t bytes) {
  constexpr int64_t most = int64_t(1) << 20;
  std::vector<char> piece(size_t(std::min(most, bytes)));
  for (int64_t done = 0; done < bytes; done += most)
    if (Status s = entry.file->read(*entry.info, at + done,
                                    std::min(most, bytes - done), piece.data());
        !s)
      return s;
  return Status::success();
}

/// Stores `values` in the arena from `offset` on.
static Status storeValues(const WeftContext &context, int32_t dtype,
                          const float *values, int64_t offset, int64_t count) {
  const int64_t width = dtypeBytes(dtype);
  return writeArena(context, offset, count * width,
                    [&](char *out, int64_t begin, int64_t bytes) {
                      const float *next = values + begin / width;
                      for (int64_t done = 0; done < bytes; done += width)
                        store(*next++, dtype, out + done);
                      return Status::success();
                    });
}

/// Reads the rank's shard of a weight with the same type into the arena.
static Status readSame(const WeftContext *context, const NamedTensor &tensor,
                       const HeldRange &held,
                       const ModelWeights::Entry &entry) {
  const int64_t width = dtypeBytes(tensor.dtype());
  const int64_t begin = held.begin * width, all = held.elements() * width;
  if (!context)
    return readThrough(entry, begin, all);
  return writeArena(
      *context, held.offset, all, [&](char *out, int64_t at, int64_t bytes) {
        return entry.file->read(*entry.info, begin + at, bytes, out);
      });
}

Status weft::readWeight(int64_t rank, const WeftContext *context,
                        const NamedTensor &tensor,
                        const ModelWeights::Entry &entry) {
  const TensorType type = tensorTypeOf(tensor.dtype());
  const HeldRange held = heldBy(tensor, rank);
  if (entry.info->type == type)
    return readSame(context, tensor, held, entry);
  constexpr int64_t most = int64_t(1) << 16;
  std::vector<float> values(size_t(std::min(most, held.elements())));
  int64_t lost = 0, overflows = 0;
  for (int64_t at = 0; at < held.elements(); at += most) {
    const int64_t part = std::min(most, held.elements() - at);
    if (Status s = readWide(entry, held.begin + at, part, values.data(), lost);
        !s)
      return s;
    overflows += countOverflows(values.data(), part, type);
    if (!context)
      continue;
    const int64_t offset = held.offset + at * dtypeBytes(tensor.dtype());
    if (Status s =
            storeValues(*context, tensor.dtype(), values.data(), offset, part);
        !s)
      return s;
  }
  return checkFinite(entry, type, held, lost, overflows);
}
