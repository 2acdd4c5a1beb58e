// RUN: weft-opt --weft-mark-recompute="rule=blocks" %s | FileCheck %s
// RUN: weft-opt --weft-mark-recompute="rule=every:2" %s | FileCheck %s --check-prefix=TWO
// RUN: weft-opt --weft-mark-recompute %s | FileCheck %s --check-prefix=NONE --implicit-check-not=recompute
// RUN: not weft-opt --weft-mark-recompute="rule=bytes:0" %s 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not weft-opt --weft-mark-recompute="rule=every:0" %s 2>&1 | FileCheck %s --check-prefix=RULE

// RULE: error: expects none, blocks, every:N or bytes:N with N of at least 1, but got every:0
// BYTES: error: expects none, blocks, every:N or bytes:N with N of at least 1, but got bytes:0
// NONE: weft.program @micro

weft.param @w : tensor<4xf32> {init = #weft.init<zeros>}
// CHECK-LABEL: weft.program @micro
// TWO-LABEL: weft.program @micro
weft.program @micro(%x: tensor<4xf32> {weft.input = "x"})
    -> (tensor<4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // What stands in no block, parameters and constants are there anyway.
  // CHECK: weft.exp %{{.*}} {weft.scope = "embed"}
  // CHECK: weft.read @w :
  // CHECK: weft.constant
  // CHECK-SAME: weft.scope = "h.0"}
  // CHECK: weft.add %{{.*}}, %{{.*}} {weft.recompute = "h.0", weft.scope = "h.0.attn"}
  // CHECK: weft.exp %{{.*}} {weft.recompute = "h.1", weft.scope = "h.1"}
  // CHECK: weft.exp %{{.*}} {weft.recompute = "h.2", weft.scope = "h.2.mlp.up"}
  // CHECK: weft.exp %{{.*}} {weft.recompute = "h.0", weft.scope = "h.0.mlp"}
  // CHECK: weft.exp %{{.*}} {weft.scope = "head"}
  // TWO: weft.add %{{.*}}, %{{.*}} {weft.recompute = "h.0", weft.scope = "h.0.attn"}
  // TWO: weft.exp %{{.*}} {weft.recompute = "h.0", weft.scope = "h.1"}
  // TWO: weft.exp %{{.*}} {weft.recompute = "h.2", weft.scope = "h.2.mlp.up"}
  // TWO: weft.exp %{{.*}} {weft.recompute = "h.0", weft.scope = "h.0.mlp"}
  %e = weft.exp %x {weft.scope = "embed"} : tensor<4xf32>
  %w = weft.read @w : tensor<4xf32>
  %c = weft.constant {weft.scope = "h.0"} dense<1.0> : tensor<4xf32>
  %a = weft.add %e, %w {weft.scope = "h.0.attn"} : tensor<4xf32>, tensor<4xf32>
  %b = weft.exp %a {weft.scope = "h.1"} : tensor<4xf32>
  %d = weft.exp %b {weft.scope = "h.2.mlp.up"} : tensor<4xf32>
  %f = weft.exp %d {weft.scope = "h.0.mlp"} : tensor<4xf32>
  %g = weft.exp %f {weft.scope = "head"} : tensor<4xf32>
  weft.return %g : tensor<4xf32>
}

// Nothing else has a backward pass.
// CHECK-LABEL: weft.program @eval
// CHECK-NOT: recompute
weft.program @eval(%x: tensor<4xf32> {weft.input = "x"})
    -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %a = weft.exp %x {weft.scope = "h.0"} : tensor<4xf32>
  weft.return %a : tensor<4xf32>
}
