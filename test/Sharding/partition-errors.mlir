// RUN: weft-opt %s --split-input-file --weft-partition --verify-diagnostics
// RUN: not weft-opt %examples/mlp.mlir --weft-shard=mesh=dp:2 --weft-partition=reduce-dtype=f64 2>&1 | FileCheck %s --check-prefix=REDUCE
// RUN: not weft-opt %examples/mlp.mlir --weft-shard=mesh=dp:2 --weft-partition=gather-dtype=half 2>&1 | FileCheck %s --check-prefix=GATHER
// REDUCE: error: expects reduce-dtype auto, f32, f16 or bf16, but got f64
// GATHER: error: expects gather-dtype auto, f32, f16 or bf16, but got half

// Values that cannot be partitioned are errors at their place.

dist.mesh @mesh("dp" = 2)
// expected-error @+1 {{expects a dist.layout (weft-shard), but got none}}
weft.param @w : tensor<4xf32>

// -----

dist.mesh @mesh("dp" = 2)
// expected-error @+1 {{expects a flat state of 2 equal shards (weft-bucket), but got 'tensor<4xf32>'}}
weft.state @w.grad : tensor<4xf32> {dist.layout = #dist.layout<sharded on "dp">, kind = #weft.state_kind<gradient>}

// -----

dist.mesh @mesh("dp" = 2)
// expected-error @+1 {{expects a flat state of 2 equal shards (weft-bucket), but got 'tensor<4xf32>'}}
weft.param @w : tensor<4xf32> {dist.layout = #dist.layout<sharded on "dp">}

// -----

dist.mesh @mesh("dp" = 3)
// expected-error @+1 {{expects a flat state of 3 equal shards (weft-bucket), but got 'tensor<4xf32>'}}
weft.param @w.flat : tensor<4xf32> {dist.layout = #dist.layout<sharded on "dp">, segments = [#weft.segment<@w [4] at 0 to 4>]}

// -----

dist.mesh @mesh("dp" = 2)
weft.param @w : tensor<4xf32> {dist.layout = #dist.layout<replicated>}
// expected-error @+1 {{expects gradients in flat states of 2 equal shards (weft-bucket), but got 'tensor<4xf32>'}}
weft.state @w.grad : tensor<4xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @w}
weft.program @apply() attributes {kind = #weft.kind<apply>} {
  %g = weft.read @w.grad : tensor<4xf32>
  weft.return
}

// -----

dist.mesh @mesh("dp" = 2)
weft.program @apply(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<f64> {weft.output = "n"}) attributes {kind = #weft.kind<apply>} {
  // expected-error @+1 {{expects gradients that the program reads, but got}}
  %n, %b = weft.norm_and_check %x {p = 2.0 : f64} : tensor<4xf32>
  weft.return %n : tensor<f64>
}

// -----

dist.mesh @mesh("dp" = 2)
weft.param @w.flat : tensor<4xf32> {dist.layout = #dist.layout<replicated>, segments = [#weft.segment<@w [4] at 0 to 4>]}
weft.param @v.flat : tensor<4xf32> {dist.layout = #dist.layout<replicated>, segments = [#weft.segment<@v [4] at 0 to 4>]}
weft.state @w.flat.grad : tensor<4xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @w.flat, slot = "grad", segments = [#weft.segment<@w [4] at 0 to 4>]}
weft.state @v.flat.grad : tensor<4xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @v.flat, slot = "grad", segments = [#weft.segment<@v [4] at 0 to 4>]}
weft.program @apply(%max: tensor<f64> {weft.input = "max_norm"}) -> (tensor<f32> {weft.output = "c"}, tensor<f64> {weft.output = "n"}) attributes {kind = #weft.kind<apply>} {
  %w = weft.read @w.flat.grad : tensor<4xf32>
  %v = weft.read @v.flat.grad : tensor<4xf32>
  %nw, %bw = weft.norm_and_check %w {p = 2.0 : f64} : tensor<4xf32>
  // expected-error @+1 {{expects all checks of gradients above the first user of one of them}}
  %c = weft.clip_coefficient %nw, %max
  // expected-note @+1 {{a check below}}
  %nv, %bv = weft.norm_and_check %v {p = 2.0 : f64} : tensor<4xf32>
  weft.return %c, %nv : tensor<f32>, tensor<f64>
}

// -----

dist.mesh @mesh("replica" = 2, "shard" = 2)
// expected-error @+1 {{expects shards along the last axis of the mesh, but got "replica"}}
weft.param @w.flat : tensor<4xf32> {dist.layout = #dist.layout<sharded on "replica">, segments = [#weft.segment<@w [4] at 0 to 4>]}

// -----

dist.mesh @mesh("replica" = 3, "shard" = 2)
weft.param @w.flat : tensor<4xf32> {dist.layout = #dist.layout<replicated>, segments = [#weft.segment<@w [4] at 0 to 4>]}
// expected-error @+1 {{expects gradients in flat states of 6 equal shards (weft-bucket), but got 'tensor<4xf32>'}}
weft.state @w.flat.grad : tensor<4xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @w.flat, slot = "grad", segments = [#weft.segment<@w [4] at 0 to 4>]}
weft.program @apply() attributes {kind = #weft.kind<apply>} {
  %g = weft.read @w.flat.grad : tensor<4xf32>
  weft.return
}

// -----

dist.mesh @mesh("dp" = 2)
weft.state @p : tensor<f32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<presence>}
// expected-error @+1 {{expects a check of gradients, whose message carries presence, but got none}}
weft.program @apply() -> (tensor<f32> {weft.output = "n"}) attributes {kind = #weft.kind<apply>} {
  %p = weft.read @p : tensor<f32>
  weft.return %p : tensor<f32>
}

// -----

dist.mesh @mesh("dp" = 2)
weft.param @w.flat : tensor<4xf32> {dist.layout = #dist.layout<replicated>, segments = [#weft.segment<@w [4] at 0 to 4>]}
weft.state @w.flat.grad : tensor<4xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @w.flat, slot = "grad", segments = [#weft.segment<@w [4] at 0 to 4>]}
weft.state @p : tensor<f32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<presence>}
weft.program @apply() -> (tensor<f64> {weft.output = "n"}, tensor<i1> {weft.output = "b"}) attributes {kind = #weft.kind<apply>} {
  %w = weft.read @w.flat.grad : tensor<4xf32>
  %n, %bad = weft.norm_and_check %w {p = 2.0 : f64} : tensor<4xf32>
  %p = weft.read @p : tensor<f32>
  %zero = weft.constant dense<0.0> : tensor<f32>
  // expected-error @+1 {{expects a comparison of presence to be above zero to be all that reads it}}
  %b = weft.compare eq %p, %zero : tensor<f32>, tensor<f32>
  weft.return %n, %b : tensor<f64>, tensor<i1>
}

// -----

dist.mesh @mesh("dp" = 2)
weft.param @w.flat : tensor<4xf32> {dist.layout = #dist.layout<replicated>, segments = [#weft.segment<@w [4] at 0 to 4>]}
weft.state @w.flat.grad : tensor<4xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @w.flat, slot = "grad", segments = [#weft.segment<@w [4] at 0 to 4>]}
weft.state @p : tensor<f32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<presence>}
weft.program @apply() -> (tensor<f64> {weft.output = "n"}, tensor<i1> {weft.output = "b"}) attributes {kind = #weft.kind<apply>} {
  %p = weft.read @p : tensor<f32>
  %zero = weft.constant dense<0.0> : tensor<f32>
  %b = weft.compare gt %p, %zero : tensor<f32>, tensor<f32>
  // expected-error @+1 {{expects all checks of gradients above the first user of presence}}
  %c = weft.not %b : tensor<i1>
  %w = weft.read @w.flat.grad : tensor<4xf32>
  // expected-note @+1 {{a check below}}
  %n, %bad = weft.norm_and_check %w {p = 2.0 : f64} : tensor<4xf32>
  weft.return %n, %c : tensor<f64>, tensor<i1>
}

// -----

dist.mesh @mesh("dp" = 2)
// expected-note @+1 {{the first one}}
weft.program @micro() attributes {kind = #weft.kind<micro>} {
  weft.return
}
// expected-error @+1 {{expects one program of kind micro, but got a second one}}
weft.program @other() attributes {kind = #weft.kind<micro>} {
  weft.return
}
