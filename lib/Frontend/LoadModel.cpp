//===- LoadModel.cpp - Detect and load a model file -----------------------===//

#include "weft/Frontend/Frontend.h"

#include "DecoderBuilder.h"
#include "FamilyReader.h"
#include "LoadModel.h"
#include "weft/Base/CountText.h"
#include "weft/Base/InputFile.h"
#include "weft/Formats/FileKind.h"
#include "weft/Formats/GgufFamilies.h"
#include "weft/Formats/GgufVocabulary.h"
#include "weft/Formats/ModelWeights.h"
#include "weft/Formats/WeightFiles.h"

#include "mlir/IR/Verifier.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Files behind a model
//===----------------------------------------------------------------------===//

static std::string pathIn(llvm::StringRef folder, llvm::StringRef name) {
  SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

/// Names of the tokenizer files in a folder, sorted.
static std::vector<std::string> tokenizerFilesIn(llvm::StringRef folder) {
  std::vector<std::string> found;
  for (const char *name :
       {"merges.txt", "tokenizer.json", "tokenizer.model", "vocab.json"})
    if (llvm::sys::fs::exists(pathIn(folder, name)))
      found.push_back(name);
  return found;
}

std::vector<std::string> weft::companionFilesIn(llvm::StringRef folder) {
  std::vector<std::string> found;
  for (const std::string &name : companionNames()) {
    const std::string path = pathIn(folder, name);
    // A link to no file counts: loadModel refuses it.
    if (llvm::sys::fs::exists(path) || llvm::sys::fs::is_symlink_file(path))
      found.push_back(name);
  }
  return found;
}

/// Files that decide whether the model has weights, in a form that weft reads
/// or in another.
static std::vector<std::string> weightFilesIn(const std::string &folder) {
  if (ModelWeights::existsIn(folder))
    return ModelWeights::filesOf(folder);
  auto unread = findUnreadWeights(folder);
  return unread ? std::move(*unread) : std::vector<std::string>();
}

static bool isGgufPath(llvm::StringRef path) {
  return llvm::sys::path::extension(path).equals_insensitive(".gguf");
}

/// The file that a model is read from.
static std::string modelFile(const std::string &model) {
  return llvm::sys::fs::is_directory(model) ? pathIn(model, "config.json")
                                            : model;
}

std::vector<std::string> weft::modelFiles(const std::string &model) {
  const std::string text = modelFile(model);
  std::vector<std::string> files = {text};
  if (llvm::sys::path::extension(text) != ".json")
    return files;
  llvm::StringRef folder = llvm::sys::path::parent_path(text);
  for (std::string &file : weightFilesIn(folder.empty() ? "." : folder.str()))
    files.push_back(std::move(file));
  for (const std::string &name : companionFilesIn(folder))
    files.push_back(pathIn(folder, name));
  return files;
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// Default of --seq: long contexts must be asked for.
static constexpr int64_t kDefaultSeq = 1024;
static constexpr int64_t kDefaultBatch = 8;

/// Most tokens of a batch.
static constexpr int64_t kMostTokens = int64_t(1) << 31;

/// Checks --batch and --seq against the model.
static FailureOr<LanguageModelSizes> pickSizes(const DecoderSpec &spec,
                                               const FrontendOptions &options,
                                               Location loc) {
  LanguageModelSizes sizes;
  sizes.vocab = spec.vocab;
  sizes.batch = options.batch.value_or(kDefaultBatch);
  sizes.seq = options.seq.value_or(std::min(spec.context(), kDefaultSeq));
  if (sizes.seq < 1 || sizes.seq > spec.context())
    return emitError(loc) << "expects --seq from 1 to the model's context of "
                          << spec.context() << ", but got " << sizes.seq;
  // Values are f32 here.
  const int64_t mostTokens =
      std::min(kMostTokens, kMostBufferBytes / (4 * spec.widest()));
  if (sizes.seq > mostTokens)
    return emitError(loc) << "expects --seq from 1 to " << mostTokens
                          << " with values of "
                          << countText(spec.widest(), "element")
                          << " a token, but got " << sizes.seq;
  const int64_t mostRows = mostTokens / sizes.seq;
  if (sizes.batch < 1 || sizes.batch > mostRows)
    return emitError(loc) << "expects --batch from 1 to " << mostRows
                          << " with --seq=" << sizes.seq << ", but got "
                          << sizes.batch;
  return sizes;
}

static OwningOpRef<ModuleOp> buildModel(llvm::StringRef family,
                                        const DecoderSpec &spec,
                                        const LanguageModelSizes &sizes,
                                        ConfigFields &fields, Location loc) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc, family);
  Builder b(loc.getContext());
  Operation *op = module->getOperation();
  op->setAttr("weft.family", b.getStringAttr(family));
  op->setAttr("weft.vocab", b.getI64IntegerAttr(sizes.vocab));
  op->setAttr("weft.seq", b.getI64IntegerAttr(sizes.seq));
  op->setAttr("weft.batch", b.getI64IntegerAttr(sizes.batch));
  op->setAttr("weft.config", fields.recorded());
  ModelBuilder builder(*module, loc);
  if (failed(DecoderBuilder(spec, builder).build(sizes)))
    return {};
  return module;
}

