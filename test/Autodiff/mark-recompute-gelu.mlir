// A library that computes a product and the gelu behind it as one rounds that gelu otherwise than
// a kernel: both are computed again, wherever the product stands.
// RUN: weft-opt --weft-mark-recompute="rule=bytes:1 gelu-with-product=true" %s | FileCheck %s --check-prefixes=CHECK,BOTH
// RUN: weft-opt --weft-mark-recompute="rule=bytes:1" %s | FileCheck %s --check-prefixes=CHECK,ALONE

// So it is with marks that the model has.
// RUN: sed 's/scope = "h.0.gelu"}/scope = "h.0.gelu", weft.recompute = "mine"}/' %s > %t.mlir
// RUN: weft-opt --weft-mark-recompute="gelu-with-product=true" %t.mlir | FileCheck %s --check-prefix=MINE
// RUN: weft-opt --weft-mark-recompute %t.mlir | FileCheck %s --check-prefix=NONE

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
  // BOTH-NEXT: weft.reshape %{{.*}} {weft.recompute = "h.0", weft.scope = "h.0"}
  // BOTH-NEXT: weft.broadcast
  // BOTH-NEXT: weft.add %{{.*}}, %{{.*}} {weft.recompute = "h.0", weft.scope = "h.0"}
  // ALONE: weft.matmul %{{.*}}, %{{.*}} {weft.scope = "h.0"}
  // ALONE: weft.add %{{.*}}, %{{.*}} {weft.scope = "h.0"}
  // MINE: weft.matmul %{{.*}}, %{{.*}} {weft.recompute = "mine", weft.scope = "h.0"}
  // MINE: weft.add %{{.*}}, %{{.*}} {weft.recompute = "mine", weft.scope = "h.0"}
  // NONE: weft.matmul %{{.*}}, %{{.*}} {weft.scope = "h.0"}
  // NONE: weft.add %{{.*}}, %{{.*}} {weft.scope = "h.0"}
  %p = weft.matmul %x, %v {weft.scope = "h.0"} : tensor<128x128xf32>, tensor<128x128xf32>
  %r = weft.reshape %p {weft.scope = "h.0"} : tensor<128x128xf32> to tensor<128x128xf32>
  %c = weft.broadcast %b {weft.scope = "h.0"} : tensor<128xf32> to tensor<128x128xf32>
  %s = weft.add %c, %r {weft.scope = "h.0"} : tensor<128x128xf32>, tensor<128x128xf32>
  // CHECK: weft.gelu %{{.*}} {approximate = #weft.gelu_kind<tanh>, weft.recompute = "h.0", weft.scope = "h.0.gelu"}
  // MINE: weft.gelu %{{.*}} {approximate = #weft.gelu_kind<tanh>, weft.recompute = "mine", weft.scope = "h.0.gelu"}
  %t = weft.gelu %s {approximate = #weft.gelu_kind<tanh>, weft.scope = "h.0.gelu"} : tensor<128x128xf32>
  // CHECK: weft.matmul %{{.*}}, %{{.*}} {weft.scope = "h.0"}
  %q = weft.matmul %t, %w {weft.scope = "h.0"} : tensor<128x128xf32>, tensor<128x128xf32>
  // A residual is no bias.
  // CHECK: weft.add %{{.*}}, %{{.*}} {weft.scope = "h.0"}
  // CHECK: weft.add %{{.*}}, %{{.*}} {weft.scope = "h.0"}
  // CHECK: weft.gelu %{{.*}} {approximate = #weft.gelu_kind<tanh>, weft.scope = "h.0"}
  %a0 = weft.add %q, %x {weft.scope = "h.0"} : tensor<128x128xf32>, tensor<128x128xf32>
  %a1 = weft.add %a0, %a0 {weft.scope = "h.0"} : tensor<128x128xf32>, tensor<128x128xf32>
  %g = weft.gelu %a1 {approximate = #weft.gelu_kind<tanh>, weft.scope = "h.0"} : tensor<128x128xf32>
  // CHECK: weft.exp %{{.*}} {weft.scope = "head"}
  %e = weft.exp %g {weft.scope = "head"} : tensor<128x128xf32>
  %loss = weft.reduce sum %e dims [0, 1] : tensor<128x128xf32>
  weft.return %loss : tensor<f32>
}
