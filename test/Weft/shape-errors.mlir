// RUN: weft-opt %s -split-input-file -verify-diagnostics
// Every message of reductions and shape ops.

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects increasing dims of 'tensor<8x4xf32>', but got [1, 0]}}
  %z = weft.reduce sum %x dims [1, 0] : tensor<8x4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects increasing dims of 'tensor<8x4xf32>', but got [2]}}
  %z = weft.reduce max %x dims [2] : tensor<8x4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x0xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects sizes of at least 1, but got 'tensor<8x0xf32>'}}
  %z = weft.reduce mean %x dims [1] : tensor<8x0xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a shape that 'tensor<4xf32>' broadcasts to, but got 'tensor<4x8xf32>'}}
  %z = weft.broadcast %x : tensor<4xf32> to tensor<4x8xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{failed to verify that all of {operand, result} have same type}}
  %z = "weft.materialize"(%x) : (tensor<8x4xf32>) -> tensor<4x8xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects as many elements as 'tensor<8x4xf32>', but got 'tensor<31xf32>'}}
  %z = weft.reshape %x : tensor<8x4xf32> to tensor<31xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a tensor of at most 2^44 bytes, but got 'tensor<4294967296x4294967296xf32>'}}
  %z = weft.reshape %x : tensor<4xf32> to tensor<4294967296x4294967296xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a permutation of the dims of 'tensor<8x4xf32>', but got [0, 0]}}
  %z = weft.transpose %x [0, 0] : tensor<8x4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a permutation of the dims of 'tensor<8x4xf32>', but got [0]}}
  %z = weft.transpose %x [0] : tensor<8x4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects 2 offsets, sizes and strides, but got 1, 2 and 2}}
  %z = weft.slice %x offsets [0] sizes [1, 1] strides [1, 1] : tensor<8x4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects sizes of at least 1, but got [1, -9223372036854775808]}}
  %z = weft.slice %x offsets [0, 0] sizes [1, -9223372036854775808] strides [1, 1] : tensor<8x4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a part inside 'tensor<8x4xf32>', but got offset 2, size 3, stride 1 in dimension 1}}
  %z = weft.slice %x offsets [0, 2] sizes [8, 3] strides [1, 1] : tensor<8x4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a part inside 'tensor<8x4xf32>', but got offset 0, size 2, stride 9223372036854775807 in dimension 0}}
  %z = weft.slice %x offsets [0, 0] sizes [2, 4] strides [9223372036854775807, 1] : tensor<8x4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a part inside 'tensor<8x4xf32>', but got offset 0, size 8, stride 0 in dimension 0}}
  %z = weft.slice %x offsets [0, 0] sizes [8, 4] strides [0, 1] : tensor<8x4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects 2 numbers low, high and interior, but got 2, 1 and 2}}
  %z = weft.pad %x low [0, 0] high [0] interior [0, 0] : tensor<8x4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects padding from 0 to 2^40 elements, but got low -1, high 0, interior 0 for 'tensor<4xf32>'}}
  %z = weft.pad %x low [-1] high [0] interior [0] : tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects padding from 0 to 2^40 elements, but got low 0, high 0, interior 1099511627776 for 'tensor<4xf32>'}}
  %z = weft.pad %x low [0] high [0] interior [1099511627776] : tensor<4xf32>
  weft.return
}

// -----

weft.program @p() attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expected 1 or more operands, but found 0}}
  %z = "weft.concat"() {dim = 0 : i64} : () -> tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a dim, but got none}}
  %z = weft.concat %x, %x : tensor<4xf32>, tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a dim of 'tensor<4xf32>', but got 1}}
  %z = weft.concat %x, %x {dim = 1 : i64} : tensor<4xf32>, tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %y: tensor<8x3xf32> {weft.input = "y"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects operands equal except in dim 0, but got 'tensor<8x4xf32>' and 'tensor<8x3xf32>'}}
  %z = weft.concat %x, %y {dim = 0 : i64} : tensor<8x4xf32>, tensor<8x3xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %y: tensor<4xf32> {weft.input = "y"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects operands equal except in dim 0, but got 'tensor<8x4xf32>' and 'tensor<4xf32>'}}
  %z = weft.concat %x, %y {dim = 0 : i64} : tensor<8x4xf32>, tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<9223372036854775807xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a tensor of at most 2^44 bytes, but got 'tensor<9223372036854775807xf32>'}}
  %z = weft.concat %x, %x {dim = 0 : i64} : tensor<9223372036854775807xf32>, tensor<9223372036854775807xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{requires attribute 'permutation'}}
  %z = "weft.transpose"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{requires attribute 'offsets'}}
  %z = "weft.slice"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{requires attribute 'dims'}}
  %z = "weft.reduce"(%x) {kind = #weft<reduce_kind sum>} : (tensor<4xf32>) -> tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{requires attribute 'dim'}}
  %z = "weft.concat"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  weft.return
}

// -----

// The generic form states its result types: the numbers are checked first.
weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{'weft.reduce' op expects increasing dims of 'tensor<4xf32>', but got [9, -3]}}
  %z = "weft.reduce"(%x) {kind = #weft<reduce_kind mean>, dims = array<i64: 9, -3>} : (tensor<4xf32>) -> tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{'weft.slice' op expects 1 offsets, sizes and strides, but got 0, 1 and 1}}
  %z = "weft.slice"(%x) {offsets = array<i64>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  weft.return
}

// -----

weft.program @p() attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects increasing dims of 'tensor<8x4xi32>', but got [1, 0]}}
  %z = weft.iota [1, 0] : tensor<8x4xi32>
  weft.return
}

// -----

weft.program @p() attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects i64 for more than 2147483648 numbers, but got 'tensor<65536x32769xi32>'}}
  %z = weft.iota [0, 1] : tensor<65536x32769xi32>
  weft.return
}
