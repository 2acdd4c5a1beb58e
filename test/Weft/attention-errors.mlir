// RUN: weft-opt %s -split-input-file -verify-diagnostics
// Windows, softcaps and documents that attention does not have.

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x16x2x8xf32> {weft.input = "k"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a window of at least 1, but got 0}}
  %o, %l = weft.attention %q, %k, %k {causal, scale = 0.5 : f64, window = 0 : i64} : tensor<2x16x4x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x16x2x8xf32> {weft.input = "k"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a window of at least 1, but got -3}}
  %o, %l = weft.attention %q, %k, %k {causal, scale = 0.5 : f64, window = -3 : i64} : tensor<2x16x4x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x20x2x8xf32> {weft.input = "k"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects as many keys as queries with a window unless causal, but got 20 and 16}}
  %o, %l = weft.attention %q, %k, %k {scale = 0.5 : f64, window = 3 : i64} : tensor<2x16x4x8xf32>, tensor<2x20x2x8xf32>, tensor<2x20x2x8xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x16x2x8xf32> {weft.input = "k"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a finite softcap above 0, but got 0.0}}
  %o, %l = weft.attention %q, %k, %k {causal, scale = 0.5 : f64, softcap = 0.0 : f64} : tensor<2x16x4x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x16x2x8xf32> {weft.input = "k"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a finite softcap above 0, but got}}
  %o, %l = weft.attention %q, %k, %k {causal, scale = 0.5 : f64, softcap = 0x7FF0000000000000 : f64} : tensor<2x16x4x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x16x2x8xf32> {weft.input = "k"}, %s: tensor<2x16xi64> {weft.input = "s"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects segments of type 'tensor<2x16xi32>', but got 'tensor<2x16xi64>'}}
  %o, %l = weft.attention %q, %k, %k segments %s : tensor<2x16xi64> {causal, scale = 0.5 : f64} : tensor<2x16x4x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x16x2x8xf32> {weft.input = "k"}, %s: tensor<16x2xi32> {weft.input = "s"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects segments of type 'tensor<2x16xi32>', but got 'tensor<16x2xi32>'}}
  %o, %l = weft.attention %q, %k, %k segments %s : tensor<16x2xi32> {causal, scale = 0.5 : f64} : tensor<2x16x4x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x20x2x8xf32> {weft.input = "k"}, %s: tensor<2x16xi32> {weft.input = "s"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects as many keys as queries with segments, but got 20 and 16}}
  %o, %l = weft.attention %q, %k, %k segments %s : tensor<2x16xi32> {causal, scale = 0.5 : f64} : tensor<2x16x4x8xf32>, tensor<2x20x2x8xf32>, tensor<2x20x2x8xf32>
  weft.return
}
