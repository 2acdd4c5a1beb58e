// RUN: weft-opt %s --weft-autodiff --verify-diagnostics | FileCheck %s

// A parameter without a gradient is named.

// expected-warning@below {{the loss has no gradient for parameter @unused: it is not trained}}
weft.param @unused : tensor<4xf32>
weft.param @w : tensor<f32>
// CHECK: weft.neg
// CHECK: %[[G:.*]] = weft.neg
// CHECK: weft.accumulate %{{.*}}, %[[G]]
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<f32>
  %u = weft.read @unused : tensor<4xf32>
  %y = weft.exp %u : tensor<4xf32>
  %loss = weft.neg %w : tensor<f32>
  weft.return %loss : tensor<f32>
}
