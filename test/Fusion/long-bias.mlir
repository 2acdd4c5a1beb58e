// RUN: weft-opt %s --weft-select-kernels --remarks-filter=fusion --verify-diagnostics | FileCheck %s
// A product in several stages adds its bias in the first; behind it, an op adds to
// the whole sum. Only a short one is merged. test/Train/long-sums.test runs one.

// CHECK-LABEL: weft.program @long
// CHECK: weft.matmul %arg0, %arg1 {
// CHECK: weft.add
// CHECK: weft.matmul %arg2, %arg3 bias
weft.program @long(%x: tensor<4x1537xf32> {weft.input = "x"}, %w: tensor<1537x8xf32> {weft.input = "w"},
    %y: tensor<4x1536xf32> {weft.input = "y"}, %v: tensor<1536x8xf32> {weft.input = "v"}, %b: tensor<8xf32> {weft.input = "b"})
    -> (tensor<4x8xf32> {weft.output = "p"}, tensor<4x8xf32> {weft.output = "q"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{matmul runs as gemm of the CPU; 2 times, here first}}
  %p = weft.matmul %x, %w : tensor<4x1537xf32>, tensor<1537x8xf32>
  // expected-remark @+1 {{add is not part of the product before it: another order of sums would give other bits}}
  %s = weft.add %p, %b : tensor<4x8xf32>, tensor<8xf32>
  %q = weft.matmul %y, %v : tensor<4x1536xf32>, tensor<1536x8xf32>
  // expected-remark @+1 {{add is part of the product before it}}
  %t = weft.add %q, %b : tensor<4x8xf32>, tensor<8xf32>
  weft.return %s, %t : tensor<4x8xf32>, tensor<4x8xf32>
}
