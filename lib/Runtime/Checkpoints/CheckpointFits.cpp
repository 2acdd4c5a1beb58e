//===- CheckpointFits.cpp - Can this program continue that checkpoint -----===//

#include "weft/Base/Text.h"
#include "weft/Formats/Json.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Execute/DTypes.h"

#include <set>

using namespace weft;

static Error mismatch(const std::string &directory, const std::string &text) {
  return checkpointError(text).at(directory).hint(
      "the checkpoint is of another program: another model or --add-pass; take "
      "its weights with `weft ckpt export` and --init-from");
}

static Status checkTensor(const NamedTensor &tensor, const std::string &name,
                          const Manifest &manifest,
                          const std::string &directory) {
  const ManifestTensor *saved = manifest.findTensor(name);
  if (!saved)
    return mismatch(directory, "expects tensor " + inQuotes(tensor.name) +
                                   ", but the checkpoint has none");
  if (saved->type != tensorTypeOf(tensor.dtype()))
    return mismatch(directory, "tensor " + inQuotes(tensor.name) +
                                   " expects type " +
                                   dtypeName(tensor.dtype()) + ", but got " +
                                   tensorTypeName(saved->type))
        .hint("--precision and --master-weights decide the types of weights: "
              "compile as the run that saved it was, or take its weights with "
              "`weft ckpt export` and --init-from");
  if (saved->shape != tensor.shape)
    return mismatch(directory, "tensor " + inQuotes(tensor.name) +
                                   " expects shape " + shapeText(tensor.shape) +
                                   ", but got " + shapeText(saved->shape));
  return Status::success();
}

/// How the parameters of another model differ, by the first name that does.
static std::string firstDifference(const Manifest &manifest,
                                   const Metadata &metadata,
                                   const WeftExecutable &executable) {
  std::set<std::string> known;
  for (const NamedTensor &tensor : namedTensors(executable, WEFT_PARAM)) {
    known.insert(tensor.name);
    const ManifestTensor *saved = manifest.findTensor(tensor.name);
    if (!saved)
      return "it has no tensor " + inQuotes(tensor.name);
    if (saved->shape != tensor.shape)
      return "its tensor " + inQuotes(tensor.name) + " has shape " +
             shapeText(saved->shape) + ", not " + shapeText(tensor.shape);
  }
  for (const ManifestTensor &tensor : manifest.tensors)
    if (tensor.kind == "param" && !known.count(tensor.name))
      return "it has the tensor " + inQuotes(tensor.name) +
             ", which the program has not";
  return "its parameters have the same names and shapes, but another "
         "computation or configuration (fingerprint " +
         printable(manifest.fingerprint, 80) + ", not " + metadata.fingerprint +
         ")";
}

/// Two optimizers may keep the same tensors (adam and adamw).
static Status checkOptimizers(const Json &model, const std::string &directory,
                              const Metadata &metadata) {
  Json expected = Json::arrayOf(metadata.optimizers);
  const Json *saved = model.find("optimizers");
  if (!saved || *saved == expected)
    return Status::success();
  Error error = mismatch(directory, "expects a checkpoint of optimizers " +
                                        expected.compact() +
                                        ", but got one of " + saved->compact());
  if (saved->isArray() && saved->asArray().size() == 1 &&
      saved->asArray()[0].isString())
    error.hint("compile with --optimizer=" + saved->asArray()[0].asString() +
               " to continue it, or take its weights with `weft ckpt export` "
               "and --init-from");
  return error;
}

static Expected<ResumedOptimizer> checkOptimizer(const Manifest &manifest,
                                                 const std::string &directory,
                                                 const ResumeTarget &target) {
  if (target.weightsOnly)
    return ResumedOptimizer();
  auto model = readModelFile(manifest, directory);
  if (!model)
    return model.takeError();
  if (Status s = checkOptimizers(*model, directory, target.metadata); !s)
    return s.takeError();
  return resumeOptimizer(manifest, *model, directory, target.executable,
                         target.metadata);
}

/// The checkpoint has nothing that the program does not know.
static Status checkNothingElse(const Manifest &manifest,
                               const std::string &directory,
                               const std::set<std::string> &known) {
  for (const ManifestTensor &tensor : manifest.tensors)
    if (tensor.kind != "scaler" && !known.count(tensor.name))
      return mismatch(directory, "the program has no tensor " +
                                     inQuotes(tensor.name) +
                                     " of the checkpoint");
  return Status::success();
}

Error weft::otherModel(const Manifest &manifest, const std::string &directory,
                       const Metadata &metadata,
                       const WeftExecutable &executable) {
  return mismatch(directory,
                  "expects a checkpoint of model " + inQuotes(metadata.name) +
                      ", but got one of '" +
                      savedModelName(directory, manifest) +
                      "': " + firstDifference(manifest, metadata, executable));
}

Expected<ResumedOptimizer> weft::checkTensors(const Manifest &manifest,
                                              const std::string &directory,
                                              const ResumeTarget &target) {
  if (!target.metadata.isModel(manifest.fingerprint))
    return otherModel(manifest, directory, target.metadata, target.executable);
  auto optimizer = checkOptimizer(manifest, directory, target);
  if (!optimizer)
    return optimizer;
  std::set<std::string> known = optimizer->savedCounters;
  for (const NamedTensor &tensor : namedTensors(target.executable)) {
    known.insert(tensor.name);
    if (isSaved(*tensor.home) && tensor.kind() != WEFT_SCALER &&
        (tensor.kind() == WEFT_PARAM || !target.weightsOnly) &&
        !optimizer->isFresh(tensor.name))
      if (Status s = checkTensor(tensor, optimizer->savedName(tensor.name),
                                 manifest, directory);
          !s)
        return s.takeError();
  }
  if (!target.weightsOnly)
    if (Status s = checkNothingElse(manifest, directory, known); !s)
      return s.takeError();
  return optimizer;
}

static Status checkScaler(const Json &model, const Manifest &manifest,
                          const std::string &directory,
                          const WeftExecutable &executable) {
  LossScaler program = LossScaler::of(executable);
  if (Status s = checkScalePolicy(model, directory, program); !s)
    return s;
  for (const WeftTensor *tensor : {program.scale, program.state})
    if (tensor)
      if (Status s = checkTensor(namedTensors(*tensor).front(), tensor->name,
                                 manifest, directory);
          !s)
        return s;
  return Status::success();
}

Expected<Json> weft::readModelFile(const Manifest &manifest,
                                   const std::string &directory) {
  auto text = manifest.readText(directory, modelFileName);
  if (!text)
    return text.takeError();
  auto model = parseJson(*text, directory + "/" + modelFileName);
  if (!model)
    return asDamage(model.takeError());
  return model;
}

Status weft::checkLossScale(const Manifest &manifest,
                            const std::string &directory,
                            const ResumeTarget &target) {
  auto model = readModelFile(manifest, directory);
  if (!model)
    return model.takeError();
  return checkScaler(*model, manifest, directory, target.executable);
}
