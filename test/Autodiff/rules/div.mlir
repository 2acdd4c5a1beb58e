// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// g / b for a, and -(g / b) y for b.

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
  // CHECK: %[[V1:.*]] = weft.mul %[[V0]], %[[Y]]
  // CHECK-NEXT: %[[V2:.*]] = weft.neg %[[V1]]
  // CHECK-NEXT: %[[V3:.*]] = weft.reduce sum %[[V2]] dims [0] : tensor<3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V3]],
  weft.return %y : tensor<3x4xf32>
}