namespace {
/// A configuration and the files that belong to it.
struct ModelSource {
  std::string path; // of the configuration
  std::string text; // as JSON
  std::vector<std::string> tokenizerFiles;
  std::vector<std::string> companions;
  /// A GGUF file, which has the weights, too; else they are beside `path`.
  bool isGguf = false;
};
} // namespace

/// The model of a configuration, without its weights and files.
static FailureOr<OwningOpRef<ModuleOp>>
buildFromConfig(const Json &json, const std::string &path,
                const FrontendOptions &options, MLIRContext &context,
                DecoderSpec &spec) {
  ConfigFields fields(json, path, options.ignoreFields, context);
  const Family *family = findFamily(fields, json, path, context);
  if (!family)
    return failure();
  spec = readFamily(*family, fields);
  fields.finish(family->name, harmlessFields(*family));
  fields.checkIgnored();
  if (fields.failed())
    return failure();
  Location loc = fileLocation(context, path, 1);
  FailureOr<LanguageModelSizes> sizes =
      pickSizes(spec, options, fileLocation(context, path, 0));
  if (failed(sizes))
    return failure();
  OwningOpRef<ModuleOp> module =
      buildModel(family->name, spec, *sizes, fields, loc);
  if (!module)
    return failure();
  return module;
}

static FailureOr<OwningOpRef<ModuleOp>>
loadSource(const ModelSource &source, const Json &json,
           const FrontendOptions &options, MLIRContext &context) {
  DecoderSpec spec;
  FailureOr<OwningOpRef<ModuleOp>> built =
      buildFromConfig(json, source.path, options, context, spec);
  if (failed(built))
    return failure();
  OwningOpRef<ModuleOp> module = std::move(*built);
  Builder b(&context);
  Operation *op = module->getOperation();
  op->setAttr("weft.config_text", b.getStringAttr(source.text));
  op->setAttr("weft.tokenizer_files",
              b.getStrArrayAttr(SmallVector<llvm::StringRef>(
                  source.tokenizerFiles.begin(), source.tokenizerFiles.end())));
  if (failed(recordCompanions(*module, source.companions)))
    return failure();
  const llvm::StringRef root = spec.names.optionalRoot;
  if (options.weights &&
      failed(
          source.isGguf
              ? recordGgufWeights(*module, root, source.path)
              : recordWeights(*module, root,
                              llvm::sys::path::parent_path(source.path).str())))
    return failure();
  if (failed(verify(*module)))
    return failure();
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
  const std::string folder = llvm::sys::path::parent_path(path).str();
  ModelSource source;
  source.path = path;
  source.text = std::move(*text);
  source.tokenizerFiles = tokenizerFilesIn(folder);
  for (const std::string &name : companionFilesIn(folder))
    source.companions.push_back(pathIn(folder, name));
  return loadSource(source, *json, options, context);
}

/// A GGUF file holds the configuration, the weights and the tokenizer.
static FailureOr<OwningOpRef<ModuleOp>> loadGguf(const std::string &path,
                                                 const FrontendOptions &options,
                                                 MLIRContext &context) {
  Expected<GgufFile> file = GgufFile::open(path);
  if (!file)
    return report(context, file.error());
  Expected<Json> config = ggufConfig(*file);
  if (!config)
    return report(context, config.error());
  ModelSource source;
  source.path = path;
  source.text = config->pretty();
  if (file->findEntry(kGgufTokens))
    source.tokenizerFiles = {llvm::sys::path::filename(path).str()};
  source.companions = {path};
  source.isGguf = true;
  return loadSource(source, *config, options, context);
}

/// The command line that trains with a compiled program.
static std::string trainHint(const std::string &program) {
  const bool hasFolder = program.find('/') != program.npos;
  return "a compiled program trains by itself: " +
         shellWord(hasFolder ? program : "./" + program) +
         " --data FILE --steps N";
}

FailureOr<OwningOpRef<ModuleOp>> weft::loadModel(const std::string &path,
                                                 const FrontendOptions &options,
                                                 MLIRContext &context) {
  context.loadDialect<WeftDialect>();
  if (std::optional<Error> error = findFolderError(path))
    return report(context, *error);
  const std::string file = modelFile(path);
  llvm::StringRef extension = llvm::sys::path::extension(file);
  if (extension == ".json")
    return loadConfig(file, options, context);
  if (isGgufPath(file))
    return loadGguf(file, options, context);
  if (extension == ".mlir")
    return loadModelText(path, options, context);
  FileKind kind = guessFileKind(path);
  InFlightDiagnostic diag = emitError(fileLocation(context, path, 0));
  diag << "expects a model: an .mlir file, a config.json, a folder with "
          "config.json, or a .gguf file";
  if (kind.isKnown())
    diag << ", but got " << kind.name;
  else if (!llvm::sys::fs::exists(path))
    diag << ", but there is no such file";
  else if (uint64_t size; !llvm::sys::fs::file_size(path, size) && size == 0)
    diag << ", but got an empty file";
  if (kind.isSafetensors)
    diag.attachNote() << "weights are taken from model.safetensors in the "
                         "folder of a config.json";
  else if (kind.isProgram)
    diag.attachNote() << trainHint(path);
  else if (*kind.hint)
    diag.attachNote() << kind.hint;
  return failure();
}
