// RUN: weft-opt %s --split-input-file --weft-partition --verify-diagnostics

// What cannot be partitioned is an error where it stands.

dist.mesh @mesh("dp" = 2)
// expected-error @+1 {{expects a dist.layout (weft-shard), but got none}}
weft.param @w : tensor<4xf32>

// -----

dist.mesh @mesh("dp" = 2)
// expected-error @+1 {{does not support sharded parameters and states yet; use --zero=0}}
weft.param @w : tensor<4xf32> {dist.layout = #dist.layout<sharded on "dp">}

// -----

dist.mesh @mesh("dp" = 2)
weft.param @w : tensor<4xf32> {dist.layout = #dist.layout<replicated>}
// expected-error @+1 {{expects gradients in flat states of 2 equal slices (weft-bucket), but got 'tensor<4xf32>'}}
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
