//===- CheckpointDiff.cpp - weft ckpt diff --------------------------------===//

#include "weft/Formats/Durable.h"
#include "weft/Runtime/CheckpointReader.h"
#include "weft/Runtime/CheckpointTools.h"
#include "weft/Runtime/DTypes.h"
#include "weft/Runtime/Ports.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>

using namespace weft;

namespace {

/// How two tensors of one shape differ.
struct Distance {
  int64_t different = 0; // elements whose bits differ
  /// Of a type that the runtime can read as numbers.
  bool hasNumbers = false;
  double largest = 0.0; // NaN if a difference is
  double relative = 0.0;
};

} // namespace

/// The WeftDType with the same bits, if there is one.
static std::optional<int32_t> dtypeOf(TensorType type) {
  for (int32_t dtype = WEFT_F32; dtype <= WEFT_I64; ++dtype)
    if (tensorTypeOf(dtype) == type)
      return dtype;
  return std::nullopt;
}

/// |x - y|. Neighbours of 64 bits may be one number in double.
static double distanceOf(const char *x, const char *y, int32_t dtype) {
  if (dtype != WEFT_I64)
    return std::fabs(loadNumber(x, dtype) - loadNumber(y, dtype));
  int64_t a, b;
  std::memcpy(&a, x, sizeof a);
  std::memcpy(&b, y, sizeof b);
  auto larger = uint64_t(std::max(a, b)), smaller = uint64_t(std::min(a, b));
  return double(larger - smaller);
}

/// Fills in the numbers of two tensors that differ.
static void measureNumbers(const std::vector<char> &x,
                           const std::vector<char> &y, int32_t dtype,
                           Distance &result) {
  double sum = 0.0, norm = 0.0;
  const auto size = size_t(dtypeBytes(dtype));
  for (size_t at = 0; at < x.size(); at += size) {
    double number = loadNumber(x.data() + at, dtype);
    norm += number * number;
    if (std::memcmp(x.data() + at, y.data() + at, size) == 0)
      continue;
    double delta = distanceOf(x.data() + at, y.data() + at, dtype);
    if (std::isnan(delta) || delta > result.largest)
      result.largest = delta;
    sum += delta * delta;
  }
  result.hasNumbers = true;
  // Of a tensor of zeros, the norm of the difference itself.
  result.relative = std::fabs(std::sqrt(norm > 0 ? sum / norm : sum));
}

static int64_t countDifferent(const std::vector<char> &a,
                              const std::vector<char> &b, size_t size) {
  int64_t count = 0;
  for (size_t at = 0; at < a.size(); at += size)
    count += std::memcmp(a.data() + at, b.data() + at, size) != 0;
  return count;
}

static Expected<Distance> measure(CheckpointReader &a, CheckpointReader &b,
                                  const ManifestTensor &left,
                                  const ManifestTensor &right) {
  Distance result;
  auto x = a.read(left);
  if (!x)
    return x.takeError();
  auto y = b.read(right);
  if (!y)
    return y.takeError();
  result.different =
      countDifferent(*x, *y, size_t(tensorTypeBits(left.type) / 8));
  std::optional<int32_t> dtype = dtypeOf(left.type);
  if (result.different > 0 && dtype)
    measureNumbers(*x, *y, *dtype, result);
  return result;
}

/// "3 of 4 elements differ, largest 2, relative 0.5"
static std::string describe(const Distance &distance, int64_t elements) {
  std::string text = std::to_string(distance.different) + " of " +
                     std::to_string(elements) + " elements differ";
  if (!distance.hasNumbers)
    return text;
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, ", largest %.3g, relative %.3g",
                distance.largest, distance.relative);
  return text + numbers;
}

static Status diffTensor(CheckpointReader &a, CheckpointReader &b,
                         const ManifestTensor &left, CheckpointDiff &out) {
  const ManifestTensor *right = b.manifest().findTensor(left.name);
  if (!right) {
    out.text += left.name + ": only in " + a.path() + "\n";
    return Status::success();
  }
  if (left.type != right->type || left.shape != right->shape) {
    out.text += left.name + ": " + tensorTypeName(left.type) + " " +
                shapeText(left.shape) + " against " +
                tensorTypeName(right->type) + " " + shapeText(right->shape) +
                "\n";
    return Status::success();
  }
  auto distance = measure(a, b, left, *right);
  if (!distance)
    return distance.takeError();
  if (distance->different == 0)
    return Status::success();
  out.text += left.name + ": " +
              describe(*distance, countElements(left.shape).value_or(0)) + "\n";
  return Status::success();
}

/// One line for a number that both manifests state.
static void diffNumber(const char *name, int64_t left, int64_t right,
                       CheckpointDiff &out) {
  if (left != right)
    out.text += std::string(name) + ": " + std::to_string(left) + " against " +
                std::to_string(right) + "\n";
}

Expected<CheckpointDiff> weft::diffCheckpoints(const std::string &a,
                                               const std::string &b) {
  auto leftStep = holdStep(a);
  if (!leftStep)
    return leftStep.takeError();
  auto rightStep = holdStep(b);
  if (!rightStep)
    return rightStep.takeError();
  auto left = CheckpointReader::open(leftStep->path);
  if (!left)
    return left.takeError();
  auto right = CheckpointReader::open(rightStep->path);
  if (!right)
    return right.takeError();
  CheckpointDiff out;
  const Manifest &x = left->manifest(), &y = right->manifest();
  if (x.fingerprint != y.fingerprint)
    out.text += "model: " + savedModelName(left->path(), x) + " " +
                x.fingerprint + " against " + savedModelName(right->path(), y) +
                " " + y.fingerprint + "\n";
  diffNumber("step", x.step, y.step, out);
  diffNumber("seed", x.seed, y.seed, out);
  diffNumber("rows read", x.cursor.rows, y.cursor.rows, out);
  for (const ManifestTensor &tensor : x.tensors)
    if (Status s = diffTensor(*left, *right, tensor, out); !s)
      return s.takeError();
  for (const ManifestTensor &tensor : y.tensors)
    if (!x.findTensor(tensor.name))
      out.text += tensor.name + ": only in " + right->path() + "\n";
  out.equal = out.text.empty();
  if (out.equal)
    out.text = "equal\n";
  return out;
}
