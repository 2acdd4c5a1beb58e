//===- LoadModel.cpp - Detect and load a model file -----------------------===//

#include "weft/Frontend/Frontend.h"

#include "Configs.h"
#include "weft/Base/InputFile.h"
#include "weft/Formats/FileKind.h"

#include "mlir/IR/Verifier.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>

using namespace mlir;
using namespace weft;

/// Default of --seq: long contexts must be asked for.
static constexpr int64_t kDefaultSeq = 1024;
static constexpr int64_t kDefaultBatch = 8;

/// Most tokens of a batch.
static constexpr int64_t kMostTokens = int64_t(1) << 31;

/// The family that `model_type` names, or null after an error.
static std::unique_ptr<ModelFamily> findFamily(ConfigFields &fields) {
  if (!fields.has("model_type")) {
    fields.error("model_type") << "expects field 'model_type', gpt2 or llama";
    return nullptr;
  }
  std::string type = fields.text("model_type", "");
  if (type == "gpt2")
    return makeGpt2();
  if (type == "llama")
    return makeLlama();
  if (fields.failed())
    return nullptr;
  InFlightDiagnostic diag = fields.error("model_type");
  diag << "field 'model_type': expects gpt2 or llama, but got '"
       << printable(type, 80) << "'";
  diag.attachNote() << "a model of another family can be written as an .mlir "
                       "file";
  return nullptr;
}

/// Checks --batch and --seq against the model.
static FailureOr<LanguageModelSizes> pickSizes(const ModelFamily &family,
                                               const FrontendOptions &options,
                                               Location loc) {
  LanguageModelSizes sizes;
  sizes.vocab = family.vocab();
  sizes.batch = options.batch.value_or(kDefaultBatch);
  sizes.seq = options.seq.value_or(std::min(family.context(), kDefaultSeq));
  if (sizes.seq < 1 || sizes.seq > family.context())
    return FailureOr<LanguageModelSizes>(
        emitError(loc) << "expects --seq from 1 to the model's context of "
                       << family.context() << ", but got " << sizes.seq);
  // Values are f32 here.
  const int64_t mostTokens =
      std::min(kMostTokens, kMostBufferBytes / (4 * family.widest()));
  if (sizes.seq > mostTokens)
    return FailureOr<LanguageModelSizes>(
        emitError(loc) << "expects --seq from 1 to " << mostTokens
                       << " with values of " << family.widest()
                       << " elements a token, but got " << sizes.seq);
  const int64_t mostRows = mostTokens / sizes.seq;
  if (sizes.batch < 1 || sizes.batch > mostRows)
    return FailureOr<LanguageModelSizes>(
        emitError(loc) << "expects --batch from 1 to " << mostRows
                       << " with --seq=" << sizes.seq << ", but got "
                       << sizes.batch);
  return sizes;
}

static OwningOpRef<ModuleOp> buildModel(ModelFamily &family,
                                        const LanguageModelSizes &sizes,
                                        ConfigFields &fields, Location loc) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc, family.name());
  Builder b(loc.getContext());
  Operation *op = module->getOperation();
  op->setAttr("weft.family", b.getStringAttr(family.name()));
  op->setAttr("weft.vocab", b.getI64IntegerAttr(sizes.vocab));
  op->setAttr("weft.seq", b.getI64IntegerAttr(sizes.seq));
  op->setAttr("weft.batch", b.getI64IntegerAttr(sizes.batch));
  op->setAttr("weft.config", fields.recorded());
  ModelBuilder builder(*module, loc);
  if (failed(family.build(builder, sizes)))
    return {};
  return module;
}

static FailureOr<OwningOpRef<ModuleOp>>
loadConfig(const std::string &path, const FrontendOptions &options,
           MLIRContext &context) {
  Expected<std::string> text = readFile(path);
  if (!text)
    return report(context, text.error());
  Expected<Json> json = parseJson(*text, path);
  if (!json)
    return report(context, json.error());
  if (!json->isObject())
    return report(context, inputError("expects an object of config fields")
                               .at(path, json->line()));
  ConfigFields fields(*json, path, options.ignoreFields, context);
  std::unique_ptr<ModelFamily> family = findFamily(fields);
  if (!family)
    return failure();
  family->read(fields);
  SmallVector<llvm::StringRef> harmless(family->harmlessFields());
  llvm::append_range(harmless, commonHarmlessFields());
  fields.finish(family->name(), harmless);
  fields.checkIgnored();
  if (fields.failed())
    return failure();

  Location loc = fileLocation(context, path, 1);
  FailureOr<LanguageModelSizes> sizes =
      pickSizes(*family, options, fileLocation(context, path, 0));
  if (failed(sizes))
    return failure();
  OwningOpRef<ModuleOp> module = buildModel(*family, *sizes, fields, loc);
  if (!module)
    return failure();
  Builder b(&context);
  std::string folder = llvm::sys::path::parent_path(path).str();
  Operation *op = module->getOperation();
  op->setAttr("weft.config_text", b.getStringAttr(*text));
  std::vector<std::string> tokenizer = tokenizerFilesIn(folder);
  op->setAttr("weft.tokenizer_files",
              b.getStrArrayAttr(SmallVector<llvm::StringRef>(tokenizer.begin(),
                                                             tokenizer.end())));
  if (failed(recordCompanions(*module, folder)))
    return failure();
  if (options.weights && failed(recordWeights(*module, *family, folder)))
    return failure();
  if (failed(verify(*module)))
    return failure();
  return module;
}

FailureOr<OwningOpRef<ModuleOp>> weft::loadModel(const std::string &path,
                                                 const FrontendOptions &options,
                                                 MLIRContext &context) {
  context.loadDialect<WeftDialect>();
  if (llvm::sys::fs::is_directory(path)) {
    SmallString<128> config(path);
    llvm::sys::path::append(config, "config.json");
    return loadConfig(config.str().str(), options, context);
  }
  llvm::StringRef extension = llvm::sys::path::extension(path);
  if (extension == ".json")
    return loadConfig(path, options, context);
  if (extension == ".mlir")
    return loadModelText(path, options, context);
  FileKind kind = guessFileKind(path);
  InFlightDiagnostic diag = emitError(fileLocation(context, path, 0));
  diag << "expects a model: an .mlir file, a config.json, or a folder with "
          "config.json";
  if (kind.isKnown())
    diag << ", but got " << kind.name;
  else if (!llvm::sys::fs::exists(path))
    diag << ", but there is no such file";
  if (kind.isSafetensors)
    diag.attachNote() << "weights are taken from model.safetensors in the "
                         "folder of a config.json";
  else if (*kind.hint)
    diag.attachNote() << kind.hint;
  return failure();
}
