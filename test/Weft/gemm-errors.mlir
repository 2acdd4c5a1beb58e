// RUN: weft-opt %s -split-input-file -verify-diagnostics
// Every message of a product with what stands around it.

weft.program @p(%b: tensor<3xf32> {weft.input = "b"}, %w: tensor<4x3xf32> {weft.input = "w"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects operands of rank 2 or more, but got 'tensor<3xf32>' and 'tensor<4x3xf32>'}}
  %z = weft.gemm %b * %w : tensor<3xf32> * tensor<4x3xf32> -> tensor<3xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects matching inner and batch dimensions, but got 'tensor<8x4xf32>' and 'tensor<4x3xf32>' transposed}}
  %z = weft.gemm %x * %w transposed : tensor<8x4xf32> * tensor<4x3xf32> -> tensor<8x4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf16> {weft.input = "w"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects factors of one element type, but got 'tensor<8x4xf32>' and 'tensor<4x3xf16>'}}
  %z = weft.gemm %x * %w : tensor<8x4xf32> * tensor<4x3xf16> -> tensor<8x3xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects a result of type 'tensor<8x3xf32>', but got 'tensor<3x8xf32>'}}
  %z = weft.gemm %x * %w : tensor<8x4xf32> * tensor<4x3xf32> -> tensor<3x8xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf16> {weft.input = "x"}, %w: tensor<4x3xf16> {weft.input = "w"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects a result of type 'tensor<8x3xf16>', but got 'tensor<8x3xf32>'}}
  %z = weft.gemm %x * %w : tensor<8x4xf16> * tensor<4x3xf16> -> tensor<8x3xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects out to be the operands' type or f32 for f16 and bf16, but got 'f16' for 'f32'}}
  %z = weft.gemm %x * %w {out = f16} : tensor<8x4xf32> * tensor<4x3xf32> -> tensor<8x3xf16>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"}, %b: tensor<4xf32> {weft.input = "b"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects a bias of type 'tensor<3xf32>', but got 'tensor<4xf32>'}}
  %z = weft.gemm %x * %w bias(%b : tensor<4xf32>) : tensor<8x4xf32> * tensor<4x3xf32> -> tensor<8x3xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects aux with relu_grad and gelu_grad and only there, but got none with gelu_grad}}
  %z = weft.gemm %x * %w epilogue gelu_grad : tensor<8x4xf32> * tensor<4x3xf32> -> tensor<8x3xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"}, %y: tensor<8x3xf32> {weft.input = "y"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects aux with relu_grad and gelu_grad and only there, but got one with relu}}
  %z = weft.gemm %x * %w epilogue relu aux(%y : tensor<8x3xf32>) : tensor<8x4xf32> * tensor<4x3xf32> -> tensor<8x3xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects sum only with relu and gelu, but got one with none}}
  %z, %s = weft.gemm %x * %w : tensor<8x4xf32> * tensor<4x3xf32> -> tensor<8x3xf32> sum(tensor<8x3xf32>)
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"}, %y: tensor<8x3xf32> {weft.input = "y"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects sum only with relu and gelu, but got one with gelu_grad}}
  %z, %s = weft.gemm %x * %w epilogue gelu_grad aux(%y : tensor<8x3xf32>) : tensor<8x4xf32> * tensor<4x3xf32> -> tensor<8x3xf32> sum(tensor<8x3xf32>)
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects aux of the shape of the result and of 'f32', but got 'tensor<8x4xf32>'}}
  %z = weft.gemm %x * %w epilogue gelu_grad aux(%x : tensor<8x4xf32>) : tensor<8x4xf32> * tensor<4x3xf32> -> tensor<8x3xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xbf16> {weft.input = "x"}, %w: tensor<4x3xbf16> {weft.input = "w"}, %y: tensor<8x3xf16> {weft.input = "y"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects aux of the shape of the result and of 'bf16' or f32, but got 'tensor<8x3xf16>'}}
  %z = weft.gemm %x * %w epilogue gelu_grad aux(%y : tensor<8x3xf16>) : tensor<8x4xbf16> * tensor<4x3xbf16> -> tensor<8x3xbf16>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects sum of the shape of the result and of 'f32', but got 'tensor<8x3xf16>'}}
  %z, %s = weft.gemm %x * %w epilogue relu : tensor<8x4xf32> * tensor<4x3xf32> -> tensor<8x3xf32> sum(tensor<8x3xf16>)
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects column_sum of type 'tensor<3xf32>', but got 'tensor<8xf32>'}}
  %z, %s = weft.gemm %x * %w : tensor<8x4xf32> * tensor<4x3xf32> -> tensor<8x3xf32> column_sum(tensor<8xf32>)
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xbf16> {weft.input = "x"}, %w: tensor<4x3xbf16> {weft.input = "w"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects column_sum of type 'tensor<3xf32>', but got 'tensor<3xbf16>'}}
  %z, %s = weft.gemm %x * %w : tensor<8x4xbf16> * tensor<4x3xbf16> -> tensor<8x3xbf16> column_sum(tensor<3xbf16>)
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects one lhs, one rhs and one result}}
  %z = "weft.gemm"(%x, %w) <{operandSegmentSizes = array<i32: 2, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0>}> : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects one lhs, one rhs and one result}}
  %z = "weft.gemm"(%x, %w) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, resultSegmentSizes = array<i32: 0, 1, 0, 0, 0>}> : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %g: tensor<8x3xf32> {weft.input = "g"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects lhs_sum of type 'tensor<4xf32>', but got 'tensor<8xf32>'}}
  %z, %s = weft.gemm %x transposed * %g : tensor<8x4xf32> * tensor<8x3xf32> -> tensor<4x3xf32> lhs_sum(tensor<8xf32>)
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xbf16> {weft.input = "x"}, %g: tensor<8x3xbf16> {weft.input = "g"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects rhs_sum of type 'tensor<3xf32>', but got 'tensor<3xbf16>'}}
  %z, %s = weft.gemm %x transposed * %g : tensor<8x4xbf16> * tensor<8x3xbf16> -> tensor<4x3xbf16> rhs_sum(tensor<3xbf16>)
  weft.return
}

// -----

weft.program @p(%x: tensor<2x8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects factors of rank 2 with rhs_sum, but got 'tensor<2x8x4xf32>' and 'tensor<4x3xf32>'}}
  %z, %s = weft.gemm %x * %w : tensor<2x8x4xf32> * tensor<4x3xf32> -> tensor<2x8x3xf32> rhs_sum(tensor<3xf32>)
  weft.return
}
