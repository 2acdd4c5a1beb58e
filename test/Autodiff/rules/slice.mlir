// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// Zeros where the slice took nothing.

weft.param @x : tensor<4x7xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x2xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x2xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x2xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<4x7xf32>
  %y = weft.slice %x offsets [1, 2] sizes [3, 2] strides [1, 3] : tensor<4x7xf32>
  // CHECK: %[[V0:.*]] = weft.pad %[[G]] low [1, 2] high [0, 1] interior [0, 2] : tensor<3x2xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  weft.return %y : tensor<3x2xf32>
}
