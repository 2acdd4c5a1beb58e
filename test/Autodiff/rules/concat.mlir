// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// Each input gets its part of g.

weft.param @a : tensor<2x3xf32>
weft.param @b : tensor<2x1xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<2x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<2x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %a = weft.read @a : tensor<2x3xf32>
  %b = weft.read @b : tensor<2x1xf32>
  %y = weft.concat %a, %b {dim = 1} : tensor<2x3xf32>, tensor<2x1xf32>
  // CHECK: %[[V0:.*]] = weft.slice %[[G]] offsets [0, 0] sizes [2, 3] strides [1, 1] : tensor<2x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  // CHECK: %[[V1:.*]] = weft.slice %[[G]] offsets [0, 3] sizes [2, 1] strides [1, 1] : tensor<2x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V1]],
  weft.return %y : tensor<2x4xf32>
}
