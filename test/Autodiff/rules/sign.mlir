// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// Sign has no gradient: only the product sends one.

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<3x4xf32>
  // CHECK: %[[S:.*]] = weft.sign{{.*}}weft.saved = array<i64: 0>
  %s = weft.sign %x : tensor<3x4xf32>
  %y = weft.mul %s, %x : tensor<3x4xf32>, tensor<3x4xf32>
  // CHECK: %[[V0:.*]] = weft.mul %[[G]], %[[S]]
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  weft.return %y : tensor<3x4xf32>
}
