// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// g / b for a, and -g (y / b) for b: g / b may be infinite where y is 0.

weft.param @a : tensor<3x4xf32>
weft.param @b : tensor<4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %a = weft.read @a : tensor<3x4xf32>
  // CHECK: %[[B:.*]] = weft.read @b
  %b = weft.read @b : tensor<4xf32>
  // CHECK: %[[Y:.*]] = weft.div{{.*}}weft.saved = array<i64: 0>
  %y = weft.div %a, %b : tensor<3x4xf32>, tensor<4xf32>
  // CHECK: %[[V0:.*]] = weft.div %[[G]], %[[B]]
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  // CHECK: %[[V1:.*]] = weft.div %[[Y]], %[[B]]
  // CHECK-NEXT: %[[V2:.*]] = weft.mul %[[G]], %[[V1]]
  // CHECK-NEXT: %[[V3:.*]] = weft.neg %[[V2]]
  // CHECK-NEXT: %[[V4:.*]] = weft.reduce sum %[[V3]] dims [0] : tensor<3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V4]],
  weft.return %y : tensor<3x4xf32>
}
