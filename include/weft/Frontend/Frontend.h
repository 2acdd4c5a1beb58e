//===- Frontend.h - Model files become weft modules -------------*- C++ -*-===//
//
// The entry of untrusted input: model text in the weft dialect, a Hugging Face
// style config.json with its weights, or a GGUF file. Every error is an MLIR
// diagnostic at the file and line that is wrong (line 0: the file as a whole);
// an attached note is a hint.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTEND_FRONTEND_H
#define WEFT_FRONTEND_FRONTEND_H

#include "weft/Base/Error.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

struct FrontendOptions {
  /// Rows per micro-batch. Default 8; model text defines its own.
  std::optional<int64_t> batch;
  /// Tokens of a row. Default: the model's context, at most 1024.
  std::optional<int64_t> seq;
  /// Unknown config fields that are accepted.
  std::vector<std::string> ignoreFields;
  /// Look for weights beside config.json and record them.
  bool weights = true;
};

/// Metadata of a warning that concerns training alone: a program that only
/// samples or evaluates need not show it.
inline constexpr char kTrainingNotice[] = "training";

/// Loads a model: a folder with config.json, a config.json, a .gguf file, or an
/// .mlir file.
/// The result has one program of kind `model`; language models have one of
/// kind `logits` too. Attributes of the module:
///   weft.family     "llama" or another family, or "mlir"
///   weft.vocab, weft.seq, weft.batch   (i64; the first two: language models)
///   weft.config     config field -> {value = ..., default}; `default` marks a
///                   value that the file does not give
///   weft.config_text      config.json as it was read; of a GGUF file the
///                   fields that its keys give
///   weft.tokenizer_files  tokenizer files in the model's folder
///   weft.companion_files  {path, name, bytes, xxh3} per file that an export of
///                   the weights takes along: tokenizer, generation settings
///   weft.weights    {path, name, bytes, xxh3} per file of initial weights
///   weft.unread_weights  paths of files that look like weights, where
///                   `weft.weights` is missing: a run must ask for others
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
loadModel(const std::string &path, const FrontendOptions &options,
          mlir::MLIRContext &context);

/// Sizes of a decoder, by its configuration or the defaults of its family.
struct ModelSizes {
  int64_t layers = 0, width = 0, inner = 0;
  int64_t heads = 0, keyHeads = 0, headWidth = 0;
  int64_t vocab = 0, context = 0;
};

/// The sizes of a module that loadModel made; nothing for model text.
std::optional<ModelSizes> readModelSizes(mlir::ModuleOp module);

/// The files that loadModel reads: the model's text, then its weights and
/// companion files. Checks nothing.
std::vector<std::string> modelFiles(const std::string &model);
/// The error of a folder without config.json, which names its files and a next
/// step; nothing if `folder` is another path or has one.
std::optional<Error> findFolderError(const std::string &folder);
/// Names of the files that an export takes along, sorted.
std::vector<std::string> companionFilesIn(llvm::StringRef folder);

/// Reads and parses a file of weft text. Rejects bytecode and deep nesting
/// before parsing. Does not check the contents of the module.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
parseTextFile(const std::string &path, mlir::MLIRContext &context);

/// The same for text in memory; `path` is for messages.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
parseText(llvm::StringRef text, const std::string &path,
          mlir::MLIRContext &context);

/// Deepest nesting of brackets that parseText accepts.
constexpr unsigned kMaxBracketDepth = 256;

} // namespace weft

#endif // WEFT_FRONTEND_FRONTEND_H
