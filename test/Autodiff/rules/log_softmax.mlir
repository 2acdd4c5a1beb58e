// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// g - e^y sum(g).

weft.param @x : tensor<2x3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<2x3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<2x3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<2x3x4xf32>
  // CHECK: %[[Y:.*]] = weft.log_softmax{{.*}}weft.saved = array<i64: 0>
  %y = weft.log_softmax %x : tensor<2x3x4xf32>
  // CHECK: %[[V0:.*]] = weft.reduce sum %[[G]] dims [2] {keep_dims} : tensor<2x3x4xf32>
  // CHECK-NEXT: %[[V1:.*]] = weft.exp %[[Y]]
  // CHECK-NEXT: %[[V2:.*]] = weft.mul %[[V1]], %[[V0]]
  // CHECK-NEXT: %[[V3:.*]] = weft.sub %[[G]], %[[V2]]
  // CHECK: weft.accumulate %{{.*}}, %[[V3]],
  weft.return %y : tensor<2x3x4xf32>
}
