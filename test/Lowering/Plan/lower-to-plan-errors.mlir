// RUN: weft-opt --weft-lower-to-plan --split-input-file --verify-diagnostics %s

weft.param @a : tensor<4xf32>
// expected-error @+1 {{expects tied parameters to be one by now (weft-tie-params), but got tie = @a}}
weft.param @b : tensor<4xf32> {tie = @a}

// -----

weft.program @eval(%x: tensor<4x4xf32> {weft.input = "x"}) -> (tensor<4x4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects weft.impl, the choice of weft-select-kernels, but got none}}
  %y = weft.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  weft.return %y : tensor<4x4xf32>
}

// -----

weft.program @eval(%x: tensor<4x4xf32> {weft.input = "x"}) -> (tensor<4x4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects weft.impl to be gemm, but got "mygemm"}}
  %y = weft.matmul %x, %x {weft.impl = "mygemm"} : tensor<4x4xf32>, tensor<4x4xf32>
  weft.return %y : tensor<4x4xf32>
}

// -----

weft.program @eval(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects a kernel around it; run weft-fuse first}}
  %y = weft.exp %x : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// -----

weft.state @g : tensor<4x4xf32> {kind = #weft.state_kind<gradient>}
weft.program @micro(%x: tensor<4x4xf32> {weft.input = "x"}, %flag: tensor<f32> {weft.input = "accumulate"}) -> () attributes {kind = #weft.kind<micro>} {
  %old = weft.read @g : tensor<4x4xf32>
  // expected-note @+1 {{has no weft.folded}}
  %g = weft.matmul %x, %x {weft.impl = "gemm"} : tensor<4x4xf32>, tensor<4x4xf32>
  // expected-error @+1 {{expects weft.folded on the op whose result it adds}}
  %sum = weft.accumulate %old, %g, %flag {weft.impl = "folded"} : tensor<4x4xf32>
  weft.return writes @g = %sum : tensor<4x4xf32>
}

// -----

weft.state @g : tensor<4x4xf32> {kind = #weft.state_kind<gradient>}
weft.program @micro(%x: tensor<4x4xf32> {weft.input = "x"}, %flag: tensor<f32> {weft.input = "accumulate"}) -> () attributes {kind = #weft.kind<micro>} {
  %old = weft.read @g : tensor<4x4xf32>
  // expected-error @+1 {{expects weft.folded only where a weft.accumulate with weft.impl = "folded" adds the result}}
  %g = weft.matmul %x, %x {weft.folded, weft.impl = "gemm"} : tensor<4x4xf32>, tensor<4x4xf32>
  %sum = weft.accumulate %old, %g, %flag : tensor<4x4xf32>
  weft.return writes @g = %sum : tensor<4x4xf32>
}

// -----

// No routine runs it.
weft.program @eval(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects no weft.impl where no routine runs the op, but got "exp"}}
  %y = weft.exp %x {weft.impl = "exp"} : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// -----

// Nothing can perform this accumulation.
weft.state @g : tensor<4x4xf32> {kind = #weft.state_kind<gradient>}
weft.program @micro(%x: tensor<4x4xf32> {weft.input = "x"}, %flag: tensor<f32> {weft.input = "accumulate"}) -> () attributes {kind = #weft.kind<micro>} {
  %old = weft.read @g : tensor<4x4xf32>
  // expected-error @+1 {{expects a product before it that can add its result, for weft.impl = "folded"}}
  %sum = weft.accumulate %old, %x, %flag {weft.impl = "folded"} : tensor<4x4xf32>
  weft.return writes @g = %sum : tensor<4x4xf32>
}

// -----

// Nobody has counted the operations of an element.
weft.kernel @k(%x: tensor<2x4x2x8xf32>, %c: tensor<4x4xf32>) -> tensor<2x4x2x8xf32> elementwise [128] inplace [[]] {
  // expected-error @+1 {{expects its operations to be counted, by an ElementCostOpInterface or a CostOpInterface, but got no count}}
  %y = weft.rope %x, %c, %c : tensor<2x4x2x8xf32>, tensor<4x4xf32>
  weft.yield %y : tensor<2x4x2x8xf32>
}
weft.program @eval(%x: tensor<2x4x2x8xf32> {weft.input = "x"}, %c: tensor<4x4xf32> {weft.input = "c"}) -> (tensor<2x4x2x8xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.call @k(%x, %c) : (tensor<2x4x2x8xf32>, tensor<4x4xf32>) -> tensor<2x4x2x8xf32>
  weft.return %y : tensor<2x4x2x8xf32>
}
