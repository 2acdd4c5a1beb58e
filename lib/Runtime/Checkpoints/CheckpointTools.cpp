//===- CheckpointTools.cpp - weft ckpt ls and verify ----------------------===//

#include "weft/Runtime/Checkpoints/CheckpointTools.h"

#include "weft/Formats/StepDirectories.h"
#include "weft/Runtime/Checkpoints/CheckpointReader.h"

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
  return text + "  " + std::to_string(manifest->tensors.size()) + " tensors  " +
         humanBytes(bytesOf(*manifest)) + "  model " +
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
          std::to_string(manifest->files.size()) + " files, " +
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
