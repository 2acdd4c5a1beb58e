//===- CheckpointDiff.cpp - weft ckpt diff --------------------------------===//

#include "weft/Runtime/CheckpointReader.h"
#include "weft/Runtime/CheckpointTools.h"

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace weft;

namespace {

/// How two tensors of one shape differ.
struct Distance {
  int64_t different = 0; // elements whose bits differ
  double largest = 0.0;
  double relative = 0.0;
};

} // namespace

static bool isFloat(TensorType type) {
  return type == TensorType::F32 || type == TensorType::F16 ||
         type == TensorType::BF16 || type == TensorType::F64;
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
  if (result.different == 0 || !isFloat(left.type))
    return result;
  auto u = a.readFloats(left);
  if (!u)
    return u.takeError();
  auto v = b.readFloats(right);
  if (!v)
    return v.takeError();
  double sum = 0.0, norm = 0.0;
  for (size_t i = 0; i < u->size(); ++i) {
    double delta = double((*u)[i]) - double((*v)[i]);
    result.largest = std::max(result.largest, std::fabs(delta));
    sum += delta * delta;
    norm += double((*u)[i]) * double((*u)[i]);
  }
  result.relative = norm > 0 ? std::sqrt(sum / norm) : std::sqrt(sum);
  return result;
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
  char numbers[120];
  std::snprintf(numbers, sizeof numbers,
                "%lld of %lld elements differ, largest %.3g, relative %.3g\n",
                (long long)distance->different,
                (long long)countElements(left.shape).value_or(0),
                distance->largest, distance->relative);
  out.text += left.name + ": " + numbers;
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
  auto leftPath = findStepDirectory(a);
  if (!leftPath)
    return leftPath.takeError();
  auto rightPath = findStepDirectory(b);
  if (!rightPath)
    return rightPath.takeError();
  auto left = CheckpointReader::open(*leftPath);
  if (!left)
    return left.takeError();
  auto right = CheckpointReader::open(*rightPath);
  if (!right)
    return right.takeError();
  CheckpointDiff out;
  const Manifest &x = left->manifest(), &y = right->manifest();
  if (x.fingerprint != y.fingerprint)
    out.text += "model: " + x.fingerprint + " against " + y.fingerprint + "\n";
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
