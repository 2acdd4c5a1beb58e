// RUN: weft-opt %s --split-input-file --weft-partition | FileCheck %s

// Two ranks divide by the targets that both count: the denominator is half of
// their sum, and a rank that counts none has the loss 0.

// CHECK-LABEL: module @labels
module @labels {
  dist.mesh @mesh("dp" = 2)
  // CHECK: %[[LOSS:.*]], %[[LSE:.*]], %[[DENOM:.*]] = weft.cross_entropy %{{.*}}, %{{.*}} {weft.scope = "loss"}
  // CHECK-NEXT: %[[OWN:.*]] = weft.cast %[[DENOM]] {weft.scope = "loss"} : tensor<f32> to tensor<f64>
  // CHECK-NEXT: %[[ALL:.*]] = dist.all_reduce %[[OWN]] by [sum] on @mesh {weft.scope = "loss"} : tensor<f64>
  // CHECK-NEXT: %[[W:.*]] = weft.constant {{.*}}dense<2.000000e+00> : tensor<f64>
  // CHECK-NEXT: %[[HALF:.*]] = weft.div %[[ALL]], %[[W]]
  // CHECK-NEXT: %[[SHARE:.*]] = weft.cast %[[HALF]] {{.*}} : tensor<f64> to tensor<f32>
  // CHECK-NEXT: %[[RATIO:.*]] = weft.div %[[DENOM]], %[[SHARE]]
  // CHECK-NEXT: %[[SCALED:.*]] = weft.mul %[[LOSS]], %[[RATIO]]
  // CHECK-NEXT: %[[ZERO:.*]] = weft.constant {{.*}}dense<0.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[NONE:.*]] = weft.compare eq %[[DENOM]], %[[ZERO]]
  // CHECK-NEXT: %[[MINE:.*]] = weft.select %[[NONE]], %[[RATIO]], %[[SCALED]]
  // CHECK: weft.cross_entropy_grad %{{.*}}, %{{.*}}, %{{.*}}, %[[LSE]], %[[SHARE]]
  // CHECK: weft.return %[[MINE]]
  weft.program @micro(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "label"}, %g: tensor<f32> {weft.input = "loss_seed"})
      -> (tensor<f32> {weft.output = "loss"}, tensor<4x3xf32> {weft.output = "grad"}) attributes {kind = #weft.kind<micro>} {
    %loss, %lse, %denom = weft.cross_entropy %x, %t {weft.scope = "loss"} : tensor<4x3xf32>, tensor<4xi32>
    %d = weft.cross_entropy_grad %g, %x, %t, %lse, %denom : tensor<f32>, tensor<4x3xf32>, tensor<4xi32>, tensor<4xf32>
    weft.return %loss, %d : tensor<f32>, tensor<4x3xf32>
  }
}

// -----

// A token that is ignored, such as one of padding.

// CHECK-LABEL: module @padding
// CHECK: dist.all_reduce %{{.*}} by [sum] on @mesh
module @padding attributes {weft.vocab = 3 : i64, weft.seq = 4 : i64} {
  dist.mesh @mesh("dp" = 2)
  weft.program @micro(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "targets"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
    %loss, %lse, %denom = weft.cross_entropy %x, %t {ignore_index = 2} : tensor<4x3xf32>, tensor<4xi32>
    weft.return %loss : tensor<f32>
  }
}

// -----

// Targets of a language model are the next tokens, which all count; a sum is
// divided by nothing; each rank evaluates its own rows.

// CHECK-LABEL: module @tokens
// CHECK-NOT: all_reduce
module @tokens attributes {weft.vocab = 3 : i64, weft.seq = 4 : i64} {
  dist.mesh @mesh("dp" = 2)
  weft.program @micro(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<1x4xi32> {weft.input = "targets"}, %l: tensor<4xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}, tensor<f32> {weft.output = "other"}) attributes {kind = #weft.kind<micro>} {
    %flat = weft.reshape %t : tensor<1x4xi32> to tensor<4xi32>
    %loss, %lse, %denom = weft.cross_entropy %x, %flat : tensor<4x3xf32>, tensor<4xi32>
    %other, %lse2, %denom2 = weft.cross_entropy %x, %l {reduction = #weft.loss_reduction<sum>} : tensor<4x3xf32>, tensor<4xi32>
    weft.return %loss, %other : tensor<f32>, tensor<f32>
  }
  weft.program @eval(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<eval>} {
    %loss, %lse, %denom = weft.cross_entropy %x, %t : tensor<4x3xf32>, tensor<4xi32>
    weft.return %loss : tensor<f32>
  }
}
