// RUN: weft-opt %s --weft-select-kernels=library=interpreter --remarks-filter=fusion --split-input-file --verify-diagnostics | FileCheck %s
// Ops that stay outside of a product although the library could merge them, and the reasons.

// The activation of PyTorch's autocast sees the rounded sum.
// CHECK-LABEL: weft.program @rounded
// CHECK: weft.matmul
// CHECK: weft.relu
weft.program @rounded(%x: tensor<4x4xbf16> {weft.input = "x"}) -> (tensor<4x4xbf16> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{matmul runs as gemm of the interpreter}}
  %p = weft.matmul %x, %x : tensor<4x4xbf16>, tensor<4x4xbf16>
  // expected-remark @+1 {{relu is not part of the product before it: it is rounded before}}
  %y = weft.relu %p : tensor<4x4xbf16>
  weft.return %y : tensor<4x4xbf16>
}

// -----

// Somebody reads the product without the bias: two ops.
// CHECK-LABEL: weft.program @read
// CHECK: weft.matmul %arg0, %arg0 {
// CHECK: weft.add
weft.program @read(%x: tensor<4x4xf32> {weft.input = "x"}, %b: tensor<4xf32> {weft.input = "b"})
    -> (tensor<4x4xf32> {weft.output = "y"}, tensor<4x4xf32> {weft.output = "p"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{matmul runs as gemm of the interpreter}}
  %p = weft.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  // expected-remark @+1 {{add is not part of the product before it: another op reads the product}}
  %y = weft.add %p, %b : tensor<4x4xf32>, tensor<4xf32>
  weft.return %y, %p : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// The adjoint would be part of the product, but so would another reader.
// CHECK-LABEL: weft.program @shared
// CHECK: weft.gemm {{.*}} sum(
// CHECK: weft.matmul
// CHECK: weft.relu_grad
weft.program @shared(%x: tensor<4x4xf32> {weft.input = "x"})
    -> (tensor<4x4xf32> {weft.output = "y"}, tensor<4x4xf32> {weft.output = "z"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{gemm runs as gemm of the interpreter}}
  %p = weft.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %e = weft.exp %p : tensor<4x4xf32>
  // expected-remark @+1 {{relu is part of the product before it}}
  %y = weft.relu %p : tensor<4x4xf32>
  // expected-remark @+1 {{matmul runs as gemm of the interpreter}}
  %q = weft.matmul %x, %y : tensor<4x4xf32>, tensor<4x4xf32>
  %n = weft.exp %q : tensor<4x4xf32>
  // expected-remark @+2 {{relu_grad is generated: the interpreter has no routine for it}}
  // expected-remark @+1 {{relu_grad is not part of the product before it: another op reads the product}}
  %z = weft.relu_grad %q, %e : tensor<4x4xf32>
  %s = weft.add %z, %n : tensor<4x4xf32>, tensor<4x4xf32>
  weft.return %y, %s : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// gelu with erf is no part of a product.
// CHECK-LABEL: weft.program @kinds
weft.program @kinds(%x: tensor<4x4xf32> {weft.input = "x"}) -> (tensor<4x4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{matmul runs as gemm of the interpreter}}
  %p = weft.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  // expected-remark @+2 {{gelu is generated: the interpreter has no routine for it}}
  // expected-remark @+1 {{gelu is not part of the product before it: products of the interpreter have no gelu with erf}}
  %g = weft.gelu %p : tensor<4x4xf32>
  // expected-remark @+1 {{softmax is generated: the interpreter has no routine for it; 2 times, here first}}
  %y = weft.softmax %g {dim = 1} : tensor<4x4xf32>
  %z = weft.softmax %y {dim = 1} : tensor<4x4xf32>
  weft.return %z : tensor<4x4xf32>
}

// -----

// Of two activations the first in the program joins, whatever the order of the
// uses is.
// CHECK-LABEL: weft.program @two
// CHECK: weft.gemm {{.*}} epilogue gelu {{.*}} sum(
// CHECK: weft.relu
weft.program @two(%x: tensor<4x4xf32> {weft.input = "x"}) -> (tensor<4x4xf32> {weft.output = "y"}, tensor<4x4xf32> {weft.output = "z"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{gemm runs as gemm of the interpreter}}
  %p = weft.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  // expected-remark @+1 {{gelu is part of the product before it}}
  %y = weft.gelu %p {approximate = #weft.gelu_kind<tanh>} : tensor<4x4xf32>
  %z = weft.relu %p : tensor<4x4xf32>
  weft.return %y, %z : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A product that adds to a gradient leaves the sums over its rows.
weft.state @g : tensor<4x4xf32> {kind = #weft.state_kind<gradient>}
// CHECK-LABEL: weft.program @added
// CHECK: weft.matmul {{.*}} {weft.impl = "gemm"}
// CHECK: weft.reduce
weft.program @added(%x: tensor<4x4xf32> {weft.input = "x"}, %f: tensor<f32> {weft.input = "accumulate"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<micro>} {
  // expected-remark @+1 {{matmul runs as gemm of the interpreter}}
  %p = weft.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  // expected-remark @+1 {{reduce is not part of the product before it: the product is added to something}}
  %y = weft.reduce sum %p dims [0] : tensor<4x4xf32>
  %old = weft.read @g : tensor<4x4xf32>
  // expected-remark @+1 {{accumulate is generated: the interpreter has no routine for it}}
  %acc = weft.accumulate %old, %p, %f : tensor<4x4xf32>
  weft.return %y : tensor<4xf32> writes @g = %acc : tensor<4x4xf32>
}
