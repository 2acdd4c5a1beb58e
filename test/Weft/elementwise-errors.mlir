// RUN: weft-opt %s -split-input-file -verify-diagnostics
// Every message of the elementwise ops, and the rules that hold for all ops.

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %y: tensor<3xf32> {weft.input = "y"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects shapes that broadcast, but got 'tensor<8x4xf32>' and 'tensor<3xf32>'}}
  %z = weft.add %x, %y : tensor<8x4xf32>, tensor<3xf32>
  weft.return
}

// -----

weft.program @p(%c: tensor<8xi1> {weft.input = "c"}, %x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects shapes that broadcast, but got 'tensor<8xi1>' and 'tensor<4xf32>'}}
  %z = weft.select %c, %x, %x : tensor<8xi1>, tensor<4xf32>, tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xi1> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects numbers, but got 'tensor<4xi1>'}}
  %z = weft.add %x, %x : tensor<4xi1>, tensor<4xi1>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xi1> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects numbers, but got 'tensor<4xi1>'}}
  %z = weft.sub %x, %x : tensor<4xi1>, tensor<4xi1>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xi1> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects numbers, but got 'tensor<4xi1>'}}
  %z = weft.mul %x, %x : tensor<4xi1>, tensor<4xi1>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xi1> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects numbers, but got 'tensor<4xi1>'}}
  %z = weft.div %x, %x : tensor<4xi1>, tensor<4xi1>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xi1> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects numbers, but got 'tensor<4xi1>'}}
  %z = weft.max %x, %x : tensor<4xi1>, tensor<4xi1>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xi1> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects numbers, but got 'tensor<4xi1>'}}
  %z = weft.min %x, %x : tensor<4xi1>, tensor<4xi1>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xi32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects floating-point operands, but got 'tensor<4xi32>'}}
  %z = weft.pow %x, %x : tensor<4xi32>, tensor<4xi32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}, %y: tensor<4xf16> {weft.input = "y"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{requires the same element type for all operands}}
  %z = weft.add %x, %y : tensor<4xf32>, tensor<4xf16>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{must be ranked tensor of 1-bit signless integer values, but got 'tensor<4xf32>'}}
  %z = weft.and %x, %x : tensor<4xf32>, tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{must be ranked tensor of 1-bit signless integer values, but got 'tensor<4xf32>'}}
  %z = weft.not %x : tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xi32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{must be ranked tensor of 32-bit float or 16-bit float or bfloat16 type or 64-bit float values, but got 'tensor<4xi32>'}}
  %z = weft.exp %x : tensor<4xi32>
  weft.return
}

// -----

weft.program @p(%c: tensor<4xi1> {weft.input = "c"}, %x: tensor<4xf32> {weft.input = "x"}, %y: tensor<4xi32> {weft.input = "y"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects choices of one element type, but got 'tensor<4xf32>' and 'tensor<4xi32>'}}
  %z = weft.select %c, %x, %y : tensor<4xi1>, tensor<4xf32>, tensor<4xi32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{requires the same shape for all operands and results}}
  %z = weft.cast %x : tensor<4xf32> to tensor<5xf16>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a static shape, but got 'tensor<?xf16>'}}
  %z = weft.cast %x : tensor<4xf32> to tensor<?xf16>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a tensor without encoding, but got 'tensor<4xf16, 1 : i64>'}}
  %z = weft.cast %x : tensor<4xf32> to tensor<4xf16, 1>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a static shape, but got 'tensor<?xf32>'}}
  %z = "weft.cast"(%x) : (tensor<4xf32>) -> tensor<?xf32>
  weft.return
}

// -----

// While an op is parsed its operands are not verified yet: the same rules hold.
weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  %a = weft.cast %x : tensor<4xf32> to tensor<?xf32>
  // expected-error @below {{expects a static shape, but got 'tensor<?xf32>'}}
  %z = weft.add %a, %x : tensor<?xf32>, tensor<4xf32>
  weft.return
}

// -----

// The generic form says its result types: they must be the inferred ones.
weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{'weft.add' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<8xf32>'}}
  %z = "weft.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expected 2 operands, but found 1}}
  %z = "weft.add"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{unregistered operation 'weft.frobnicate'}}
  %z = "weft.frobnicate"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xi32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{must be ranked tensor of 32-bit float or 16-bit float or bfloat16 type or 64-bit float values, but got 'tensor<4xi32>'}}
  %z = weft.relu_grad %x, %x : tensor<4xi32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf16> {weft.input = "x"}, %y: tensor<4xf32> {weft.input = "y"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{failed to verify that all of {grad, operand, result} have same type}}
  %z = "weft.gelu_grad"(%x, %y) : (tensor<4xf16>, tensor<4xf32>) -> tensor<4xf16>
  weft.return
}

// -----

weft.program @p(%s: tensor<i64> {weft.input = "s"}, %r: tensor<8x1xi64> {weft.input = "r"}, %e: tensor<7x4xi64> {weft.input = "e"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects shapes that broadcast, but got 'tensor<i64>' and 'tensor<7x4xi64>'}}
  %z = weft.philox uniform %s, %s, %r, %e : tensor<i64>, tensor<i64>, tensor<8x1xi64>, tensor<7x4xi64>
  weft.return
}
