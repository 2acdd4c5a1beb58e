// RUN: weft-opt %s --weft-autodiff --split-input-file | FileCheck %s

// A sum repeats g.

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<3x4xf32>
  %y = weft.reduce sum %x dims [1] : tensor<3x4xf32>
  // CHECK: %[[V0:.*]] = weft.reshape %[[G]] : tensor<3xf32> to tensor<3x1xf32>
  // CHECK-NEXT: %[[V1:.*]] = weft.broadcast %[[V0]] : tensor<3x1xf32> to tensor<3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V1]],
  weft.return %y : tensor<3xf32>
}

// -----

// A mean repeats g / n.

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x1xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x1xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x1xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<3x4xf32>
  %y = weft.reduce mean %x dims [1] {keep_dims} : tensor<3x4xf32>
  // CHECK: %[[C0:.*]] = weft.constant dense<4.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = weft.div %[[G]], %[[C0]]
  // CHECK-NEXT: %[[V1:.*]] = weft.broadcast %[[V0]] : tensor<3x1xf32> to tensor<3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V1]],
  weft.return %y : tensor<3x1xf32>
}

// -----

// A maximum shares g among the elements that equal it; where it is NaN none
// does, and g / 0 times 0 is NaN, as the gradients of torch.amax.

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[X:.*]] = weft.read @x
  %x = weft.read @x : tensor<3x4xf32>
  // CHECK: %[[Y:.*]] = weft.reduce{{.*}}weft.saved = array<i64: 0>
  %y = weft.reduce max %x dims [1] : tensor<3x4xf32>
  // CHECK: %[[V0:.*]] = weft.reshape %[[G]] : tensor<3xf32> to tensor<3x1xf32>
  // CHECK-NEXT: %[[V1:.*]] = weft.reshape %[[Y]] : tensor<3xf32> to tensor<3x1xf32>
  // CHECK-NEXT: %[[V2:.*]] = weft.compare eq %[[X]], %[[V1]]
  // CHECK-NEXT: %[[V3:.*]] = weft.cast %[[V2]] : tensor<3x4xi1> to tensor<3x4xf32>
  // CHECK-NEXT: %[[V4:.*]] = weft.reduce sum %[[V3]] dims [1] {keep_dims} : tensor<3x4xf32>
  // CHECK-NEXT: %[[V5:.*]] = weft.div %[[V0]], %[[V4]]
  // CHECK-NEXT: %[[V6:.*]] = weft.mul %[[V5]], %[[V3]]
  // CHECK: weft.accumulate %{{.*}}, %[[V6]],
  weft.return %y : tensor<3xf32>
}

// -----

// So does a minimum.

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x1xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x1xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x1xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[X:.*]] = weft.read @x
  %x = weft.read @x : tensor<3x4xf32>
  // CHECK: %[[Y:.*]] = weft.reduce{{.*}}weft.saved = array<i64: 0>
  %y = weft.reduce min %x dims [1] {keep_dims} : tensor<3x4xf32>
  // CHECK: %[[V0:.*]] = weft.compare eq %[[X]], %[[Y]]
  // CHECK-NEXT: %[[V1:.*]] = weft.cast %[[V0]] : tensor<3x4xi1> to tensor<3x4xf32>
  // CHECK-NEXT: %[[V2:.*]] = weft.reduce sum %[[V1]] dims [1] {keep_dims} : tensor<3x4xf32>
  // CHECK-NEXT: %[[V3:.*]] = weft.div %[[G]], %[[V2]]
  // CHECK-NEXT: %[[V4:.*]] = weft.mul %[[V3]], %[[V1]]
  // CHECK: weft.accumulate %{{.*}}, %[[V4]],
  weft.return %y : tensor<3x1xf32>
}
