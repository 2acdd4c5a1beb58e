// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// g / n (p - t) / max(p (1 - p), 1e-12) for the probabilities,
// g / n (max(ln(1 - p), -100) - max(ln p, -100)) for the targets.

weft.param @p : tensor<3x4xf32>
weft.param @t : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<f32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<f32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[P:.*]] = weft.read @p
  %p = weft.read @p : tensor<3x4xf32>
  // CHECK: %[[T:.*]] = weft.read @t
  %t = weft.read @t : tensor<3x4xf32>
  %y = weft.bce %p, %t : tensor<3x4xf32>
  // CHECK: %[[C0:.*]] = weft.constant dense<1.200000e+01> : tensor<f32>
  // CHECK-NEXT: %[[SHARE:.*]] = weft.div %[[G]], %[[C0]]
  // CHECK-NEXT: %[[ONE:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = weft.sub %[[ONE]], %[[P]]
  // CHECK-NEXT: %[[V1:.*]] = weft.mul %[[P]], %[[V0]]
  // CHECK-NEXT: %[[EPS:.*]] = weft.constant dense<9.99999996E-13> : tensor<f32>
  // CHECK-NEXT: %[[V2:.*]] = weft.max %[[V1]], %[[EPS]]
  // CHECK-NEXT: %[[V3:.*]] = weft.sub %[[P]], %[[T]]
  // CHECK-NEXT: %[[V4:.*]] = weft.div %[[V3]], %[[V2]]
  // CHECK-NEXT: %[[V5:.*]] = weft.mul %[[V4]], %[[SHARE]]
  // CHECK: weft.accumulate %{{.*}}, %[[V5]],
  // CHECK: %[[LIMIT:.*]] = weft.constant dense<-1.000000e+02> : tensor<f32>
  // CHECK-NEXT: %[[V6:.*]] = weft.log %[[P]]
  // CHECK-NEXT: %[[V7:.*]] = weft.max %[[V6]], %[[LIMIT]]
  // CHECK-NEXT: %[[V8:.*]] = weft.neg %[[P]]
  // CHECK-NEXT: %[[V9:.*]] = weft.log1p %[[V8]]
  // CHECK-NEXT: %[[V10:.*]] = weft.max %[[V9]], %[[LIMIT]]
  // CHECK-NEXT: %[[V11:.*]] = weft.sub %[[V10]], %[[V7]]
  // CHECK-NEXT: %[[V12:.*]] = weft.mul %[[V11]], %[[SHARE]]
  // CHECK: weft.accumulate %{{.*}}, %[[V12]],
  weft.return %y : tensor<f32>
}
