// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// The part of g that is not padding.

weft.param @x : tensor<2x3xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<4x8xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<4x8xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<4x8xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<2x3xf32>
  %y = weft.pad %x low [0, 1] high [1, 0] interior [1, 2] : tensor<2x3xf32>
  // CHECK: %[[V0:.*]] = weft.slice %[[G]] offsets [0, 1] sizes [2, 3] strides [2, 3] : tensor<4x8xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  weft.return %y : tensor<4x8xf32>
}
