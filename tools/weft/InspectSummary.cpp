//===- InspectSummary.cpp - What a model is, and which commands take it ---===//

#include "InspectViews.h"
#include "TokenizedData.h"

#include "weft/Base/CountText.h"
#include "weft/Base/Results.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"
#include "weft/Formats/FileKind.h"
#include "weft/Formats/Gguf.h"
#include "weft/Formats/ModelWeights.h"
#include "weft/Formats/WeightFiles.h"
#include "weft/Frontend/Frontend.h"
#include "weft/Pipeline/Driver/Compiler.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Tokenizer/Tokenizer.h"
#include "weft/Weft/Weft.h"

#include <filesystem>
#include <map>

using namespace mlir;
using namespace weft;
namespace fs = std::filesystem;

bool weft::isModel(const std::string &path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return fs::exists(fs::path(path) / "config.json", ignored);
  const fs::path extension = fs::path(path).extension();
  return extension == ".mlir" || extension == ".json" ||
         guessFileKind(path).isGguf;
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

namespace {
/// The contents of the files of a model.
struct ModelFacts {
  std::string family;
  std::optional<ModelSizes> sizes;
  int64_t parameters = 0;
  /// Tensors of the weights by type; empty without weights.
  std::map<std::string, int64_t> types;
  int64_t weightBytes = 0;
  /// Files with weights that weft does not read.
  std::vector<std::string> unread;
  /// Kind and tokens of the tokenizer.
  std::string tokenizer;
  int64_t tokens = 0;
};
} // namespace

static void countParameters(ModuleOp module, ModelFacts &facts) {
  for (auto param : module.getOps<ParamOp>())
    if (!param.getTie())
      facts.parameters +=
          cast<RankedTensorType>(param.getType()).getNumElements();
}

static Status readTypes(const std::string &path, ModelFacts &facts) {
  if (guessFileKind(path).isGguf) {
    Expected<GgufFile> file = GgufFile::open(path);
    if (!file)
      return file.takeError();
    for (const GgufTensor &tensor : file->tensors())
      ++facts.types[tensor.type->name];
    return Status::success();
  }
  Expected<ModelWeights> weights = ModelWeights::open(path);
  if (!weights)
    return weights.takeError();
  for (const auto &[name, entry] : weights->tensors())
    ++facts.types[tensorTypeName(entry.info->type)];
  return Status::success();
}

static void readUnread(ModuleOp module, ModelFacts &facts) {
  if (auto files = module->getAttrOfType<ArrayAttr>("weft.unread_weights"))
    for (auto file : files.getAsRange<StringAttr>())
      facts.unread.push_back(file.str());
}

/// The weights are those beside config.json, or in the GGUF file.
static Status readWeights(ModuleOp module, const std::string &model,
                          ModelFacts &facts) {
  auto files = module->getAttrOfType<ArrayAttr>("weft.weights");
  if (!files || files.empty())
    return Status::success();
  for (auto file : files.getAsRange<DictionaryAttr>())
    facts.weightBytes += file.getAs<IntegerAttr>("bytes").getInt();
  std::error_code ignored;
  const bool isFile = !fs::is_directory(model, ignored) &&
                      fs::path(model).extension() == ".json";
  return readTypes(isFile ? fs::path(model).parent_path().string() : model,
                   facts);
}

static Status readTokenizer(ModuleOp module, const std::string &model,
                            ModelFacts &facts) {
  auto files = module->getAttrOfType<ArrayAttr>("weft.tokenizer_files");
  if (!files || files.empty())
    return Status::success();
  const fs::path path(model);
  const std::string place =
      path.extension() == ".json" ? path.parent_path().string() : model;
  Expected<Tokenizer> tokenizer = Tokenizer::load(place);
  if (!tokenizer)
    return tokenizer.takeError();
  facts.tokenizer = tokenizer->modelName();
  facts.tokens = tokenizer->vocabularySize();
  if (facts.sizes)
    warnOfExtraTokens(place, *tokenizer, facts.sizes->vocab);
  return Status::success();
}

static Expected<ModelFacts> readFacts(const std::string &model) {
  Expected<FlagValues> flags = compilerFlagTable().parse({model});
  if (!flags)
    return flags.takeError();
  Compiler compiler;
  compiler.showTrainingNotices(false);
  if (Status s = compiler.load(model, *flags); !s)
    return s.takeError();
  ModuleOp module = compiler.module();
  ModelFacts facts;
  facts.family = module->getAttrOfType<StringAttr>("weft.family").str();
  facts.sizes = readModelSizes(module);
  countParameters(module, facts);
  readUnread(module, facts);
  if (Status s = readWeights(module, model, facts); !s)
    return s.takeError();
  if (Status s = readTokenizer(module, model, facts); !s)
    return s.takeError();
  return facts;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void printLine(std::string_view label, const std::string &text) {
  std::string line(label);
  line.resize(12, ' ');
  printEscaped(line + text + "\n");
}

static void printSizes(const ModelSizes &sizes) {
  printLine("layers", concat(sizes.layers));
  printLine("width",
            concat(sizes.width, " hidden, ", sizes.inner, " feed-forward"));
  std::string heads = concat(sizes.heads, " of ", sizes.headWidth);
  if (sizes.keyHeads != sizes.heads)
    heads += concat(", ", sizes.keyHeads, " for keys and values");
  printLine("heads", heads);
  printLine("vocabulary", countText(sizes.vocab, "token"));
  printLine("context", countText(sizes.context, "token"));
}

static std::string weightsText(const ModelFacts &facts) {
  if (!facts.unread.empty())
    return unreadWeightsText(facts.unread) + ", which weft does not read";
  if (facts.types.empty())
    return "none: a training draws them";
  std::string text = humanBytes(facts.weightBytes);
  for (const auto &[type, count] : facts.types)
    text += concat(", ", countText(count, "tensor"), " of ", type);
  return text;
}

/// The next steps with the model.
static void printCommands(const std::string &model, const ModelFacts &facts) {
  const std::string path = shellWord(model);
  const bool isLanguageModel = facts.sizes.has_value();
  const std::string length = isLanguageModel ? " --seq N" : "";
  const char *source = facts.unread.empty() ? "" : " --init-from FILE";
  printLine("train",
            "weft train " + path + length + source + " --data FILE --steps N");
  if (facts.types.empty())
    return;
  if (isLanguageModel)
    printLine("generate", "weft generate " + path + " --prompt TEXT");
  printLine("evaluate", "weft evaluate " + path + length + " --val-data FILE");
}

static void printFacts(const std::string &model, const ModelFacts &facts) {
  printLine("model", facts.sizes ? facts.family + ", a decoder"
                                 : std::string("model text"));
  printLine("parameters", groupedText(facts.parameters));
  if (facts.sizes)
    printSizes(*facts.sizes);
  printLine("weights", weightsText(facts));
  if (!facts.unread.empty())
    printLine("hint", unreadWeightsHint(facts.unread.front()));
  if (facts.sizes)
    printLine("tokenizer",
              facts.tokenizer.empty()
                  ? std::string("none: bytes are tokens")
                  : facts.tokenizer + ", " + countText(facts.tokens, "token"));
  printCommands(model, facts);
}

static Json factsJson(const ModelFacts &facts) {
  Json object = Json::object();
  object.set("family", facts.family);
  object.set("parameters", facts.parameters);
  if (facts.sizes)
    for (auto [name, value] : {std::pair("layers", facts.sizes->layers),
                               std::pair("width", facts.sizes->width),
                               std::pair("inner", facts.sizes->inner),
                               std::pair("heads", facts.sizes->heads),
                               std::pair("key_heads", facts.sizes->keyHeads),
                               std::pair("head_width", facts.sizes->headWidth),
                               std::pair("vocab", facts.sizes->vocab),
                               std::pair("context", facts.sizes->context)})
      object.set(name, value);
  Json types = Json::object();
  for (const auto &[type, count] : facts.types)
    types.set(type, count);
  object.set("weights", std::move(types));
  object.set("weight_bytes", facts.weightBytes);
  object.set("unread_weights", Json::arrayOf(facts.unread));
  object.set("tokenizer",
             facts.tokenizer.empty() ? Json() : Json(facts.tokenizer));
  object.set("tokenizer_tokens", facts.tokens);
  return object;
}

Expected<ExitCode> weft::inspectSummary(const std::string &model, bool isJson) {
  Expected<ModelFacts> facts = readFacts(model);
  if (!facts)
    return facts.takeError();
  if (isJson)
    printText(factsJson(*facts).pretty());
  else
    printFacts(model, *facts);
  return ExitCode::Ok;
}
