//===- CheckpointTools.cpp - weft ckpt ls and verify ----------------------===//

#include "weft/Runtime/CheckpointTools.h"

#include "weft/Formats/Durable.h"
#include "weft/Runtime/Progress.h"

#include <sys/stat.h>

using namespace weft;

static bool isStepDirectory(const std::string &folder) {
  struct stat info;
  return stat((folder + "/" + manifestName).c_str(), &info) == 0;
}

/// The steps of a save directory; at least one.
static Expected<std::vector<StepEntry>> stepsOf(const std::string &folder) {
  struct stat info;
  if (stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return checkpointError("expects a step directory or a save directory, but "
                           "found none")
        .at(folder);
  auto steps = listSteps(folder);
  if (steps && steps->empty())
    return checkpointError("expects a checkpoint, but found none").at(folder);
  return steps;
}

Expected<std::string> weft::findStepDirectory(const std::string &folder) {
  if (isStepDirectory(folder))
    return folder;
  auto steps = stepsOf(folder);
  if (!steps)
    return steps.takeError();
  const StepEntry &newest = steps->back();
  if (!newest.problem.empty())
    return checkpointError(newest.problem).at(newest.path);
  return newest.path;
}

static int64_t bytesOf(const Manifest &manifest) {
  int64_t bytes = 0;
  for (const ManifestFile &file : manifest.files)
    bytes += file.bytes;
  return bytes;
}

static std::string stepLine(const StepEntry &entry) {
  std::string text = stepDirectoryName(entry.step);
  if (!entry.problem.empty())
    return text + "  damaged: " + entry.problem + "\n";
  auto manifest = Manifest::read(entry.path);
  if (!manifest)
    return text + "  damaged: " + manifest.error().message() + "\n";
  return text + "  " + std::to_string(manifest->tensors.size()) + " tensors  " +
         humanBytes(bytesOf(*manifest)) + "  model " + manifest->fingerprint +
         "\n";
}

static Expected<std::string> listTensors(const std::string &directory) {
  auto manifest = Manifest::read(directory);
  if (!manifest)
    return manifest.takeError();
  std::string text = "step " + std::to_string(manifest->step) + "  seed " +
                     std::to_string(manifest->seed) + "  rows read " +
                     std::to_string(manifest->cursor.rows) + "  ranks " +
                     std::to_string(manifest->worldSize) + "  model " +
                     manifest->fingerprint + "\n";
  for (const ManifestTensor &tensor : manifest->tensors)
    text += tensor.kind + "  " + tensorTypeName(tensor.type) + "  " +
            shapeText(tensor.shape) + "  " + tensor.name + "\n";
  return text;
}

Expected<std::string> weft::listCheckpoint(const std::string &folder) {
  if (isStepDirectory(folder))
    return listTensors(folder);
  auto steps = stepsOf(folder);
  if (!steps)
    return steps.takeError();
  std::string text;
  for (const StepEntry &entry : *steps)
    text += stepLine(entry);
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
  std::string text;
  if (isStepDirectory(folder)) {
    if (Status s = verifyStep(folder, text); !s)
      return s.takeError();
    return text;
  }
  auto steps = stepsOf(folder);
  if (!steps)
    return steps.takeError();
  for (const StepEntry &entry : *steps)
    if (Status s = verifyStep(entry.path, text); !s)
      return s.takeError();
  return text;
}
