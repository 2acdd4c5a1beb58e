// RUN: weft-opt %s --weft-merge-losses --split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-merge-losses --weft-decompose --weft-fuse="widen-in-readers=true" --split-input-file | FileCheck %s --check-prefix=FUSED
// A cross-entropy and its gradient are one formula: the divisor, the rows, and
// the sum over the rows. What the gradient of the loss needs comes first.

// CHECK-LABEL: weft.program @mean(
// CHECK: %[[N:.*]] = weft.reduce sum %{{.*}} dims [0, 1]
// CHECK: %[[SCALE:.*]] = weft.div %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>
// CHECK: weft.reduce max
// CHECK: %[[LOG:.*]] = weft.log
// CHECK: %[[HARD:.*]] = weft.select %{{.*}}, %[[SCALE]],
// CHECK: weft.mul %{{.*}}, %{{.*}} : tensor<16x50257xf32>, tensor<16x1xf32>
// CHECK: %[[D:.*]] = weft.cast %{{.*}} : tensor<16x50257xf32> to tensor<16x50257xf16>
// CHECK-NEXT: weft.reduce sum %{{.*}} dims [0, 1]
// CHECK: %[[L:.*]] = weft.div
// CHECK-NOT: weft.cross_entropy
// CHECK: weft.return %[[L]], %[[D]]
// One kernel has the rows; its gradient may take the place of the logits.
// FUSED-LABEL: weft.program @mean(
// FUSED: weft.call @[[ROWS:k_[0-9a-f]+]](%arg0, {{.*}} -> (tensor<16x1xf32>, tensor<16x50257xf16>)
// FUSED: weft.call @{{k_.*}} -> tensor<f32>
// FUSED-NEXT: weft.return
// FUSED: weft.kernel @[[ROWS]]({{.*}}) rows [16, 50257] over [1] inplace {{\[\[[^]]*\], \[0\]\]}}
weft.program @mean(%x: tensor<16x50257xf16> {weft.input = "x"}, %t: tensor<16xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"})
    -> (tensor<f32> {weft.output = "l"}, tensor<16x50257xf16> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<16x50257xf16>, tensor<16xi32>
  %s = weft.mul %g, %g : tensor<f32>, tensor<f32>
  %d = weft.cross_entropy_grad %s, %x, %t, %lse, %n : tensor<f32>, tensor<16x50257xf16>, tensor<16xi32>, tensor<16xf32>
  weft.return %l, %d : tensor<f32>, tensor<16x50257xf16>
}

// -----

// A sum has no divisor.
// CHECK-LABEL: weft.program @sum(
// CHECK-NOT: weft.div
// CHECK: weft.return
weft.program @sum(%x: tensor<16x64xf32> {weft.input = "x"}, %t: tensor<16xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"})
    -> (tensor<f32> {weft.output = "l"}, tensor<16x64xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %l, %lse, %n = weft.cross_entropy %x, %t {reduction = #weft.loss_reduction<sum>} : tensor<16x64xf32>, tensor<16xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n {reduction = #weft.loss_reduction<sum>} : tensor<f32>, tensor<16x64xf32>, tensor<16xi32>, tensor<16xf32>
  weft.return %l, %d : tensor<f32>, tensor<16x64xf32>
}

// -----

// A loss without a gradient is no miss.
// CHECK-LABEL: weft.program @forward(
// CHECK: weft.cross_entropy
weft.program @forward(%x: tensor<16x64xf32> {weft.input = "x"}, %t: tensor<16xi32> {weft.input = "t"})
    -> (tensor<f32> {weft.output = "l"}) attributes {kind = #weft.kind<eval>} {
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<16x64xf32>, tensor<16xi32>
  weft.return %l : tensor<f32>
}
