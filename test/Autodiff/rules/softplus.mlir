// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// The gradient of softplus: g sigmoid(x).

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[X:.*]] = weft.read @x
  %x = weft.read @x : tensor<3x4xf32>
  %y = weft.softplus %x : tensor<3x4xf32>
  // CHECK: %[[V0:.*]] = weft.sigmoid %[[X]]
  // CHECK-NEXT: %[[V1:.*]] = weft.mul %[[G]], %[[V0]]
  // CHECK: weft.accumulate %{{.*}}, %[[V1]],
  weft.return %y : tensor<3x4xf32>
}
