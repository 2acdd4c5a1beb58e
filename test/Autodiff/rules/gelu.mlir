// RUN: weft-opt %s --weft-autodiff --split-input-file | FileCheck %s

// The gradient of gelu: g (Phi(x) + x phi(x)).

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[X:.*]] = weft.read @x
  %x = weft.read @x : tensor<3x4xf32>
  %y = weft.gelu %x : tensor<3x4xf32>
  // CHECK: %[[C0:.*]] = weft.constant dense<5.000000e-01> : tensor<f32>
  // CHECK-NEXT: %[[C1:.*]] = weft.constant dense<0.707106769> : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = weft.mul %[[X]], %[[C1]]
  // CHECK-NEXT: %[[V1:.*]] = weft.erf %[[V0]]
  // CHECK-NEXT: %[[V2:.*]] = weft.mul %[[V1]], %[[C0]]
  // CHECK-NEXT: %[[V3:.*]] = weft.add %[[V2]], %[[C0]]
  // CHECK-NEXT: %[[V4:.*]] = weft.mul %[[X]], %[[X]]
  // CHECK-NEXT: %[[C2:.*]] = weft.constant dense<-5.000000e-01> : tensor<f32>
  // CHECK-NEXT: %[[V5:.*]] = weft.mul %[[V4]], %[[C2]]
  // CHECK-NEXT: %[[V6:.*]] = weft.exp %[[V5]]
  // CHECK-NEXT: %[[C3:.*]] = weft.constant dense<0.398942292> : tensor<f32>
  // CHECK-NEXT: %[[V7:.*]] = weft.mul %[[V6]], %[[C3]]
  // CHECK-NEXT: %[[V8:.*]] = weft.mul %[[X]], %[[V7]]
  // CHECK-NEXT: %[[V9:.*]] = weft.add %[[V3]], %[[V8]]
  // CHECK-NEXT: %[[V10:.*]] = weft.mul %[[G]], %[[V9]]
  // CHECK: weft.accumulate %{{.*}}, %[[V10]],
  weft.return %y : tensor<3x4xf32>
}

// -----

// With the tanh form, u = c (x + b x^3), t = tanh(u):
// g/2 (1 + t + x (1 - t^2) c (1 + 3 b x^2)), with x^2 at most 1e4.

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[X:.*]] = weft.read @x
  %x = weft.read @x : tensor<3x4xf32>
  %y = weft.gelu %x {approximate = #weft.gelu_kind<tanh>} : tensor<3x4xf32>
  // CHECK: %[[C0:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[C1:.*]] = weft.constant dense<5.000000e-01> : tensor<f32>
  // CHECK-NEXT: %[[V:.*]] = weft.mul %[[X]], %[[X]]
  // CHECK-NEXT: %[[C:.*]] = weft.constant dense<1.000000e+04> : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = weft.min %[[V]], %[[C]]
  // CHECK-NEXT: %[[C2:.*]] = weft.constant dense<0.0356774069> : tensor<f32>
  // CHECK-NEXT: %[[V1:.*]] = weft.mul %[[V0]], %[[C2]]
  // CHECK-NEXT: %[[C3:.*]] = weft.constant dense<0.797884583> : tensor<f32>
  // CHECK-NEXT: %[[V2:.*]] = weft.add %[[V1]], %[[C3]]
  // CHECK-NEXT: %[[V3:.*]] = weft.mul %[[X]], %[[V2]]
  // CHECK-NEXT: %[[V4:.*]] = weft.tanh %[[V3]]
  // CHECK-NEXT: %[[C4:.*]] = weft.constant dense<0.107032225> : tensor<f32>
  // CHECK-NEXT: %[[V5:.*]] = weft.mul %[[V0]], %[[C4]]
  // CHECK-NEXT: %[[C5:.*]] = weft.constant dense<0.797884583> : tensor<f32>
  // CHECK-NEXT: %[[V6:.*]] = weft.add %[[V5]], %[[C5]]
  // CHECK-NEXT: %[[V7:.*]] = weft.mul %[[V4]], %[[V4]]
  // CHECK-NEXT: %[[V8:.*]] = weft.sub %[[C0]], %[[V7]]
  // CHECK-NEXT: %[[V9:.*]] = weft.mul %[[V8]], %[[V6]]
  // CHECK-NEXT: %[[V10:.*]] = weft.add %[[V4]], %[[C0]]
  // CHECK-NEXT: %[[V11:.*]] = weft.mul %[[X]], %[[V9]]
  // CHECK-NEXT: %[[V12:.*]] = weft.add %[[V10]], %[[V11]]
  // CHECK-NEXT: %[[V13:.*]] = weft.mul %[[C1]], %[[V12]]
  // CHECK-NEXT: %[[V14:.*]] = weft.mul %[[G]], %[[V13]]
  // CHECK: weft.accumulate %{{.*}}, %[[V14]],
  weft.return %y : tensor<3x4xf32>
}
