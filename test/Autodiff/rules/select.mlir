// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// g goes where the value came from.

weft.param @a : tensor<3x4xf32>
weft.param @b : tensor<4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[C:[^ ]*]]: tensor<3x4xi1> {weft.input = "c"}
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%c: tensor<3x4xi1> {weft.input = "c"}, %g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %a = weft.read @a : tensor<3x4xf32>
  %b = weft.read @b : tensor<4xf32>
  %y = weft.select %c, %a, %b : tensor<3x4xi1>, tensor<3x4xf32>, tensor<4xf32>
  // CHECK: %[[C0:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = weft.select %[[C]], %[[G]], %[[C0]]
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  // CHECK: %[[V1:.*]] = weft.select %[[C]], %[[C0]], %[[G]]
  // CHECK-NEXT: %[[V2:.*]] = weft.reduce sum %[[V1]] dims [0] : tensor<3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V2]],
  weft.return %y : tensor<3x4xf32>
}
