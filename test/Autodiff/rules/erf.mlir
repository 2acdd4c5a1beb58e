// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// The gradient of erf: g 2 / sqrt(pi) e^(-x^2).

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[X:.*]] = weft.read @x
  %x = weft.read @x : tensor<3x4xf32>
  %y = weft.erf %x : tensor<3x4xf32>
  // CHECK: %[[V0:.*]] = weft.mul %[[X]], %[[X]]
  // CHECK-NEXT: %[[V1:.*]] = weft.neg %[[V0]]
  // CHECK-NEXT: %[[V2:.*]] = weft.exp %[[V1]]
  // CHECK-NEXT: %[[C0:.*]] = weft.constant dense<1.12837923> : tensor<f32>
  // CHECK-NEXT: %[[V3:.*]] = weft.mul %[[V2]], %[[C0]]
  // CHECK-NEXT: %[[V4:.*]] = weft.mul %[[G]], %[[V3]]
  // CHECK: weft.accumulate %{{.*}}, %[[V4]],
  weft.return %y : tensor<3x4xf32>
}
