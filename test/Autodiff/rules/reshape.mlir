// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// Back to the shape of the operand.

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<12xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<12xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<12xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<3x4xf32>
  %y = weft.reshape %x : tensor<3x4xf32> to tensor<12xf32>
  // CHECK: %[[V0:.*]] = weft.reshape %[[G]] : tensor<12xf32> to tensor<3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  weft.return %y : tensor<12xf32>
}
