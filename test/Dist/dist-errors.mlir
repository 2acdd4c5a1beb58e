// RUN: weft-opt %s --split-input-file --verify-diagnostics

// Errors in meshes, layouts and collectives are reported at their place.

// expected-error @+1 {{expects axes with names, each its own, but got "dp"}}
dist.mesh @mesh("dp" = 2, "dp" = 2)

// -----

// expected-error @+1 {{expects 1 to 100000 ranks, but got 0 along "dp"}}
dist.mesh @mesh("dp" = 0)

// -----

// expected-error @+1 {{expects 1 to 100000 ranks, but got 4000000000 along "b"}}
dist.mesh @mesh("a" = 100000, "b" = 4000000000)

// -----

// expected-error @+1 {{expects a size for each of at least one axis, but got 0 sizes for 0 axes}}
dist.mesh @mesh()

// -----

// expected-error @+1 {{expects one mesh in a module, but got @b as well}}
dist.mesh @a("dp" = 2)
dist.mesh @b("dp" = 2)

// -----

// expected-error @+1 {{expects a dist.mesh in the module of a layout, but there is none}}
weft.param @w : tensor<8xf32> {dist.layout = #dist.layout<replicated>}

// -----

// expected-note @+1 {{the mesh}}
dist.mesh @mesh("dp" = 2)
// expected-error @+1 {{expects an axis of the mesh, but got "shard"}}
weft.param @w : tensor<8xf32> {dist.layout = #dist.layout<sharded on "shard">}

// -----

dist.mesh @mesh("dp" = 2)
// expected-error @+1 {{expects dist.layout to be a #dist.layout, but got 1 : i64}}
weft.param @w : tensor<8xf32> {dist.layout = 1 : i64}

// -----

dist.mesh @mesh("dp" = 2)
// expected-error @+1 {{expects only the attributes dist.layout and dist.rule of this dialect, but got "dist.unit"}}
weft.param @w : tensor<8xf32> {dist.unit = 1 : i64}

// -----

// expected-error @+1 {{expects dist.rule to be a #dist.rule, but got "replicated"}}
weft.param @w : tensor<8xf32> {dist.rule = "replicated"}

// -----

weft.param @w : tensor<8xf32>
// expected-error @+1 {{expects dist.rule on a parameter outside of flat parameters}}
weft.state @w.grad : tensor<8xf32> {kind = #weft.state_kind<gradient>, param = @w, dist.rule = #dist.rule<replicated by "a">}

// -----

// expected-error @+1 {{expects dist.rule on a parameter outside of flat parameters}}
weft.param @flat : tensor<8xf32> {dist.rule = #dist.rule<sharded by "a">, segments = [#weft.segment<@w [8] at 0 to 8>]}

// -----

// expected-error @+1 {{expects dist.layout only on a parameter or state}}
dist.mesh @mesh("dp" = 2) {dist.layout = #dist.layout<replicated>}

// -----

// expected-error @+1 {{expects an axis where a tensor is sharded and none where it is replicated, but got sharded with none}}
weft.param @w : tensor<8xf32> {dist.layout = #dist.layout<sharded>}

// -----

// expected-error @+1 {{expects an axis where a tensor is sharded and none where it is replicated, but got replicated with one}}
weft.param @w : tensor<8xf32> {dist.layout = #dist.layout<replicated on "dp">}

// -----

weft.program @eval(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<8xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects a dist.mesh, but @mesh is none}}
  %y = dist.all_gather %x on @mesh : tensor<4xf32> to tensor<8xf32>
  weft.return %y : tensor<8xf32>
}

// -----

// expected-note @+1 {{the mesh}}
dist.mesh @mesh("dp" = 2)
weft.program @eval(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<8xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects an axis of the mesh, but got "shard"}}
  %y = dist.all_gather %x on @mesh["shard"] : tensor<4xf32> to tensor<8xf32>
  weft.return %y : tensor<8xf32>
}

// -----

dist.mesh @mesh("dp" = 2)
weft.program @eval(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<12xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects 2 slices, but got 'tensor<4xf32>' of 'tensor<12xf32>'}}
  %y = dist.all_gather %x on @mesh : tensor<4xf32> to tensor<12xf32>
  weft.return %y : tensor<12xf32>
}

// -----

dist.mesh @mesh("dp" = 2)
weft.program @eval(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<8xf16> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects one element type, but got 'tensor<4xf32>' and 'tensor<8xf16>'}}
  %y = dist.all_gather %x on @mesh : tensor<4xf32> to tensor<8xf16>
  weft.return %y : tensor<8xf16>
}

// -----

dist.mesh @mesh("dp" = 2)
weft.program @eval(%x: tensor<4x2xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects one static dimension, but got 'tensor<4x2xf32>'}}
  %y = dist.reduce_scatter %x on @mesh {post = 1.0 : f64, pre = 2.0 : f64} : tensor<4x2xf32> to tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// -----

dist.mesh @mesh("dp" = 2)
weft.program @eval(%x: tensor<8xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects two divisors of at least 1 whose product is the number of ranks, 2, but got 2.000000e+00 and 2.000000e+00}}
  %y = dist.reduce_scatter %x on @mesh {post = 2.0 : f64, pre = 2.0 : f64} : tensor<8xf32> to tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// -----

dist.mesh @mesh("dp" = 2)
weft.program @eval(%x: tensor<f64> {weft.input = "x"}) -> (tensor<f64> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects sum or max of an f64, or of an i1, but got or of 'tensor<f64>'}}
  %y = dist.all_reduce %x by [or] on @mesh : tensor<f64>
  weft.return %y : tensor<f64>
}

// -----

dist.mesh @mesh("dp" = 2)
weft.program @eval(%x: tensor<f64> {weft.input = "x"}) -> (tensor<f64> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects a reduction and a result of the same type for each of at least one number, but got 2 and 1 for 1}}
  %y = dist.all_reduce %x by [sum, max] on @mesh : tensor<f64>
  weft.return %y : tensor<f64>
}

// -----

dist.mesh @mesh("dp" = 2)
weft.program @eval(%x: tensor<f64> {weft.input = "x"}) -> (tensor<f64> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects sum, max or or, but got min}}
  %y = dist.all_reduce %x by [min] on @mesh : tensor<f64>
  weft.return %y : tensor<f64>
}

// -----

dist.mesh @mesh("dp" = 2)
weft.program @eval(%x: tensor<12xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects 2 slices, but got 'tensor<4xf32>' of 'tensor<12xf32>'}}
  %y = dist.own_slice %x on @mesh : tensor<12xf32> to tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// -----

weft.program @eval(%x: tensor<8xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects a dist.mesh, but @mesh is none}}
  %y = dist.own_slice %x on @mesh : tensor<8xf32> to tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// -----

weft.program @eval() -> (tensor<i64> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects a dist.mesh, but @mesh is none}}
  %y = dist.rank on @mesh : tensor<i64>
  weft.return %y : tensor<i64>
}

// -----

// expected-note @+1 {{the mesh}}
dist.mesh @mesh("dp" = 2)
weft.program @eval() -> (tensor<i64> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects an axis of the mesh, but got "shard"}}
  %y = dist.rank on @mesh["shard"] : tensor<i64>
  weft.return %y : tensor<i64>
}
