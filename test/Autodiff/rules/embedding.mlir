// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// Rows of g are added to the rows of the table that they came from.

weft.param @table : tensor<5x3xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[IDS:[^ ]*]]: tensor<2x4xi32> {weft.input = "ids"}
// CHECK-SAME: %[[G:[^ ]*]]: tensor<2x4x3xf32> {weft.input = "loss_seed"}
weft.program @micro(%ids: tensor<2x4xi32> {weft.input = "ids"}, %g: tensor<2x4x3xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x4x3xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %table = weft.read @table : tensor<5x3xf32>
  %y = weft.embedding %table, %ids : tensor<5x3xf32>, tensor<2x4xi32>
  // CHECK: %[[V0:.*]] = weft.embedding_grad %[[G]], %[[IDS]] : tensor<2x4x3xf32>, tensor<2x4xi32> to tensor<5x3xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  weft.return %y : tensor<2x4x3xf32>
}
