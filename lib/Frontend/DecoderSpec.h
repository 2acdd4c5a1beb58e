//===- DecoderSpec.h - The facts of a decoder-only model --------*- C++ -*-===//
//
// Plain data that DecoderBuilder turns into parameters and programs.
// FamilyReader fills it from config.json; another reader may fill it too.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_FRONTEND_DECODERSPEC_H
#define WEFT_LIB_FRONTEND_DECODERSPEC_H

#include "RotaryTables.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace weft {

/// Modules and tensors as a family's safetensors files name them. An empty name
/// means that the family has no such tensor, which decides its structure: with
/// `qkv` the projections are fused, without `gate` the feed-forward is plain.
struct TensorNames {
  /// In front of every name but the head's, such as "model.".
  llvm::StringRef root = "model.";
  llvm::StringRef tokens = "embed_tokens", positions;
  llvm::StringRef layers = "layers";

  llvm::StringRef attention = "self_attn";
  llvm::StringRef q = "q_proj", k = "k_proj", v = "v_proj", qkv;
  llvm::StringRef out = "o_proj", qNorm = "q_norm", kNorm = "k_norm";

  llvm::StringRef mlp = "mlp"; // empty: its tensors are the layer's
  llvm::StringRef gate = "gate_proj", up = "up_proj", gateUp;
  llvm::StringRef down = "down_proj";

  /// In front of attention and feed-forward, and behind them.
  llvm::StringRef attentionNorm = "input_layernorm", afterAttentionNorm;
  llvm::StringRef mlpNorm = "post_attention_layernorm", afterMlpNorm;

  llvm::StringRef finalNorm = "norm", head = "lm_head";
  /// Between a token table of another width and the hidden states.
  llvm::StringRef projectIn, projectOut;

  /// A module path that files of weights may leave out.
  llvm::StringRef optionalRoot;
  /// Weights of projections are [out, in], else [in, out] (GPT-2's Conv1D).
  bool outputsFirst = true;
  /// Norms are declared in front of the module that follows them.
  bool normsInOrder = false;
  /// Scope of the embedding ops, if it is not `tokens`.
  llvm::StringRef embeddingScope;
};

enum class Activation { Gelu, GeluTanh, Relu, Silu, Tanh, Sigmoid };
enum class NormKind {
  Layer,
  Rms,
  OffsetRms, // RMS norm times 1 + weight (Gemma)
};
/// Whether query and key have a norm: over each head, or all heads at once.
enum class QueryKeyNorm { None, Head, Projection };
enum class RopeUse { None, Global, Local };

struct LayerSpec {
  /// Keys that a query sees, itself included; 0: all before it.
  int64_t window = 0;
  RopeUse rope = RopeUse::None;
};

struct DecoderSpec {
  TensorNames names;

  int64_t vocab = 1, positions = 1, width = 1, inner = 1;
  int64_t layerCount = 1, heads = 1, groups = 1, headWidth = 1;
  /// Width of the token table; another than `width` needs projections.
  int64_t tokenWidth = 1;
  /// One per layer.
  std::vector<LayerSpec> layers;

  // Embedding.
  double embeddingScale = 1.0;
  /// The embedding also times sqrt(width) (Gemma).
  bool scaleBySqrtWidth = false;
  /// Rows of the position table in front of the first position (OPT: 2).
  int64_t positionOffset = 0;

  // Norms.
  NormKind norm = NormKind::Rms;
  double epsilon = 1e-6;
  QueryKeyNorm queryKeyNorm = QueryKeyNorm::None;
  /// Else the norms of a layer come behind the additions, and the last is no
  /// final norm (OPT-350m).
  bool normBefore = true;
  bool dropsFinalNorm = false;

  // Attention.
  bool qkvBias = false, outBias = false;
  /// A fused projection has query, key and value of a head together (GPT-NeoX),
  /// else of all heads (Phi-3).
  bool qkvByHead = false;
  /// Scores times this; 0: times 1 / sqrt(queryScalar).
  double attentionMultiplier = 0.0;
  /// 0: the head width.
  double queryScalar = 0.0;
  bool scaleByWidth = true;
  /// Scores of layer i also times 1 / (i + 1).
  bool scaleByLayer = false;
  /// Scores become cap tanh(scores / cap); 0: they stay.
  double attentionCap = 0.0;
  RotaryConfig rope, localRope;

  // Feed-forward and residual stream.
  Activation activation = Activation::Silu;
  bool mlpBias = false;
  /// Attention and feed-forward read the same hidden states.
  bool parallel = false;
  /// Attention and feed-forward side by side have one norm (StableLM).
  bool sharesParallelNorm = false;
  double residualScale = 1.0;

  // Head.
  bool tied = false, headBias = false;
  double logitDivisor = 1.0;
  /// Logits become cap tanh(logits / cap); 0: they stay.
  double logitCap = 0.0;

  // Training.
  double attentionDrop = 0.0, residualDrop = 0.0, embeddingDrop = 0.0;
  double initRange = 0.02;
  /// Projections into the residual stream start at 1 / sqrt(2 layers) of it.
  bool scaledResidualInit = false;

  bool isGated() const { return !names.gate.empty() || !names.gateUp.empty(); }
  bool hasFinalNorm() const { return normBefore && !dropsFinalNorm; }
  /// Whether the feed-forward has a norm of its own in front.
  bool hasMlpNorm() const {
    return !names.mlpNorm.empty() && !(parallel && sharesParallelNorm);
  }
  bool isProjected() const {
    return !names.projectIn.empty() && tokenWidth != width;
  }
  double embeddingFactor() const;
  /// Factor of the scores of a layer.
  double attentionScale(int64_t layer) const;
  /// Longest row of tokens.
  int64_t context() const;
  /// Elements that the widest value has for each token.
  int64_t widest() const;
  bool usesRope(RopeUse use) const;
};

/// Name of a layer's module: "layers.3".
std::string layerScope(const DecoderSpec &spec, int64_t layer);

} // namespace weft

#endif // WEFT_LIB_FRONTEND_DECODERSPEC_H
