// RUN: weft-opt %s --weft-fold-casts --weft-decompose --weft-fuse | FileCheck %s
// Casts between f32 and bf16 run in the kernels around them: a block of a
// transformer in mixed precision has no kernel that only casts, and products
// read and write bf16 alone.

// CHECK-LABEL: weft.program @micro
// The residual sum stays f32, its norm leaves as bf16.
// CHECK: %[[N:.*]]:2 = weft.call @[[NORM:.*]](%{{.*}}) : (tensor<64x32xbf16>, tensor<64x32xf32>, tensor<32xf32>, tensor<32xf32>) -> (tensor<64x32xf32>, tensor<64x32xbf16>)
// CHECK-NEXT: %[[H:.*]] = weft.matmul %[[N]]#1, %{{.*}} bias %{{.*}} : tensor<128xbf16> : tensor<64x32xbf16>
// CHECK-NEXT: %[[G:.*]] = weft.call @[[GELU:.*]](%[[H]]) : (tensor<64x128xbf16>) -> tensor<64x128xbf16>
// CHECK-NEXT: %[[O:.*]] = weft.matmul %[[G]]
// CHECK-NEXT: %[[Y:.*]] = weft.call @[[ADD:.*]](%[[O]], %[[N]]#0) : (tensor<64x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32>
// A bias gradient adds up in f32 what its kernel rounds for the products.
// CHECK-NEXT: %[[D:.*]]:2 = weft.call @[[BIAS:.*]](%{{.*}}) : (tensor<64x32xf32>) -> (tensor<64x32xbf16>, tensor<32xf32>)
// CHECK-NEXT: weft.matmul %[[D]]#0
// CHECK-NEXT: weft.return
// CHECK: weft.kernel @[[NORM]]
// CHECK: weft.cast %{{.*}} : tensor<64x32xbf16> to tensor<64x32xf32>
// CHECK: weft.cast %{{.*}} : tensor<64x32xf32> to tensor<64x32xbf16>
// CHECK: weft.kernel @[[GELU]]
// CHECK: weft.kernel @[[ADD]]
// CHECK: weft.kernel @[[BIAS]]
// CHECK-NOT: weft.kernel
weft.program @micro(%x: tensor<64x32xf32> {weft.input = "x"}, %p: tensor<64x32xbf16> {weft.input = "p"}, %w: tensor<32xf32> {weft.input = "w"}, %b: tensor<32xf32> {weft.input = "b"},
    %w1: tensor<32x128xbf16> {weft.input = "w1"}, %b1: tensor<128xbf16> {weft.input = "b1"}, %w2: tensor<128x32xbf16> {weft.input = "w2"}, %grad: tensor<64x32xf32> {weft.input = "grad"})
    -> (tensor<64x32xf32> {weft.output = "y"}, tensor<32xf32> {weft.output = "db"}, tensor<64x128xbf16> {weft.output = "dg"}) attributes {kind = #weft.kind<micro>} {
  %pf = weft.cast %p : tensor<64x32xbf16> to tensor<64x32xf32>
  %r = weft.add %x, %pf : tensor<64x32xf32>, tensor<64x32xf32>
  %n, %mean, %rstd = weft.layer_norm %r, %w, %b {eps = 1.0e-5 : f64} : tensor<64x32xf32>, tensor<32xf32>
  %nl = weft.cast %n : tensor<64x32xf32> to tensor<64x32xbf16>
  %h = weft.matmul %nl, %w1 bias %b1 : tensor<128xbf16> : tensor<64x32xbf16>, tensor<32x128xbf16>
  %g = weft.gelu %h : tensor<64x128xbf16>
  %o = weft.matmul %g, %w2 : tensor<64x128xbf16>, tensor<128x32xbf16>
  %of = weft.cast %o : tensor<64x32xbf16> to tensor<64x32xf32>
  %y = weft.add %r, %of : tensor<64x32xf32>, tensor<64x32xf32>
  %go = weft.cast %grad : tensor<64x32xf32> to tensor<64x32xbf16>
  %gf = weft.cast %go : tensor<64x32xbf16> to tensor<64x32xf32>
  %db = weft.reduce sum %gf dims [0] : tensor<64x32xf32>
  %dg = weft.matmul %go, %w2 {transpose_rhs} : tensor<64x32xbf16>, tensor<128x32xbf16>
  weft.return %y, %db, %dg : tensor<64x32xf32>, tensor<32xf32>, tensor<64x128xbf16>
}
