// RUN: weft-opt %s --weft-autodiff --split-input-file | FileCheck %s

// The gradient of gelu; weft-decompose writes its formula out.

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[X:.*]] = weft.read @x
  %x = weft.read @x : tensor<3x4xf32>
  %y = weft.gelu %x : tensor<3x4xf32>
  // CHECK: %[[D:.*]] = weft.gelu_grad %[[G]], %[[X]] : tensor<3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[D]],
  weft.return %y : tensor<3x4xf32>
}

// -----

// With the tanh form.

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[X:.*]] = weft.read @x
  %x = weft.read @x : tensor<3x4xf32>
  %y = weft.gelu %x {approximate = #weft.gelu_kind<tanh>} : tensor<3x4xf32>
  // CHECK: %[[D:.*]] = weft.gelu_grad %[[G]], %[[X]] {approximate = #weft.gelu_kind<tanh>} : tensor<3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[D]],
  weft.return %y : tensor<3x4xf32>
}

// -----

// On f16 in f32, rounded once.

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf16> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf16> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf16> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<3x4xf32>
  // CHECK: %[[N:.*]] = weft.neg
  %n = weft.neg %x : tensor<3x4xf32>
  // CHECK: %[[X:.*]] = weft.cast %[[N]]
  %l = weft.cast %n : tensor<3x4xf32> to tensor<3x4xf16>
  %y = weft.gelu %l : tensor<3x4xf16>
  // CHECK: %[[XW:.*]] = weft.cast %[[X]] : tensor<3x4xf16> to tensor<3x4xf32>
  // CHECK-NEXT: %[[GW:.*]] = weft.cast %[[G]] : tensor<3x4xf16> to tensor<3x4xf32>
  // CHECK-NEXT: %[[D:.*]] = weft.gelu_grad %[[GW]], %[[XW]] : tensor<3x4xf32>
  // CHECK-NEXT: weft.cast %[[D]] : tensor<3x4xf32> to tensor<3x4xf16>
  weft.return %y : tensor<3x4xf16>
}
