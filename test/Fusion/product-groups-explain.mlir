// RUN: weft-opt %s --weft-select-kernels=library=interpreter --remarks-filter=fusion --split-input-file --verify-diagnostics | FileCheck %s
// Ops that a product could merge if they were written in another way: a remark names
// the way in which they are written.

// The vectors of two sums lie behind other ops; the third has two dimensions.
// CHECK-LABEL: weft.program @vectors
// CHECK-COUNT-3: weft.add
weft.program @vectors(%x: tensor<4x4xf32> {weft.input = "x"}, %b: tensor<4xf32> {weft.input = "b"}, %r: tensor<1x4xf32> {weft.input = "r"})
    -> (tensor<4x4xf32> {weft.output = "y"}, tensor<4x4xf32> {weft.output = "z"}, tensor<4x4xf32> {weft.output = "w"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{matmul runs as gemm of the interpreter; 3 times, here first}}
  %p = weft.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %wide = weft.broadcast %b : tensor<4xf32> to tensor<4x4xf32>
  // expected-remark @+1 {{add is not part of the product before it: its bias is behind a broadcast}}
  %y = weft.add %p, %wide : tensor<4x4xf32>, tensor<4x4xf32>
  %q = weft.matmul %x, %y : tensor<4x4xf32>, tensor<4x4xf32>
  %row = weft.reshape %b : tensor<4xf32> to tensor<1x4xf32>
  // expected-remark @+1 {{add is not part of the product before it: its bias is behind a reshape}}
  %z = weft.add %row, %q : tensor<1x4xf32>, tensor<4x4xf32>
  %s = weft.matmul %x, %z : tensor<4x4xf32>, tensor<4x4xf32>
  // expected-remark @+1 {{add is not part of the product before it: its bias has 2 dimensions}}
  %w = weft.add %s, %r : tensor<4x4xf32>, tensor<1x4xf32>
  weft.return %y, %z, %w : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// The bias of a product has the type of its factors.
// CHECK-LABEL: weft.program @types
// CHECK: weft.add
weft.program @types(%x: tensor<4x4xbf16> {weft.input = "x"}, %b: tensor<4xf32> {weft.input = "b"}) -> (tensor<4x4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{matmul runs as gemm of the interpreter}}
  %p = weft.matmul %x, %x {out = f32} : tensor<4x4xbf16>, tensor<4x4xbf16>
  // expected-remark @+1 {{add is not part of the product before it: its bias is f32, but the product reads bf16}}
  %y = weft.add %p, %b : tensor<4x4xf32>, tensor<4xf32>
  weft.return %y : tensor<4x4xf32>
}

// -----

// One bias is enough.
// CHECK-LABEL: weft.program @second
// CHECK: weft.matmul {{.*}} bias
// CHECK: weft.add
weft.program @second(%x: tensor<4x4xf32> {weft.input = "x"}, %b: tensor<4xf32> {weft.input = "b"}) -> (tensor<4x4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{matmul runs as gemm of the interpreter}}
  %p = weft.matmul %x, %x bias %b : tensor<4xf32> : tensor<4x4xf32>, tensor<4x4xf32>
  // expected-remark @+1 {{add is not part of the product before it: the product has a bias already}}
  %y = weft.add %p, %b : tensor<4x4xf32>, tensor<4xf32>
  weft.return %y : tensor<4x4xf32>
}

// -----

// Ops that name or repeat the product come before the op.
// CHECK-LABEL: weft.program @between
// CHECK-COUNT-4: weft.matmul
weft.program @between(%x: tensor<4x4xf32> {weft.input = "x"}, %b: tensor<4xf32> {weft.input = "b"})
    -> (tensor<4x4xf32> {weft.output = "a"}, tensor<2x2x4xf32> {weft.output = "b"}, tensor<2x4x4xf32> {weft.output = "c"}, tensor<4xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{matmul runs as gemm of the interpreter; 4 times, here first}}
  %p = weft.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %f = weft.reshape %p : tensor<4x4xf32> to tensor<1x4x4xf32>
  // expected-remark @+1 {{add is not part of the product before it: a reshape is in between}}
  %sum = weft.add %f, %b : tensor<1x4x4xf32>, tensor<4xf32>
  %a = weft.reshape %sum : tensor<1x4x4xf32> to tensor<4x4xf32>
  %q = weft.matmul %x, %a : tensor<4x4xf32>, tensor<4x4xf32>
  %r = weft.reshape %q : tensor<4x4xf32> to tensor<2x2x4xf32>
  // expected-remark @+1 {{relu is not part of the product before it: a reshape is in between}}
  %c = weft.relu %r : tensor<2x2x4xf32>
  %s = weft.matmul %x, %a : tensor<4x4xf32>, tensor<4x4xf32>
  %t = weft.broadcast %s : tensor<4x4xf32> to tensor<2x4x4xf32>
  // expected-remark @+1 {{add is not part of the product before it: a broadcast is in between}}
  %d = weft.add %t, %b : tensor<2x4x4xf32>, tensor<4xf32>
  %u = weft.matmul %x, %a : tensor<4x4xf32>, tensor<4x4xf32>
  %v = weft.materialize %u : tensor<4x4xf32>
  // expected-remark @+1 {{reduce is not part of the product before it: a materialize is in between}}
  %e = weft.reduce sum %v dims [0] : tensor<4x4xf32>
  weft.return %a, %c, %d, %e : tensor<4x4xf32>, tensor<2x2x4xf32>, tensor<2x4x4xf32>, tensor<4xf32>
}

// -----

// The adjoint of gelu with erf is no part of a product either.
// CHECK-LABEL: weft.program @adjoint
// CHECK: weft.gelu_grad
weft.program @adjoint(%x: tensor<4x4xf32> {weft.input = "x"}) -> (tensor<4x4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{matmul runs as gemm of the interpreter}}
  %p = weft.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  // expected-remark @+2 {{gelu_grad is generated: the interpreter has no routine for it}}
  // expected-remark @+1 {{gelu_grad is not part of the product before it: products of the interpreter have no gelu_grad with erf}}
  %y = weft.gelu_grad %p, %x : tensor<4x4xf32>
  weft.return %y : tensor<4x4xf32>
}

// -----

// A sum of two tensors of one row has no bias.
// CHECK-LABEL: weft.program @one_row
weft.program @one_row(%x: tensor<1x4xf32> {weft.input = "x"}, %w: tensor<4x4xf32> {weft.input = "w"}) -> (tensor<1x4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{matmul runs as gemm of the interpreter}}
  %p = weft.matmul %x, %w : tensor<1x4xf32>, tensor<4x4xf32>
  %y = weft.add %p, %x : tensor<1x4xf32>, tensor<1x4xf32>
  weft.return %y : tensor<1x4xf32>
}
