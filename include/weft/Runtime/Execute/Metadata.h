//===- Metadata.h - The description inside an executable --------*- C++ -*-===//
//
// The JSON text of WeftExecutable::metadata, parsed.
// docs/reference/executable.md describes every field.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_METADATA_H
#define WEFT_RUNTIME_EXECUTE_METADATA_H

#include "weft/Formats/Json.h"
#include "weft/Formats/RunRecord.h"
#include "weft/Runtime/Execute/Context.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// A file beside the model that the compiler has read.
struct InitialFile {
  std::string path;
  std::string digest;
};

/// Integers that an input may hold: 0 to limit - 1, and perhaps one more.
struct InputLimit {
  int64_t limit = 0;
  std::optional<int64_t> ignore;
};

/// An axis of the mesh of ranks, the last one fastest.
struct MeshAxis {
  std::string name;
  int64_t ranks = 1;
};

struct Metadata {
  std::string version;
  std::string name;
  std::string family;
  std::string fingerprint;
  std::string fingerprint1; // of version 1, or ""
  /// Numbers of the model that the fingerprint leaves out.
  std::optional<Settings> adjustable;
  std::string target;
  std::string precision, recipe; // "" if the executable does not tell
  std::vector<std::string> cpuFeatures;
  int64_t vocab = 0; // 0: not a language model
  int64_t seq = 0;
  int64_t batch = 0;
  bool rowMean = false; // loss and metrics are means over independent rows
  std::vector<std::string> metrics; // outputs that are no terms of the loss
  std::vector<MeshAxis> mesh;       // none: one rank
  int64_t collectiveCtas = 0;       // 0: collectives have no limit
  bool accumulation = false;
  bool canClip = false;
  std::string clipNorm; // "2", "inf", or "" when the program cannot clip
  std::vector<std::string> optimizers;
  std::vector<std::string> hyperParameters; // that they read
  std::map<std::string, std::string> defaults;
  /// Inputs of `apply` beside `weight_decay`, with their defaults.
  std::map<std::string, double> decays;
  /// The step counter of each parameter's updates; empty: there is but one.
  std::map<std::string, std::string> counters;
  /// Compile flags that numbers depend on, as they were given or by default.
  Settings options;
  std::map<std::string, InputLimit> inputLimits;
  std::vector<InitialFile> initialWeights;
  std::vector<std::string> unreadWeights;  // paths of weights in other forms
  std::vector<std::string> ignoredWeights; // suffixes of tensor names
  std::vector<std::string> tokenizerFiles;
  std::vector<InitialFile> companionFiles; // that an export takes along
  std::string config;
  Json debugNan; // null unless compiled with --debug-nan; see NanHunt.h

  /// Ranks that a run has: the product of the axes.
  int64_t ranks() const;
  bool isLanguageModel() const { return vocab > 0 && seq > 0; }
  /// The fewest rows that can be evaluated.
  int64_t leastEvalRows() const { return rowMean ? 1 : batch; }
  /// Whether this model has the fingerprint, of either version.
  bool isModel(const std::string &other) const {
    return other == fingerprint ||
           (!fingerprint1.empty() && other == fingerprint1);
  }
  /// Whether some optimizer of the program reads that input of `apply`.
  bool hasHyperParameter(const std::string &name) const;
};

/// The tokenizer among the files of a model: a GGUF file, or the folder of
/// tokenizer.json, tokenizer.model or merges.txt. "" if there is none of these.
std::string tokenizerPath(const Metadata &metadata);

/// A text that breaks docs/reference/executable.md is an internal error (exit
/// 70).
Expected<Metadata> parseMetadata(std::string_view text);

//===- The loss scale -----------------------------------------------------===//

// A program's tables say how it scales its loss: which states there are, what
// `init` writes to them and the rule of the update.

/// None: the loss is not scaled. Fixed: the scale never changes. The others say
/// how it moves (docs/explanation/loss-scaling.md).
enum class ScalePolicy {
  None,
  Fixed,
  Torch,
  DeepSpeed,
  Mmcv,
  DeepSpeedFused,
  ColossalAI
};

/// "none", "fixed" or what --scaler says: as in model.json.
const char *policyName(ScalePolicy policy);

/// How a loss scale changes.
struct ScalerRule {
  ScalePolicy policy = ScalePolicy::None;
  int64_t interval = 0, hysteresis = 0;
  bool consecutive = false;
  double growth = 0.0, backoff = 0.0, minimum = 0.0;
};

/// The rule in the `scaler` of a program's metadata: one that moves the scale.
Expected<ScalerRule> parseScaler(const JsonCursor &rule);

struct LossScaler : ScalerRule {
  const WeftTensor *scale = nullptr; // f32; null without a loss scale
  const WeftTensor *state = nullptr; // i64[3]; only if dynamic
  std::optional<float> first;        // what `init` writes

  bool isDynamic() const { return policy > ScalePolicy::Fixed; }
  static LossScaler of(const WeftExecutable &executable);
};

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_METADATA_H
