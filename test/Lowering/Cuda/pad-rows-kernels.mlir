// RUN: weft-opt %s --weft-pad-rows --remarks-filter=fusion --split-input-file --verify-diagnostics | FileCheck %s
// Kernels with padded rows: under another shape of a buffer that they overwrite,
// on several buffers, in several ways; and kernels that stay.

// CHECK-NOT: @k_reshaped
// CHECK-LABEL: plan.program "eval" @eval
// CHECK: plan.launch @[[K:k_[0-9a-f]+]] ins({{.*}} : memref<8x31xf32, strided<[32, 1]>>) outs({{.*}} : memref<2x4x31xf32, strided<[128, 32, 1]>>)
// CHECK: weft.kernel @[[K]]{{.*}} inplace {{\[\[}}0]] pitches [32, 32]
weft.kernel @k_reshaped(%z: tensor<8x31xf32>) -> tensor<2x4x31xf32> elementwise [248] inplace [[0]] {
  %r = weft.reshape %z : tensor<8x31xf32> to tensor<2x4x31xf32>
  %y = weft.neg %r : tensor<2x4x31xf32>
  weft.yield %y : tensor<2x4x31xf32>
}
plan.program "eval" @eval {
  %x = plan.input "x" : memref<8x4xf32>
  %w = plan.input "w" : memref<4x31xf32>
  // expected-remark @below {{rows of 31 begin 32 elements apart}}
  %z = plan.alloc temporary : memref<8x31xf32>
  %v = plan.view %z : memref<8x31xf32> to memref<2x4x31xf32>
  // expected-remark @below {{rows of 31 stay dense: something else uses it}}
  %o = plan.alloc temporary : memref<2x4x31xf32>
  plan.gemm %x * %w -> %z : memref<8x4xf32> * memref<4x31xf32> -> memref<8x31xf32>
  plan.launch @k_reshaped ins(%z : memref<8x31xf32>) outs(%v : memref<2x4x31xf32>)
  plan.copy %v to %o : memref<2x4x31xf32> to memref<2x4x31xf32>
  plan.output "o" %o : memref<2x4x31xf32>
}

// -----

// One kernel with both, one or none of its buffers apart.
// CHECK-LABEL: plan.program "eval" @eval
// CHECK: plan.launch @[[BOTH:k_[0-9a-f]+]] ins({{.*}}32, 1]>>) outs({{.*}}32, 1]>>)
// CHECK: plan.launch @[[READ:k_[0-9a-f]+]] ins({{.*}}32, 1]>>) outs(%{{[0-9]+}} : memref<8x31xf32>)
// CHECK: plan.launch @k_neg ins(%{{[0-9]+}} : memref<8x31xf32>) outs(%{{[0-9]+}} : memref<8x31xf32>)
weft.kernel @k_neg(%z: tensor<8x31xf32>) -> tensor<8x31xf32> elementwise [248] inplace [[0]] {
  %y = weft.neg %z : tensor<8x31xf32>
  weft.yield %y : tensor<8x31xf32>
}
plan.program "eval" @eval {
  %x = plan.input "x" : memref<8x4xf32>
  %w = plan.input "w" : memref<4x31xf32>
  // expected-remark @below {{rows of 31 begin 32 elements apart}}
  %a = plan.alloc temporary : memref<8x31xf32>
  // expected-remark @below {{rows of 31 begin 32 elements apart}}
  %b = plan.alloc temporary : memref<8x31xf32>
  // expected-remark @below {{rows of 31 stay dense: no product uses it}}
  %c = plan.alloc temporary : memref<8x31xf32>
  // expected-remark @below {{rows of 31 stay dense: something else uses it}}
  %d = plan.alloc temporary : memref<8x31xf32>
  %y = plan.alloc temporary : memref<8x4xf32>
  plan.gemm %x * %w -> %a : memref<8x4xf32> * memref<4x31xf32> -> memref<8x31xf32>
  plan.launch @k_neg ins(%a : memref<8x31xf32>) outs(%b : memref<8x31xf32>)
  plan.gemm %b * %w transposed -> %y : memref<8x31xf32> * memref<4x31xf32> -> memref<8x4xf32>
  plan.launch @k_neg ins(%b : memref<8x31xf32>) outs(%c : memref<8x31xf32>)
  plan.launch @k_neg ins(%c : memref<8x31xf32>) outs(%d : memref<8x31xf32>)
  plan.output "d" %d : memref<8x31xf32>
  plan.output "y" %y : memref<8x4xf32>
}

