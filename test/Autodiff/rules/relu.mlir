// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// The gradient of relu: 0 where x <= 0, else g (also at a NaN).

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[X:.*]] = weft.read @x
  %x = weft.read @x : tensor<3x4xf32>
  %y = weft.relu %x : tensor<3x4xf32>
  // CHECK: %[[D:.*]] = weft.relu_grad %[[G]], %[[X]] : tensor<3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[D]],
  weft.return %y : tensor<3x4xf32>
}
