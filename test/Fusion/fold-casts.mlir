// RUN: weft-opt %s --weft-fold-casts --split-input-file | FileCheck %s
// Routines that widen and round themselves take the place of casts.

// CHECK-LABEL: weft.program @loss
// CHECK-NOT: weft.cast
// CHECK: weft.cross_entropy %{{.*}} : tensor<8x4xbf16>
// CHECK: %[[G:.*]] = weft.cross_entropy_grad {{.*}} tensor<8x4xbf16>
// CHECK-NOT: weft.cast
// CHECK: weft.return %{{.*}}, %[[G]], %[[G]]
weft.program @loss(%x: tensor<8x4xbf16> {weft.input = "x"}, %t: tensor<8xi32> {weft.input = "t"}, %seed: tensor<f32> {weft.input = "loss_seed"})
    -> (tensor<f32> {weft.output = "loss"}, tensor<8x4xbf16> {weft.output = "dx"}, tensor<8x4xbf16> {weft.output = "dx2"}) attributes {kind = #weft.kind<micro>} {
  %f = weft.cast %x : tensor<8x4xbf16> to tensor<8x4xf32>
  %loss, %lse, %denom = weft.cross_entropy %f, %t : tensor<8x4xf32>, tensor<8xi32>
  %g = weft.cross_entropy_grad %seed, %f, %t, %lse, %denom : tensor<f32>, tensor<8x4xf32>, tensor<8xi32>, tensor<8xf32>
  %dx = weft.cast %g : tensor<8x4xf32> to tensor<8x4xbf16>
  %dx2 = weft.cast %g : tensor<8x4xf32> to tensor<8x4xbf16>
  weft.return %loss, %dx, %dx2 : tensor<f32>, tensor<8x4xbf16>, tensor<8x4xbf16>
}

// -----

// The gradient is read in f32 as well: it stays f32, and so do its logits.
// CHECK-LABEL: weft.program @gradient_in_f32
// CHECK: %[[F:.*]] = weft.cast
// CHECK: weft.cross_entropy_grad %{{.*}}, %[[F]], {{.*}} tensor<8x4xf32>
// CHECK: weft.cast
weft.program @gradient_in_f32(%x: tensor<8x4xbf16> {weft.input = "x"}, %t: tensor<8xi32> {weft.input = "t"}, %seed: tensor<f32> {weft.input = "loss_seed"}, %lse: tensor<8xf32> {weft.input = "lse"})
    -> (tensor<8x4xbf16> {weft.output = "dx"}, tensor<8x4xf32> {weft.output = "g"}) attributes {kind = #weft.kind<micro>} {
  %f = weft.cast %x : tensor<8x4xbf16> to tensor<8x4xf32>
  %g = weft.cross_entropy_grad %seed, %f, %t, %lse, %seed : tensor<f32>, tensor<8x4xf32>, tensor<8xi32>, tensor<8xf32>
  %dx = weft.cast %g : tensor<8x4xf32> to tensor<8x4xbf16>
  weft.return %dx, %g : tensor<8x4xbf16>, tensor<8x4xf32>
}

// -----

// Another type than the logits' would be another rounding.
// CHECK-LABEL: weft.program @other_type
// CHECK: weft.cast
// CHECK: weft.cross_entropy_grad {{.*}} tensor<8x4xf32>
weft.program @other_type(%x: tensor<8x4xbf16> {weft.input = "x"}, %t: tensor<8xi32> {weft.input = "t"}, %seed: tensor<f32> {weft.input = "loss_seed"}, %lse: tensor<8xf32> {weft.input = "lse"})
    -> (tensor<8x4xf16> {weft.output = "dx"}) attributes {kind = #weft.kind<micro>} {
  %f = weft.cast %x : tensor<8x4xbf16> to tensor<8x4xf32>
  %g = weft.cross_entropy_grad %seed, %f, %t, %lse, %seed : tensor<f32>, tensor<8x4xf32>, tensor<8xi32>, tensor<8xf32>
  %dx = weft.cast %g : tensor<8x4xf32> to tensor<8x4xf16>
  weft.return %dx : tensor<8x4xf16>
}

// -----

// A table gradient adds up widened rows; a cast from f64 is no widening.
// CHECK-LABEL: weft.program @tables
// CHECK: weft.embedding_grad %{{.*}}, %{{.*}} : tensor<8x4xf16>, tensor<8xi32> to tensor<16x4xf32>
// CHECK: %[[F:.*]] = weft.cast %{{.*}} : tensor<8x4xf64>
// CHECK: weft.embedding_grad %[[F]]
weft.program @tables(%x: tensor<8x4xf16> {weft.input = "x"}, %d: tensor<8x4xf64> {weft.input = "d"}, %t: tensor<8xi32> {weft.input = "t"})
    -> (tensor<16x4xf32> {weft.output = "a"}, tensor<16x4xf32> {weft.output = "b"}) attributes {kind = #weft.kind<micro>} {
  %f = weft.cast %x : tensor<8x4xf16> to tensor<8x4xf32>
  %a = weft.embedding_grad %f, %t : tensor<8x4xf32>, tensor<8xi32> to tensor<16x4xf32>
  %g = weft.cast %d : tensor<8x4xf64> to tensor<8x4xf32>
  %b = weft.embedding_grad %g, %t : tensor<8x4xf32>, tensor<8xi32> to tensor<16x4xf32>
  weft.return %a, %b : tensor<16x4xf32>, tensor<16x4xf32>
}

// -----

// A product rounded by all its readers rounds itself; one that is kept in f32
// does not.
// CHECK-LABEL: weft.program @products
// CHECK: %[[Y:.*]] = weft.matmul %{{.*}}, %{{.*}} : tensor<8x8xbf16>, tensor<8x8xbf16>
// CHECK: %[[Z:.*]] = weft.matmul %{{.*}}, %{{.*}} {out = f32}
// CHECK: weft.cast %[[Z]]
// CHECK: weft.return %[[Y]]
weft.program @products(%x: tensor<8x8xbf16> {weft.input = "x"})
    -> (tensor<8x8xbf16> {weft.output = "y"}, tensor<8x8xbf16> {weft.output = "z"}, tensor<8x8xf32> {weft.output = "w"}) attributes {kind = #weft.kind<eval>} {
  %p = weft.matmul %x, %x {out = f32} : tensor<8x8xbf16>, tensor<8x8xbf16>
  %y = weft.cast %p : tensor<8x8xf32> to tensor<8x8xbf16>
  %w = weft.matmul %x, %x {out = f32} : tensor<8x8xbf16>, tensor<8x8xbf16>
  %z = weft.cast %w : tensor<8x8xf32> to tensor<8x8xbf16>
  weft.return %y, %z, %w : tensor<8x8xbf16>, tensor<8x8xbf16>, tensor<8x8xf32>
}
