// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// The sum over what was repeated.

weft.param @x : tensor<1x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<2x3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<2x3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<1x4xf32>
  %y = weft.broadcast %x : tensor<1x4xf32> to tensor<2x3x4xf32>
  // CHECK: %[[V0:.*]] = weft.reduce sum %[[G]] dims [0, 1] : tensor<2x3x4xf32>
  // CHECK-NEXT: %[[V1:.*]] = weft.reshape %[[V0]] : tensor<4xf32> to tensor<1x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V1]],
  weft.return %y : tensor<2x3x4xf32>
}
