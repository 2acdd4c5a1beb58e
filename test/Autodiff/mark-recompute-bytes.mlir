// The cheapest for their bytes first: an elementwise result, whose operand is kept, and then the
// product that gives that operand.
// RUN: weft-opt --weft-mark-recompute="rule=bytes:1" %s | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: weft-opt --weft-mark-recompute="rule=bytes:65536" %s | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: weft-opt --weft-mark-recompute="rule=bytes:65537" %s | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: weft-opt --weft-mark-recompute="rule=bytes:100000000" %s | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: weft-opt --pass-pipeline="builtin.module(weft-mark-recompute{rule=bytes:1},weft-autodiff,weft.program(weft-recompute))" %s | FileCheck %s --check-prefix=GRAD

weft.param @v : tensor<128x128xf32> {init = #weft.init<zeros>}
weft.param @w : tensor<128x128xf32> {init = #weft.init<zeros>}
// CHECK-LABEL: weft.program @micro
weft.program @micro(%x: tensor<128x128xf32> {weft.input = "x"},
                    %accumulate: tensor<f32> {weft.input = "accumulate"},
                    %loss_seed: tensor<f32> {weft.input = "loss_seed"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %v = weft.read @v : tensor<128x128xf32>
  %w = weft.read @w : tensor<128x128xf32>
  // ONE: weft.matmul %{{.*}}, %{{.*}} {weft.scope = "h.0"}
  // TWO: weft.matmul %{{.*}}, %{{.*}} {weft.recompute = "h.0", weft.scope = "h.0"}
  %p = weft.matmul %x, %v {weft.scope = "h.0"} : tensor<128x128xf32>, tensor<128x128xf32>
  // CHECK: weft.gelu %{{.*}} {weft.recompute = "h.0", weft.scope = "h.0"}
  %t = weft.gelu %p {weft.scope = "h.0"} : tensor<128x128xf32>
  // What nobody reads again is not computed again, and what the next block reads is kept.
  // CHECK: weft.matmul %{{.*}}, %{{.*}} {weft.scope = "h.0"}
  %q = weft.matmul %t, %w {weft.scope = "h.0"} : tensor<128x128xf32>, tensor<128x128xf32>
  // CHECK: weft.exp %{{.*}} {weft.scope = "head"}
  %e = weft.exp %q {weft.scope = "head"} : tensor<128x128xf32>
  %loss = weft.reduce sum %e dims [0, 1] : tensor<128x128xf32>
  weft.return %loss : tensor<f32>
}

// The copy reads the product, and the gradient of @w the copy.
// GRAD: %[[P:.*]] = weft.matmul %{{.*}}, %{{.*}} {weft.saved = array<i64: 0>, weft.scope = "h.0"}
// GRAD-NEXT: weft.gelu %[[P]] {weft.scope = "h.0"}
// GRAD: %[[AGAIN:.*]] = weft.gelu %[[P]]
// GRAD-NEXT: weft.matmul %[[AGAIN]], %{{.*}} {transpose_lhs
