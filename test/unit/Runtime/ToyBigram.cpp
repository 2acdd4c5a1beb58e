//===- ToyBigram.cpp - A language model written by hand -------------------===//
//
// The code that a compiler would generate for a bigram model: logits =
// table[token], trained by AdamW. It tests the runtime without a compiler. 128
// tokens, rows of 8, batches of 4.
//
//===----------------------------------------------------------------------===//

#include "ToyKernels.h"

#include "weft/Runtime/Run/Entry.h"

namespace {

constexpr int64_t V = 128, T = 8, B = 4, N = V * V;

// Arena: persistent tensors, then ports.
constexpr int64_t kTable = 0, kGrad = kTable + N * 4, kM = kGrad + N * 4,
                  kV2 = kM + N * 4, kStep = kV2 + N * 4, kTokens = kStep + 64,
                  kTargets = kTokens + B * T * 4,
                  kLossSeed = kTargets + B * T * 4,
                  kAccumulate = kLossSeed + 64, kLoss = kAccumulate + 64,
                  kSeed = kLoss + 64, kHyper = kSeed + 64, kNorm = kHyper + 64,
                  kBad = kNorm + 64, kPosition = kBad + 64,
                  kLogits = kPosition + 64, kEnd = kLogits + V * 4;

const int64_t tableDims[] = {V, V}, rowDims[] = {B, T}, oneRow[] = {1, T},
              one[] = {1}, logitDims[] = {1, V};

/// Mean cross-entropy of the batch; adds to the gradient when `grad` is given.
float crossEntropy(const float *table, const int32_t *tokens,
                   const int32_t *targets, float seed, float *grad) {
  double total = 0;
  for (int64_t i = 0; i < B * T; ++i) {
    const float *row = table + tokens[i] * V;
    double sum = 0;
    for (int64_t v = 0; v < V; ++v)
      sum += std::exp(double(row[v]));
    total += std::log(sum) - row[targets[i]];
    for (int64_t v = 0; grad && v < V; ++v) {
      double p = std::exp(double(row[v])) / sum - (v == targets[i] ? 1 : 0);
      grad[tokens[i] * V + v] += float(p * seed / (B * T));
    }
  }
  return float(total / (B * T));
}

void micro(WeftContext *, const WeftCommand *, void *const *b) {
  auto *grad = static_cast<float *>(b[1]);
  if (*static_cast<float *>(b[5]) == 0.0f)
    std::memset(grad, 0, N * 4);
  *static_cast<float *>(b[6]) = crossEntropy(
      static_cast<float *>(b[0]), static_cast<int32_t *>(b[2]),
      static_cast<int32_t *>(b[3]), *static_cast<float *>(b[4]), grad);
}

void eval(WeftContext *, const WeftCommand *, void *const *b) {
  *static_cast<float *>(b[3]) =
      crossEntropy(static_cast<float *>(b[0]), static_cast<int32_t *>(b[1]),
                   static_cast<int32_t *>(b[2]), 1.0f, nullptr);
}

/// Buffers: table, grad, m, v, step, hyper-parameters, norm, bad.
void apply(WeftContext *, const WeftCommand *, void *const *b) {
  auto *w = static_cast<float *>(b[0]), *g = static_cast<float *>(b[1]);
  auto *m = static_cast<float *>(b[2]), *v = static_cast<float *>(b[3]);
  auto *h = static_cast<double *>(b[5]); // lr beta1 beta2 eps decay max_norm
  double square = 0;
  for (int64_t i = 0; i < N; ++i)
    square += double(g[i]) * g[i];
  double norm = std::sqrt(square);
  bool bad = !std::isfinite(square);
  *static_cast<double *>(b[6]) = norm;
  *static_cast<uint8_t *>(b[7]) = bad;
  if (bad)
    return;
  double coef = h[5] > 0 ? std::min(1.0, h[5] / (norm + 1e-6)) : 1.0;
  double t = double(++*static_cast<int64_t *>(b[4]));
  double c1 = 1 - std::pow(h[1], t), c2 = 1 - std::pow(h[2], t);
  for (int64_t i = 0; i < N; ++i) {
    double grad = g[i] * coef;
    m[i] = float(h[1] * m[i] + (1 - h[1]) * grad);
    v[i] = float(h[2] * v[i] + (1 - h[2]) * grad * grad);
    double moved = w[i] * (1 - h[0] * h[4]);
    w[i] = float(moved - h[0] * (m[i] / c1) / (std::sqrt(v[i] / c2) + h[3]));
  }
}

void init(WeftContext *, const WeftCommand *, void *const *b) {
  auto *w = static_cast<float *>(b[0]);
  auto key = weft::philoxKey(uint64_t(*static_cast<int64_t *>(b[1])), 1);
  for (int64_t i = 0; i < N; ++i)
    w[i] = 0.02f * weft::philoxNormal(key, 0, uint64_t(i));
}

void logits(WeftContext *, const WeftCommand *, void *const *b) {
  int32_t at = static_cast<int32_t *>(b[1])[*static_cast<int32_t *>(b[2])];
  std::memcpy(b[3], static_cast<float *>(b[0]) + at * V, V * 4);
}

const int64_t initBuffers[] = {kTable, kSeed};
const int64_t microBuffers[] = {kTable,    kGrad,       kTokens, kTargets,
                                kLossSeed, kAccumulate, kLoss};
const int64_t applyBuffers[] = {kTable, kGrad,  kM,    kV2,
                                kStep,  kHyper, kNorm, kBad};
const int64_t evalBuffers[] = {kTable, kTokens, kTargets, kLoss};
const int64_t logitBuffers[] = {kTable, kTokens, kPosition, kLogits};

const WeftCommand commands[] = {
    toyCommand("toy_init", init, initBuffers, 2),
    toyCommand("toy_micro", micro, microBuffers, 7),
    toyCommand("toy_adamw", apply, applyBuffers, 8),
    toyCommand("toy_eval", eval, evalBuffers, 4),
    toyCommand("toy_logits", logits, logitBuffers, 4),
};

const WeftPort seedPort[] = {{"seed", WEFT_I64, 0, nullptr, kSeed, 8}};
const WeftPort lossPort[] = {{"loss", WEFT_F32, 0, nullptr, kLoss, 4}};
const WeftPort microPorts[] = {
    {"tokens", WEFT_I32, 2, rowDims, kTokens, B * T * 4},
    {"targets", WEFT_I32, 2, rowDims, kTargets, B * T * 4},
    {"loss_seed", WEFT_F32, 0, nullptr, kLossSeed, 4},
    {"accumulate", WEFT_F32, 0, nullptr, kAccumulate, 4}};
const WeftPort applyPorts[] = {
    {"lr", WEFT_F64, 0, nullptr, kHyper, 8},
    {"beta1", WEFT_F64, 0, nullptr, kHyper + 8, 8},
    {"beta2", WEFT_F64, 0, nullptr, kHyper + 16, 8},
    {"eps", WEFT_F64, 0, nullptr, kHyper + 24, 8},
    {"weight_decay", WEFT_F64, 0, nullptr, kHyper + 32, 8},
    {"max_norm", WEFT_F64, 0, nullptr, kHyper + 40, 8}};
const WeftPort applyOutputs[] = {{"grad_norm", WEFT_F64, 0, nullptr, kNorm, 8},
                                 {"found_inf", WEFT_I1, 0, nullptr, kBad, 1}};
const WeftPort logitInputs[] = {{"tokens", WEFT_I32, 2, oneRow, kTokens, T * 4},
                                {"position", WEFT_I32, 1, one, kPosition, 4}};
const WeftPort logitOutputs[] = {
    {"logits", WEFT_F32, 2, logitDims, kLogits, V * 4}};

const WeftProgram programs[] = {
    {"init", "init", &commands[0], seedPort, nullptr, 1, 1, 0},
    {"micro", "micro", &commands[1], microPorts, lossPort, 1, 4, 1},
    {"apply", "apply", &commands[2], applyPorts, applyOutputs, 1, 6, 2},
    {"eval", "eval", &commands[3], microPorts, lossPort, 1, 2, 1},
    {"logits", "logits", &commands[4], logitInputs, logitOutputs, 1, 2, 1}};

const WeftTensor tensors[] = {
    {"table", "", "bigram.table", WEFT_PARAM, WEFT_F32, 2, 1, tableDims, kTable,
     N * 4, "", nullptr, 0, 1},
    {"table.grad", "table", "", WEFT_GRADIENT, WEFT_F32, 2, 0, tableDims, kGrad,
     N * 4, "", nullptr, 0, 1},
    {"table.exp_avg", "table", "", WEFT_OPTIMIZER, WEFT_F32, 2, 0, tableDims,
     kM, N * 4, "", nullptr, 0, 1},
    {"table.exp_avg_sq", "table", "", WEFT_OPTIMIZER, WEFT_F32, 2, 0, tableDims,
     kV2, N * 4, "", nullptr, 0, 1},
    {"step", "", "", WEFT_OPTIMIZER, WEFT_I64, 0, 0, nullptr, kStep, 8, "",
     nullptr, 0, 1}};

const char metadata[] = R"({
  "format": 1, "weft": "0.1.0", "name": "toy-bigram", "family": "mlir",
  "fingerprint": "bigram-128", "precision": "f32", "recipe": "amp", "target": "cpu", "cpu_features": ["sse2"],
  "vocab": 128, "seq": 8, "batch": 4, "row_mean": true, "accumulation": true, "clip_norm": 2,
  "optimizers": ["adamw"],
  "hyper_parameters": ["lr", "beta1", "beta2", "eps", "weight_decay"],
  "defaults": {"lr": 0.05, "weight-decay": 0.01},
  "options": {"precision": "f32"},
  "config": "{\"model_type\": \"toy\"}\n"})";

const WeftExecutable executable = {
    WEFT_ABI_VERSION,    5,       5, 0, programs, tensors, kEnd, metadata,
    sizeof metadata - 1, nullptr, 0};

} // namespace

int main(int argc, char **argv) {
  return weft::weftMain(executable, argc, argv);
}
