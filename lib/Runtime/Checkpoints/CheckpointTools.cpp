//===- CheckpointTools.cpp - weft ckpt ls and verify ----------------------===//

#include "weft/Base/CountText.h"
#include "weft/Formats/StepDirectories.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Execute/DTypes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>

using namespace weft;

/// The steps of a save directory; at least one, unless it is retired meanwhile.
static Expected<std::vector<StepEntry>> stepsOf(const std::string &folder) {
  // Whether there is anything at all, with the message for that.
  auto newest = holdStep(folder);
  if (!newest)
    return newest.takeError();
  return findSteps(folder);
}

static int64_t bytesOf(const Manifest &manifest) {
  int64_t bytes = 0;
  for (const ManifestFile &file : manifest.files)
    bytes += file.digest.bytes;
  return bytes;
}

/// "  val_loss 2.31459", if the step was evaluated.
static std::string lossText(const Manifest &manifest) {
  return manifest.valLoss ? "  val_loss " + Json(*manifest.valLoss).compact()
                          : "";
}

/// Nothing for a step that is retired meanwhile.
static std::string stepLine(const StepEntry &entry, const StepEntry *best) {
  StepGuard guard = StepGuard::ofReader(entry.path);
  if (!guard.isThere())
    return "";
  std::string text = stepDirectoryName(entry.step);
  auto manifest = Manifest::read(entry.path);
  if (!manifest)
    return text +
           (manifest.error().isDamage() ? "  damaged: " : "  unusable: ") +
           manifest.error().where() + "\n";
  return text + "  " + countText(int64_t(manifest->tensors.size()), "tensor") +
         "  " + humanBytes(bytesOf(*manifest)) + "  model " +
         savedModelName(entry.path, *manifest) + lossText(*manifest) +
         (best && entry.step == best->step ? "  best" : "") + "\n";
}

static Expected<std::string> listTensors(const std::string &directory) {
  auto manifest = Manifest::read(directory);
  if (!manifest)
    return manifest.takeError();
  std::string text = "step " + std::to_string(manifest->step) + "  seed " +
                     std::to_string(manifest->seed) + "  rows read " +
                     std::to_string(manifest->cursor.rows) + "  ranks " +
                     std::to_string(manifest->worldSize) + "  model " +
                     savedModelName(directory, *manifest) + " " +
                     manifest->fingerprint + "\n";
  for (const ManifestTensor &tensor : manifest->tensors)
    text += tensor.kind + "  " + tensorTypeName(tensor.type) + "  " +
            shapeText(tensor.shape) + "  " + tensor.name + "\n";
  return text;
}

/// The one step that a path stands for; nothing for a save directory.
static Expected<std::optional<std::string>>
oneStepOf(const std::string &folder) {
  auto best = findBestStep(folder);
  if (!best || *best)
    return best;
  auto isStep = isStepDirectory(folder);
  if (!isStep)
    return isStep.takeError();
  return *isStep ? std::optional(folder) : std::nullopt;
}

Expected<std::string> weft::listCheckpoint(const std::string &folder) {
  auto one = oneStepOf(folder);
  if (!one)
    return one.takeError();
  if (*one)
    return listTensors(**one);
  std::string text;
  while (text.empty()) {
    auto steps = stepsOf(folder);
    if (!steps)
      return steps.takeError();
    auto read = listSteps(folder);
    if (!read)
      return read.takeError();
    const StepEntry *best = findBest(*read);
    for (const StepEntry &entry : *steps)
      text += stepLine(entry, best);
  }
  return text;
}

static Status verifyStep(const std::string &directory, std::string &text) {
  auto manifest = Manifest::read(directory);
  if (!manifest)
    return manifest.takeError();
  if (Status s = manifest->verifyFiles(directory); !s)
    return s;
  text += directory + ": ok, step " + std::to_string(manifest->step) + ", " +
          countText(int64_t(manifest->files.size()), "file") + ", " +
          humanBytes(bytesOf(*manifest)) + "\n";
  return Status::success();
}

Expected<std::string> weft::verifyCheckpoint(const std::string &folder) {
  auto one = oneStepOf(folder);
  if (!one)
    return one.takeError();
  std::string text;
  if (*one) {
    if (Status s = verifyStep(**one, text); !s)
      return s.takeError();
    return text;
  }
  while (text.empty()) {
    auto steps = stepsOf(folder);
    if (!steps)
      return steps.takeError();
    for (const StepEntry &entry : *steps) {
      StepGuard guard = StepGuard::ofReader(entry.path);
      if (!guard.isThere())
        continue; // retired meanwhile
      if (Status s = verifyStep(entry.path, text); !s)
        return s.takeError();
    }
  }
  return text;
}

//===- Differences --------------------------------------------------------===//

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

namespace {

/// Adds up how two tensors differ, piece by piece.
class Comparison {
public:
  explicit Comparison(TensorType type)
      : dtype(dtypeOf(type)), width(size_t(tensorTypeBits(type) / 8)) {}

  void add(const char *x, const char *y, size_t bytes) {
    const bool same = std::memcmp(x, y, bytes) == 0;
    if (same && !dtype)
      return;
    for (size_t at = 0; at < bytes; at += width) {
      if (dtype)
        addNorm(x + at);
      if (!same && std::memcmp(x + at, y + at, width) != 0)
        addDifference(x + at, y + at);
    }
  }
  Distance result() const {
    Distance distance;
    distance.different = different;
    distance.hasNumbers = dtype.has_value();
    distance.largest = largest;
    // Of a tensor of zeros, the norm of the difference itself.
    distance.relative = std::fabs(std::sqrt(norm > 0 ? sum / norm : sum));
    return distance;
  }

private:
  void addNorm(const char *x) {
    double number = loadNumber(x, *dtype);
    norm += number * number;
  }
  void addDifference(const char *x, const char *y) {
    ++different;
    if (!dtype)
      return;
    double delta = distanceOf(x, y, *dtype);
    if (std::isnan(delta) || delta > largest)
      largest = delta;
    sum += delta * delta;
  }

  std::optional<int32_t> dtype;
  size_t width;
  int64_t different = 0;
  double sum = 0.0, norm = 0.0, largest = 0.0;
};

} // namespace

static Expected<Distance> measure(CheckpointReader &a, CheckpointReader &b,
                                  const ManifestTensor &left,
                                  const ManifestTensor &right) {
  constexpr int64_t most = int64_t(1) << 20;
  const int64_t elements = countElements(left.shape).value_or(0);
  const int64_t width = tensorTypeBits(left.type) / 8;
  std::vector<char> x(size_t(std::min(most, elements) * width)), y(x.size());
  Comparison comparison(left.type);
  for (int64_t at = 0; at < elements; at += most) {
    const int64_t part = std::min(most, elements - at);
    if (Status s = a.read(left, at, part, x.data()); !s)
      return s.takeError();
    if (Status s = b.read(right, at, part, y.data()); !s)
      return s.takeError();
    comparison.add(x.data(), y.data(), size_t(part * width));
  }
  return comparison.result();
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
    out.text += concat(name, ": ", left, " against ", right, "\n");
}

/// One of the two may be of an older weft, which knew version 1 alone.
static bool areOfOneModel(const Manifest &x, const Manifest &y) {
  return x.fingerprint == y.fingerprint || x.fingerprint == y.fingerprint1 ||
         x.fingerprint1 == y.fingerprint;
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
  if (!areOfOneModel(x, y))
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
