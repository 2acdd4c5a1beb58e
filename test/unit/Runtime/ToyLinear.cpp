//===- ToyLinear.cpp - A model of named tensors written by hand -----------===//
//
// y = x w + b with a squared error, trained by SGD with momentum; batches of 4
// rows, no accumulation, no clipping, no eval program, no init program.
//
//===----------------------------------------------------------------------===//

#include "ToyKernels.h"

#include "weft/Runtime/Run/Entry.h"

namespace {

constexpr int64_t B = 4, D = 3;

constexpr int64_t kW = 0, kBias = 64, kGradW = 128, kGradB = 192,
                  kMomentumW = 256, kMomentumB = 320, kX = 384, kY = 448,
                  kLossSeed = 512, kLoss = 576, kHyper = 640, kBad = 704,
                  kClass = 768, kEnd = 832;

const int64_t wDims[] = {D}, xDims[] = {B, D}, yDims[] = {B};

/// Buffers: w, bias, grad w, grad bias, x, y, loss seed, loss.
void micro(WeftContext *, const WeftCommand *, void *const *b) {
  auto f = [&](int i) { return static_cast<float *>(b[i]); };
  std::memset(f(2), 0, D * 4);
  *f(3) = 0;
  float loss = 0;
  for (int64_t i = 0; i < B; ++i) {
    float error = *f(1) - f(5)[i];
    for (int64_t d = 0; d < D; ++d)
      error += f(4)[i * D + d] * f(0)[d];
    loss += error * error / B;
    for (int64_t d = 0; d < D; ++d)
      f(2)[d] += 2 * error * f(4)[i * D + d] * *f(6) / B;
    *f(3) += 2 * error * *f(6) / B;
  }
  *f(7) = loss;
}

/// Buffers: w, bias, grads, momenta, hyper-parameters, bad.
void apply(WeftContext *, const WeftCommand *, void *const *b) {
  auto *h = static_cast<double *>(b[6]); // lr momentum weight_decay
  auto *bad = static_cast<uint8_t *>(b[7]);
  *bad = 0;
  for (int64_t k = 0; k < 2; ++k)
    for (int64_t i = 0; i < (k ? 1 : D); ++i)
      *bad |= !std::isfinite(static_cast<float *>(b[2 + k])[i]);
  for (int64_t k = 0; k < 2 && !*bad; ++k)
    for (int64_t i = 0; i < (k ? 1 : D); ++i) {
      float &w = static_cast<float *>(b[k])[i];
      float &m = static_cast<float *>(b[4 + k])[i];
      m = float(h[1] * m + static_cast<float *>(b[2 + k])[i] + h[2] * w);
      w -= float(h[0] * m);
    }
}

const int64_t microBuffers[] = {kW, kBias, kGradW,    kGradB,
                                kX, kY,    kLossSeed, kLoss};
const int64_t applyBuffers[] = {kW,         kBias,      kGradW, kGradB,
                                kMomentumW, kMomentumB, kHyper, kBad};
const WeftCommand commands[] = {toyCommand("toy_micro", micro, microBuffers, 8),
                                toyCommand("toy_sgd", apply, applyBuffers, 8)};

const WeftPort microPorts[] = {
    {"x", WEFT_F32, 2, xDims, kX, B * D * 4},
    {"y", WEFT_F32, 1, yDims, kY, B * 4},
    {"class", WEFT_I32, 1, yDims, kClass, B * 4},
    {"loss_seed", WEFT_F32, 0, nullptr, kLossSeed, 4}};
const WeftPort lossPort[] = {{"loss", WEFT_F32, 0, nullptr, kLoss, 4}};
const WeftPort applyPorts[] = {
    {"lr", WEFT_F64, 0, nullptr, kHyper, 8},
    {"momentum", WEFT_F64, 0, nullptr, kHyper + 8, 8},
    {"weight_decay", WEFT_F64, 0, nullptr, kHyper + 16, 8}};
const WeftPort badPort[] = {{"found_inf", WEFT_I1, 0, nullptr, kBad, 1}};

const WeftProgram programs[] = {
    {"micro", "micro", &commands[0], microPorts, lossPort, 1, 4, 1},
    {"apply", "apply", &commands[1], applyPorts, badPort, 1, 3, 1}};

const WeftTensor tensors[] = {
    {"w", "", "", WEFT_PARAM, WEFT_F32, 1, 1, wDims, kW, D * 4, "", nullptr, 0,
     1},
    {"bias", "", "", WEFT_PARAM, WEFT_F32, 0, 1, nullptr, kBias, 4, "", nullptr,
     0, 1},
    {"w.grad", "w", "", WEFT_GRADIENT, WEFT_F32, 1, 0, wDims, kGradW, D * 4, "",
     nullptr, 0, 1},
    {"bias.grad", "bias", "", WEFT_GRADIENT, WEFT_F32, 0, 0, nullptr, kGradB, 4,
     "", nullptr, 0, 1},
    {"w.momentum_buffer", "w", "", WEFT_OPTIMIZER, WEFT_F32, 1, 0, wDims,
     kMomentumW, D * 4, "", nullptr, 0, 1},
    {"bias.momentum_buffer", "bias", "", WEFT_OPTIMIZER, WEFT_F32, 0, 0,
     nullptr, kMomentumB, 4, "", nullptr, 0, 1}};

const char metadata[] = R"({
  "format": 1, "weft": "0.1.0", "name": "toy-linear", "family": "mlir",
  "fingerprint": "linear-3", "target": "cpu",
  "batch": 4, "accumulation": false, "clip_norm": null,
  "optimizers": ["sgd"], "hyper_parameters": ["lr", "weight_decay", "momentum"],
  "inputs": [{"name": "class", "limit": 10, "ignore": -1}],
  "initial_weights": {"files": [{"path": "toy-linear.safetensors",
                                 "digest": "f0fd87de711233fb0ad2138220e39cf6"}]}})";

const WeftExecutable executable = {
    WEFT_ABI_VERSION,    2,       6, 0, programs, tensors, kEnd, metadata,
    sizeof metadata - 1, nullptr, 0};

} // namespace

int main(int argc, char **argv) {
  return weft::weftMain(executable, argc, argv);
}
