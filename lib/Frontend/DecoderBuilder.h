//===- DecoderBuilder.h - Programs of a decoder-only model ------*- C++ -*-===//
//
// One builder for all families: it reads a DecoderSpec and knows no family.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_FRONTEND_DECODERBUILDER_H
#define WEFT_LIB_FRONTEND_DECODERBUILDER_H

#include "DecoderSpec.h"
#include "ModelBuilder.h"

#include <array>

namespace weft {

/// Declares the parameters, in the order of transformers' modules.
void declareParams(const DecoderSpec &spec, ModelBuilder &m);

/// Builds the activation function on `x`.
mlir::Value buildActivation(ModelBuilder &m, Activation kind, mlir::Value x);

class DecoderBuilder {
public:
  DecoderBuilder(const DecoderSpec &spec, ModelBuilder &m)
      : spec(spec), names(spec.names), m(m) {}

  /// Parameters, then the programs. Fails after an error if a parameter has
  /// more bytes than a tensor may have.
  mlir::LogicalResult build(const LanguageModelSizes &sizes);

private:
  using Value = mlir::Value;
  struct Tables {
    Value cos, sin;
  };
  /// Where an attention stands: "model.layers.3.self_attn".
  struct AttentionSite {
    std::string path;
    const LayerSpec &layer;
  };

  /// The last hidden states.
  Value hidden(Value tokens, bool isTraining);
  Value logits(Value states);

  Value embed(Value tokens);
  Value positions(Value words, int64_t seq);
  Tables rotary(const RotaryConfig &config, llvm::StringRef scope, int64_t seq);

  Value layer(int64_t index, Value x);
  Value parallelLayer(int64_t index, Value x);
  Value attention(int64_t index, Value x);
  /// A projection as [batch, time, heads, width], with its norm and rotation.
  enum Part { Query, Key, ValuePart };
  Value toHeads(const AttentionSite &site, Part part, Value y);
  std::array<Value, 3> project(const AttentionSite &site, Value x);
  std::array<Value, 3> projectFused(const AttentionSite &site, Value x);
  Value rotate(Value x, RopeUse use);
  Value feedForward(int64_t index, Value x);
  Value gatedUp(const std::string &path, Value x);

  /// `x` if `name` is empty.
  Value norm(llvm::StringRef path, llvm::StringRef name, Value x);
  Value normOf(const llvm::Twine &name, Value x);
  Value linear(const llvm::Twine &name, Value x, bool hasBias);
  Value addResidual(Value x, Value update);
  Value scale(Value x, double factor);
  Value number(double value);
  Value cap(Value x, double limit);
  Value drop(Value x, double p) { return training ? m.dropout(x, p) : x; }

  std::string layerPath(int64_t index) const {
    return names.root.str() + layerScope(spec, index);
  }
  /// `path` + "." + the module's name, if it has one.
  static std::string modulePath(const std::string &path,
                                llvm::StringRef module) {
    return module.empty() ? path : path + "." + module.str();
  }

  const DecoderSpec &spec;
  const TensorNames &names;
  ModelBuilder &m;
  // Of the program being built.
  bool training = false;
  Tables globalTables, localTables;
};

} // namespace weft

#endif // WEFT_LIB_FRONTEND_DECODERBUILDER_H