// -----

// A sum of all elements is one row of them, which has no room inside.
// CHECK-LABEL: plan.program "eval" @eval
// CHECK: plan.launch @k_sum ins(%{{[0-9]+}} : memref<8x31xf32>) outs(%{{[0-9]+}} : memref<f32>)
weft.kernel @k_sum(%z: tensor<8x31xf32>) -> tensor<f32> rows [248] over [0] inplace [[]] {
  %y = weft.reduce sum %z dims [0, 1] : tensor<8x31xf32>
  weft.yield %y : tensor<f32>
}
plan.program "eval" @eval {
  %x = plan.input "x" : memref<8x4xf32>
  %w = plan.input "w" : memref<4x31xf32>
  // expected-remark @below {{rows of 31 stay dense: a kernel does not run row by row}}
  %z = plan.alloc temporary : memref<8x31xf32>
  %y = plan.alloc temporary : memref<f32>
  plan.gemm %x * %w -> %z : memref<8x4xf32> * memref<4x31xf32> -> memref<8x31xf32>
  plan.launch @k_sum ins(%z : memref<8x31xf32>) outs(%y : memref<f32>)
  plan.output "y" %y : memref<f32>
}

// -----

// A kernel that crosses rows inside; what was tried for the other one is gone.
// CHECK-LABEL: plan.program "eval" @eval
// CHECK-NOT: weft.kernel
weft.kernel @k_pairs(%z: tensor<8x31xf32>) -> tensor<124xf32> rows [124, 2] over [1] inplace [[]] {
  %r = weft.reshape %z : tensor<8x31xf32> to tensor<124x2xf32>
  %y = weft.reduce sum %r dims [1] : tensor<124x2xf32>
  weft.yield %y : tensor<124xf32>
}
weft.kernel @k_neg(%z: tensor<8x31xf32>) -> tensor<8x31xf32> elementwise [248] inplace [[0]] {
  %y = weft.neg %z : tensor<8x31xf32>
  weft.yield %y : tensor<8x31xf32>
}
// Nobody launches it: not the pass's to erase.
weft.kernel @k_idle(%z: tensor<4xf32>) -> tensor<4xf32> elementwise [4] inplace [[0]] {
  %y = weft.neg %z : tensor<4xf32>
  weft.yield %y : tensor<4xf32>
}
plan.program "eval" @eval {
  %x = plan.input "x" : memref<8x4xf32>
  %w = plan.input "w" : memref<4x31xf32>
  // expected-remark @below {{rows of 31 stay dense: a kernel does not run row by row}}
  %z = plan.alloc temporary : memref<8x31xf32>
  %sums = plan.alloc temporary : memref<124xf32>
  // expected-remark @below {{rows of 31 stay dense: something else uses it}}
  %n = plan.alloc temporary : memref<8x31xf32>
  plan.gemm %x * %w -> %z : memref<8x4xf32> * memref<4x31xf32> -> memref<8x31xf32>
  plan.launch @k_pairs ins(%z : memref<8x31xf32>) outs(%sums : memref<124xf32>)
  plan.launch @k_neg ins(%z : memref<8x31xf32>) outs(%n : memref<8x31xf32>)
  plan.output "sums" %sums : memref<124xf32>
  plan.output "n" %n : memref<8x31xf32>
}
