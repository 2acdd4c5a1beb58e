// RUN: weft-opt %s -split-input-file -verify-diagnostics
// No tensor is without elements, wherever it stands: a batch, a sequence or a
// parameter of none is an error where it is first named.

// expected-error @+1 {{expects sizes of at least 1, but got 'tensor<4x0xf32>'}}
weft.param @w : tensor<4x0xf32> {init = #weft.init<zeros>}

// -----

// expected-error @+1 {{expects sizes of at least 1, but got 'tensor<0xf32>'}}
weft.state @s : tensor<0xf32> {kind = #weft.state_kind<optimizer>}

// -----

// expected-error @+1 {{expects sizes of at least 1, but got 'tensor<0x4xf32>'}}
weft.program @p(%x: tensor<0x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  weft.return
}

// -----

// expected-error @+1 {{expects sizes of at least 1, but got 'tensor<0x4xf32>'}}
weft.kernel @k(%x: tensor<0x4xf32>) -> tensor<0x4xf32> elementwise [0, 4] inplace [[]] {
  weft.yield %x : tensor<0x4xf32>
}

// -----

weft.program @p(%x: tensor<8x0xf32> {weft.input = "x"}, %w: tensor<0x4xf32> {weft.input = "w"}) attributes {kind = #weft.kind<model>} {
  // expected-error @+1 {{expects sizes of at least 1, but got 'tensor<8x0xf32>'}}
  %y = weft.matmul %x, %w : tensor<8x0xf32>, tensor<0x4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<0x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @+1 {{expects sizes of at least 1, but got 'tensor<0x4xf32>'}}
  %y = weft.add %x, %x : tensor<0x4xf32>, tensor<0x4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<0x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @+1 {{expects sizes of at least 1, but got 'tensor<0x4xf32>'}}
  %y = weft.reduce sum %x dims [0] : tensor<0x4xf32>
  weft.return
}

// -----

weft.program @p(%t: tensor<4x0xi32> {weft.input = "tokens"}, %e: tensor<16x8xf32> {weft.input = "e"}) attributes {kind = #weft.kind<model>} {
  // expected-error @+1 {{expects sizes of at least 1, but got 'tensor<4x0xi32>'}}
  %y = weft.embedding %t, %e : tensor<4x0xi32>, tensor<16x8xf32>
  weft.return
}

// -----

weft.program @p(%l: tensor<0x10xf32> {weft.input = "l"}, %t: tensor<0xi32> {weft.input = "t"}) attributes {kind = #weft.kind<model>} {
  // expected-error @+1 {{expects sizes of at least 1, but got 'tensor<0x10xf32>'}}
  %loss, %lse, %n = weft.cross_entropy %l, %t : tensor<0x10xf32>, tensor<0xi32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @+1 {{expects sizes of at least 1, but got [0]}}
  %y = weft.slice %x offsets [0] sizes [0] strides [1] : tensor<4xf32>
  weft.return
}

// -----

// expected-error @+1 {{expects sizes of at least 1, but got 'tensor<0xf32>'}}
weft.program @p(%x: tensor<4xf32> {weft.input = "x"}, %y: tensor<0xf32> {weft.input = "y"}) attributes {kind = #weft.kind<model>} {
  weft.return
}

// -----

weft.program @p() attributes {kind = #weft.kind<model>} {
  // expected-error @+1 {{expects sizes of at least 1, but got 'tensor<0xf32>'}}
  %c = weft.constant dense<> : tensor<0xf32>
  weft.return
}
