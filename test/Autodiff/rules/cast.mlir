// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// g in the type of the operand.

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf16> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf16> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf16> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<3x4xf32>
  %y = weft.cast %x : tensor<3x4xf32> to tensor<3x4xf16>
  // CHECK: %[[V0:.*]] = weft.cast %[[G]] : tensor<3x4xf16> to tensor<3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  weft.return %y : tensor<3x4xf16>
}
