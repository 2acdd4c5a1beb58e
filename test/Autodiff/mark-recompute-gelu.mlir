// A library that computes a product and the gelu behind it as one rounds that gelu otherwise than
// a kernel: both are computed again, wherever the product stands. Where the product may be part of
// one and not of the other, the gelu stays apart from it, marked or not.
// RUN: weft-opt --split-input-file --weft-mark-recompute="rule=bytes:1 gelu-with-product=true" %s | FileCheck %s --check-prefixes=CHECK,BOTH
// RUN: weft-opt --split-input-file --weft-mark-recompute="rule=bytes:1" %s | FileCheck %s --check-prefixes=CHECK,ALONE

// So it is with marks that the model has.
// RUN: sed 's/scope = "h.0.gelu"}/scope = "h.0.gelu", weft.recompute = "mine"}/' %s > %t.mlir
// RUN: weft-opt --split-input-file --weft-mark-recompute="gelu-with-product=true" %t.mlir | FileCheck %s --check-prefix=MINE
// RUN: weft-opt --split-input-file --weft-mark-recompute %t.mlir | FileCheck %s --check-prefix=NONE

weft.param @v : tensor<128x128xf32> {init = #weft.init<zeros>}
weft.param @b : tensor<128xf32> {init = #weft.init<zeros>}
weft.param @w : tensor<128x128xf32> {init = #weft.init<zeros>}
// CHECK-LABEL: weft.program @micro
// MINE-LABEL: weft.program @micro
// NONE-LABEL: weft.program @micro
weft.program @micro(%x: tensor<128x128xf32> {weft.input = "x"},
                    %accumulate: tensor<f32> {weft.input = "accumulate"},
                    %loss_seed: tensor<f32> {weft.input = "loss_seed"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %v = weft.read @v : tensor<128x128xf32>
  %b = weft.read @b : tensor<128xf32>
  %w = weft.read @w : tensor<128x128xf32>
  // BOTH: weft.matmul %{{.*}}, %{{.*}} {weft.recompute = "h.0", weft.scope = "h.0"}
  // BOTH-NEXT: weft.broadcast
  // BOTH-NEXT: weft.add %{{.*}}, %{{.*}} {weft.recompute = "h.0", weft.scope = "h.0"}
  // ALONE: weft.matmul %{{.*}}, %{{.*}} {weft.scope = "h.0"}
  // ALONE: weft.add %{{.*}}, %{{.*}} {weft.scope = "h.0"}
  // MINE: weft.matmul %{{.*}}, %{{.*}} {weft.recompute = "mine", weft.scope = "h.0"}
  // MINE: weft.add %{{.*}}, %{{.*}} {weft.recompute = "mine", weft.scope = "h.0"}
  // NONE: weft.matmul %{{.*}}, %{{.*}} {weft.scope = "h.0"}
  // NONE: weft.add %{{.*}}, %{{.*}} {weft.scope = "h.0"}
  %p = weft.matmul %x, %v {weft.scope = "h.0"} : tensor<128x128xf32>, tensor<128x128xf32>
  %c = weft.broadcast %b {weft.scope = "h.0"} : tensor<128xf32> to tensor<128x128xf32>
  %s = weft.add %c, %p {weft.scope = "h.0"} : tensor<128x128xf32>, tensor<128x128xf32>
  // CHECK: weft.gelu %{{.*}} {approximate = #weft.gelu_kind<tanh>, weft.recompute = "h.0", weft.scope = "h.0.gelu"}
  // MINE: weft.gelu %{{.*}} {approximate = #weft.gelu_kind<tanh>, weft.recompute = "mine", weft.scope = "h.0.gelu"}
  %t = weft.gelu %s {approximate = #weft.gelu_kind<tanh>, weft.scope = "h.0.gelu"} : tensor<128x128xf32>
  // CHECK: weft.matmul %{{.*}}, %{{.*}} {weft.scope = "h.0"}
  %q = weft.matmul %t, %w {weft.scope = "h.0"} : tensor<128x128xf32>, tensor<128x128xf32>
  // CHECK: weft.exp %{{.*}} {weft.scope = "head"}
  %e = weft.exp %q {weft.scope = "head"} : tensor<128x128xf32>
  %loss = weft.reduce sum %e dims [0, 1] : tensor<128x128xf32>
  weft.return %loss : tensor<f32>
}

// -----

// CHECK: weft.program @micro
// MINE: weft.program @micro
// NONE: weft.program @micro
weft.program @micro(%x: tensor<128x128xf32> {weft.input = "x"}, %w: tensor<128x128xf32> {weft.input = "w"},
                    %u: tensor<128x12xf32> {weft.input = "u"})
    -> (tensor<128x128xf32> {weft.output = "y"}) attributes {kind = #weft.kind<micro>} {
  // A residual is no bias; another op reads the product; it has other columns or another shape.
  // MINE: weft.gelu %{{.*}} {approximate = #weft.gelu_kind<tanh>, weft.apart, weft.scope = "r"}
  // MINE: weft.gelu %{{.*}} {approximate = #weft.gelu_kind<tanh>, weft.apart, weft.scope = "t"}
  // MINE: weft.gelu %{{.*}} {approximate = #weft.gelu_kind<tanh>, weft.apart, weft.scope = "c"}
  // MINE: weft.gelu %{{.*}} {approximate = #weft.gelu_kind<tanh>, weft.apart, weft.scope = "s"}
  // With erf no library computes it.
  // MINE: weft.gelu %{{.*}} {weft.scope = "e"}
  // NONE-NOT: weft.apart
  %q = weft.matmul %x, %w {weft.scope = "r"} : tensor<128x128xf32>, tensor<128x128xf32>
  %a0 = weft.add %q, %x {weft.scope = "r"} : tensor<128x128xf32>, tensor<128x128xf32>
  %a1 = weft.gelu %a0 {approximate = #weft.gelu_kind<tanh>, weft.scope = "r"} : tensor<128x128xf32>
  %t0 = weft.matmul %a1, %w {weft.scope = "t"} : tensor<128x128xf32>, tensor<128x128xf32>
  %t1 = weft.gelu %t0 {approximate = #weft.gelu_kind<tanh>, weft.scope = "t"} : tensor<128x128xf32>
  %t2 = weft.mul %t0, %t1 {weft.scope = "t"} : tensor<128x128xf32>, tensor<128x128xf32>
  %c0 = weft.matmul %t2, %u {weft.scope = "c"} : tensor<128x128xf32>, tensor<128x12xf32>
  %c1 = weft.gelu %c0 {approximate = #weft.gelu_kind<tanh>, weft.scope = "c"} : tensor<128x12xf32>
  %s0 = weft.matmul %c1, %c1 {transpose_rhs, weft.scope = "s"} : tensor<128x12xf32>, tensor<128x12xf32>
  %s1 = weft.reshape %s0 {weft.scope = "s"} : tensor<128x128xf32> to tensor<64x256xf32>
  %s2 = weft.gelu %s1 {approximate = #weft.gelu_kind<tanh>, weft.scope = "s"} : tensor<64x256xf32>
  %s3 = weft.reshape %s2 {weft.scope = "s"} : tensor<64x256xf32> to tensor<128x128xf32>
  %e0 = weft.matmul %s3, %w {weft.scope = "e"} : tensor<128x128xf32>, tensor<128x128xf32>
  %g = weft.gelu %e0 {weft.scope = "e"} : tensor<128x128xf32>
  weft.return %g : tensor<128x128xf32>
}
