//===- Configs.h - Families of Hugging Face models --------------*- C++ -*-===//
//
// A family reads its fields from config.json and builds the programs.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_FRONTEND_CONFIGS_H
#define WEFT_LIB_FRONTEND_CONFIGS_H

#include "ConfigFields.h"
#include "ModelBuilder.h"

#include "weft/Frontend/Frontend.h"

namespace weft {

/// A model family as the loader sees it.
class ModelFamily {
public:
  virtual ~ModelFamily() = default;
  virtual llvm::StringRef name() const = 0;
  /// Fields that change nothing that weft computes.
  virtual llvm::ArrayRef<llvm::StringRef> harmlessFields() const = 0;
  /// Reads the fields used; errors are kept in `fields`.
  virtual void read(ConfigFields &fields) = 0;
  /// Longest row of tokens.
  virtual int64_t context() const = 0;
  virtual int64_t vocab() const = 0;
  /// Elements that the widest value has for each token.
  virtual int64_t widest() const = 0;
  /// Parameters, then the programs. Fails after an error if a parameter has
  /// more bytes than a tensor may have.
  mlir::LogicalResult build(ModelBuilder &m, const LanguageModelSizes &sizes);
  /// Module path that a file of weights may leave out: "transformer.".
  virtual llvm::StringRef optionalPrefix() const { return ""; }
  /// A tensor in a file of weights that is no parameter (masks, tables).
  virtual bool isBuffer(llvm::StringRef tensor) const = 0;

private:
  /// All parameters, `lm_head.weight` last.
  virtual void declareParams(ModelBuilder &m) = 0;
  /// The last hidden states.
  virtual mlir::Value hidden(ModelBuilder &m, mlir::Value tokens,
                             bool training) = 0;
};

std::unique_ptr<ModelFamily> makeGpt2();
std::unique_ptr<ModelFamily> makeLlama();

/// Fields that transformers writes into every config.json and that have no
/// effect on training here.
llvm::ArrayRef<llvm::StringRef> commonHarmlessFields();

/// Fields of both families that are without effect at one value alone; another
/// value is an error.
void readInertFields(ConfigFields &fields);

/// Builds the activation function `name` of transformers on `x`.
mlir::Value buildActivation(ModelBuilder &m, llvm::StringRef name,
                            mlir::Value x);
/// Reads an activation field; an unknown one is an error.
std::string readActivation(ConfigFields &fields, llvm::StringRef name,
                           llvm::StringRef fallback);

/// Checks model.safetensors (or a sharded index) in `folder` against the
/// parameters of `module` and records `source` on parameters and `weft.weights`
/// on the module. Files that look like weights but are not read become
/// `weft.unread_weights`; a link to no file is an error.
mlir::LogicalResult recordWeights(mlir::ModuleOp module,
                                  const ModelFamily &family,
                                  const std::string &folder);

/// Records the files that an export takes along as `weft.companion_files`.
mlir::LogicalResult recordCompanions(mlir::ModuleOp module,
                                     const std::string &folder);

mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
loadModelText(const std::string &path, const FrontendOptions &options,
              mlir::MLIRContext &context);

} // namespace weft

#endif // WEFT_LIB_FRONTEND_CONFIGS_H
