// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// g for the left, -g summed back for the right.

weft.param @a : tensor<3x4xf32>
weft.param @b : tensor<4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %a = weft.read @a : tensor<3x4xf32>
  %b = weft.read @b : tensor<4xf32>
  %y = weft.sub %a, %b : tensor<3x4xf32>, tensor<4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[G]],
  // CHECK: %[[V0:.*]] = weft.neg %[[G]]
  // CHECK-NEXT: %[[V1:.*]] = weft.reduce sum %[[V0]] dims [0] : tensor<3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V1]],
  weft.return %y : tensor<3x4xf32>
}
