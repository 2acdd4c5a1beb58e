// RUN: weft-opt %s --weft-group-copies="bytes=64" -o %t.mlir && FileCheck %s --input-file=%t.mlir
// RUN: weft-interp --compare %s %t.mlir --tolerance=0
// RUN: weft-opt %t.mlir --weft-group-copies="bytes=64" -o %t.twice.mlir && cmp %t.mlir %t.twice.mlir
// RUN: weft-opt %s --weft-group-copies="bytes=64 buffers=4" | FileCheck %s --check-prefix=FEW
// RUN: weft-opt %t.mlir --weft-plan-memory --weft-verify-plan --weft-convert-kernels-to-linalg --weft-lower-kernels-to-gpu | FileCheck %s --check-prefix=GPU
// Copies of small buffers become one launch. Results stay the same.

module {

// CHECK-LABEL: plan.program "eval" @numbers
// CHECK: plan.launch @[[GROUP:g_[0-9a-f]+]] ins(%[[A:.*]], %[[B:.*]], %[[C:.*]] : memref<f64>, memref<i1>, memref<f64>) outs(%{{.*}}, %{{.*}}, %{{.*}} : memref<f64>, memref<i1>, memref<f64>)
// CHECK-NEXT: plan.output
// FEW-LABEL: plan.program "eval" @numbers
// FEW: plan.launch @g_{{.*}} ins(%{{.*}}, %{{.*}} : memref<f64>, memref<i1>)
// FEW-NEXT: plan.copy
// GPU: gpu.func @g_{{[0-9a-f]+}}(%{{.*}}) kernel attributes {known_block_size = array<i32: 32, 8, 1>, known_grid_size = array<i32: 3, 1, 1>}
plan.program "eval" @numbers {
  %a = plan.input "a" : memref<f64>
  %b = plan.input "b" : memref<i1>
  %c = plan.input "c" : memref<f64>
  %x = plan.alloc temporary : memref<f64>
  %y = plan.alloc temporary : memref<i1>
  %z = plan.alloc temporary : memref<f64>
  plan.copy %a to %x : memref<f64> to memref<f64>
  plan.copy %b to %y : memref<i1> to memref<i1>
  plan.copy %c to %z : memref<f64> to memref<f64>
  plan.output "x" %x : memref<f64>
  plan.output "y" %y : memref<i1>
  plan.output "z" %z : memref<f64>
}

// A copy of another one's result, one over a source, one behind another command.
// CHECK-LABEL: plan.program "eval" @ordered
// CHECK: plan.copy
// CHECK-NEXT: plan.copy
// CHECK-NEXT: plan.copy
// CHECK-NEXT: plan.constant
// CHECK-NEXT: plan.copy
// CHECK-NEXT: plan.output
plan.program "eval" @ordered {
  %a = plan.input "a" : memref<f64>
  %b = plan.input "b" : memref<f64>
  %x = plan.alloc temporary : memref<f64>
  %y = plan.alloc temporary : memref<f64>
  %z = plan.alloc temporary : memref<f64>
  %w = plan.alloc temporary : memref<f64>
  plan.copy %a to %x : memref<f64> to memref<f64>
  plan.copy %x to %y : memref<f64> to memref<f64>
  plan.copy %b to %x : memref<f64> to memref<f64>
  plan.constant %z = dense<1.0> : tensor<f64> : memref<f64>
  plan.copy %b to %w : memref<f64> to memref<f64>
  plan.output "x" %x : memref<f64>
  plan.output "y" %y : memref<f64>
  plan.output "z" %z : memref<f64>
  plan.output "w" %w : memref<f64>
}

// Strides, more bytes than `bytes`, and the flag of a product: they stay, and
// copies around them are a group.
// CHECK-LABEL: plan.program "eval" @apart
// CHECK: plan.copy %{{.*}} : memref<4x2xf32> to memref<4x2xf32, strided<[1, 4]>>
// CHECK-NEXT: plan.copy %{{.*}} : memref<32xf32> to memref<32xf32>
// CHECK-NEXT: plan.copy %[[FLAG:.*]] to %[[PLACE:.*]] : memref<f32> to memref<f32>
// CHECK-NEXT: plan.launch @g_{{.*}} ins(%{{.*}}, %{{.*}} : memref<f32>, memref<8xf32>)
// CHECK-NEXT: plan.gemm {{.*}} accumulate(%[[PLACE]] : memref<f32>)
plan.program "eval" @apart {
  %a = plan.input "a" : memref<f32>
  %m = plan.input "m" : memref<4x2xf32>
  %l = plan.input "l" : memref<32xf32>
  %flag = plan.input "flag" : memref<f32>
  %b = plan.input "b" : memref<8xf32>
  %x = plan.alloc temporary : memref<f32>
  %s = plan.alloc temporary : memref<8xf32>
  %n = plan.view %s : memref<8xf32> to memref<4x2xf32, strided<[1, 4]>>
  %k = plan.alloc temporary : memref<32xf32>
  %f = plan.alloc temporary : memref<f32>
  %y = plan.alloc temporary : memref<8xf32>
  %p = plan.alloc temporary : memref<2x2xf32>
  plan.constant %p = dense<1.0> : tensor<2x2xf32> : memref<2x2xf32>
  plan.copy %a to %x : memref<f32> to memref<f32>
  plan.copy %m to %n : memref<4x2xf32> to memref<4x2xf32, strided<[1, 4]>>
  plan.copy %l to %k : memref<32xf32> to memref<32xf32>
  plan.copy %flag to %f : memref<f32> to memref<f32>
  plan.copy %b to %y : memref<8xf32> to memref<8xf32>
  plan.gemm %m transposed * %m -> %p accumulate(%f : memref<f32>) : memref<4x2xf32> * memref<4x2xf32> -> memref<2x2xf32>
  plan.output "p" %p : memref<2x2xf32>
  plan.output "x" %x : memref<f32>
  plan.output "s" %s : memref<8xf32>
  plan.output "k" %k : memref<32xf32>
  plan.output "y" %y : memref<8xf32>
}

// The flag of a product that reads it through a view, or in a buffer of rank 1.
// CHECK-LABEL: plan.program "eval" @flags
// CHECK: plan.copy %{{.*}} to %{{.*}} : memref<1xf32> to memref<1xf32>
// CHECK-NEXT: plan.copy %{{.*}} to %{{.*}} : memref<4xf32> to memref<4xf32>
// CHECK-NEXT: plan.launch @g_{{.*}} ins(%{{.*}}, %{{.*}} : memref<f64>, memref<f64>)
plan.program "eval" @flags {
  %a = plan.input "a" : memref<f64>
  %b = plan.input "b" : memref<f64>
  %flag = plan.input "flag" : memref<1xf32>
  %list = plan.input "list" : memref<4xf32>
  %m = plan.input "m" : memref<4x2xf32>
  %x = plan.alloc temporary : memref<f64>
  %y = plan.alloc temporary : memref<f64>
  %f = plan.alloc temporary : memref<1xf32>
  %l = plan.alloc temporary : memref<4xf32>
  %one = plan.view %f : memref<1xf32> to memref<f32>
  %first = plan.view %l : memref<4xf32> to memref<f32>
  %p = plan.alloc temporary : memref<2x2xf32>
  %q = plan.alloc temporary : memref<2x2xf32>
  plan.constant %p = dense<1.0> : tensor<2x2xf32> : memref<2x2xf32>
  plan.constant %q = dense<1.0> : tensor<2x2xf32> : memref<2x2xf32>
  plan.copy %flag to %f : memref<1xf32> to memref<1xf32>
  plan.copy %a to %x : memref<f64> to memref<f64>
  plan.copy %list to %l : memref<4xf32> to memref<4xf32>
  plan.copy %b to %y : memref<f64> to memref<f64>
  plan.gemm %m transposed * %m -> %p accumulate(%one : memref<f32>) : memref<4x2xf32> * memref<4x2xf32> -> memref<2x2xf32>
  plan.gemm %m transposed * %m -> %q accumulate(%first : memref<f32>) : memref<4x2xf32> * memref<4x2xf32> -> memref<2x2xf32>
  plan.output "p" %p : memref<2x2xf32>
  plan.output "q" %q : memref<2x2xf32>
  plan.output "x" %x : memref<f64>
  plan.output "y" %y : memref<f64>
}

// Scopes with a common path, and estimates: an input has none.
// CHECK-LABEL: plan.program "eval" @described
// CHECK: plan.launch @g_{{.*}} outs(%{{.*}} : memref<f64>, memref<i1>, memref<f64>) {est_us = 3.750000e+00 : f64, scope = "block.1"}
// CHECK-NOT: est_us
// CHECK: plan.output "x"
plan.program "eval" @described {
  %a = plan.input "a" : memref<f64>
  %b = plan.input "b" : memref<i1>
  %c = plan.input "c" : memref<f64>
  %x = plan.alloc temporary : memref<f64>
  %y = plan.alloc temporary : memref<i1>
  %z = plan.alloc temporary : memref<f64>
  plan.copy %a to %x {est_us = 2.5 : f64, scope = "block.1.norm"} : memref<f64> to memref<f64>
  plan.copy %b to %y {est_us = 1.25 : f64, scope = "block.1"} : memref<i1> to memref<i1>
  plan.copy %c to %z {scope = "block.1.linear"} : memref<f64> to memref<f64>
  plan.output "x" %x : memref<f64>
  plan.output "y" %y : memref<i1>
  plan.output "z" %z : memref<f64>
}
}

// Equal types share a kernel.
// CHECK: weft.kernel @[[F64:k_[0-9a-f]+]](%{{.*}}: tensor<f64>) -> tensor<f64> elementwise [] inplace {{\[\[}}0]] {
// CHECK-NEXT: weft.materialize
// CHECK-NEXT: weft.yield
// CHECK: weft.kernel_group @[[GROUP]] of [@[[F64]], @[[I1:k_[0-9a-f]+]], @[[F64]]]
// CHECK: weft.kernel @[[I1]](%{{.*}}: tensor<i1>) -> tensor<i1>
