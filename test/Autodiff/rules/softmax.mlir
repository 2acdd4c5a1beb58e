// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// y (g - sum(g y)).

weft.param @x : tensor<2x3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<2x3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<2x3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<2x3x4xf32>
  // CHECK: %[[Y:.*]] = weft.softmax{{.*}}weft.saved = array<i64: 0>
  %y = weft.softmax %x {dim = 1} : tensor<2x3x4xf32>
  // CHECK: %[[V0:.*]] = weft.mul %[[G]], %[[Y]]
  // CHECK-NEXT: %[[V1:.*]] = weft.reduce sum %[[V0]] dims [1] {keep_dims} : tensor<2x3x4xf32>
  // CHECK-NEXT: %[[V2:.*]] = weft.sub %[[G]], %[[V1]]
  // CHECK-NEXT: %[[V3:.*]] = weft.mul %[[Y]], %[[V2]]
  // CHECK: weft.accumulate %{{.*}}, %[[V3]],
  weft.return %y : tensor<2x3x4xf32>
}
