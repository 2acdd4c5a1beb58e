// RUN: weft-opt %s --weft-autodiff --remarks-filter=autodiff --verify-diagnostics

// The remark counts what the backward part reads: %t here, 4 elements of f32.

weft.param @w : tensor<4xf32>
// expected-remark@below {{8 backward ops read 1 saved forward values of 16 bytes}}
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4xf32>
  %t = weft.tanh %w : tensor<4xf32>
  %loss = weft.reduce sum %t dims [0] : tensor<4xf32>
  weft.return %loss : tensor<f32>
}
