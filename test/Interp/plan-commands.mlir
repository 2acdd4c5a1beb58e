// RUN: weft-interp %s | FileCheck %s
// RUN: weft-interp %s --mode=f32 | FileCheck %s
// RUN: weft-opt %s --weft-plan-memory --weft-verify-plan -o %t.mlir
// RUN: weft-interp %t.mlir | FileCheck %s

// Each command of a plan, on blocks and in an arena. Expected numbers follow from
// the formulas in docs/reference/plan-ops.md.

// CHECK-LABEL: program @gemm
// CHECK-NEXT: accumulated = {{\[\[}}6, 8], [10, 12]] : 2x2xf32
// CHECK-NEXT: added = {{\[\[}}105, 106], [107, 108]] : 2x2xf32
// CHECK-NEXT: columns = [19, 22] : 2xf32
// CHECK-NEXT: gelu = {{\[\[}}-0.15880800{{.}}, 0], [0.84119{{.*}}, 2.99636{{.*}}]] : 2x2xf32
// CHECK-NEXT: gelu_aux = {{\[\[}}-1, 0], [1, 3]] : 2x2xf32
// CHECK-NEXT: gelu_grad = {{\[\[}}-0.082964{{.*}}, 1], [3.24889{{.*}}, 4.04633{{.*}}]] : 2x2xf32
// CHECK-NEXT: lhs_sum = [3, 7] : 2xf32
// CHECK-NEXT: relu = {{\[\[}}0, 0], [1, 3]] : 2x2xf32
// CHECK-NEXT: relu_grad = {{\[\[}}0, 0], [3, 4]] : 2x2xf32
// CHECK-NEXT: rhs_sum = [0, 3] : 2xf32
// CHECK-NEXT: started = {{\[\[}}5, 6], [7, 8]] : 2x2xf32
plan.program "eval" @gemm {
  %x = plan.alloc temporary : memref<2x2xf32>
  %i = plan.alloc temporary : memref<2x2xf32>
  %b = plan.alloc temporary : memref<2xf32>
  %zero = plan.alloc temporary : memref<f32>
  %one = plan.alloc temporary : memref<f32>
  %a = plan.alloc temporary : memref<2x2xf32>
  %c = plan.alloc temporary : memref<2x2xf32>
  %sums = plan.alloc temporary : memref<2xf32>
  %d = plan.alloc temporary : memref<2x2xf32>
  %y = plan.alloc temporary : memref<2x2xf32>
  %r = plan.alloc temporary : memref<2x2xf32>
  %g = plan.alloc temporary : memref<2x2xf32>
  %s = plan.alloc temporary : memref<2x2xf32>
  %rg = plan.alloc temporary : memref<2x2xf32>
  %gg = plan.alloc temporary : memref<2x2xf32>
  %p = plan.alloc temporary : memref<2x2xf32>
  %ls = plan.alloc temporary : memref<2xf32>
  %rs = plan.alloc temporary : memref<2xf32>
  plan.constant %x = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : memref<2x2xf32>
  plan.constant %i = dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32> : memref<2x2xf32>
  plan.constant %b = dense<[4.0, 4.0]> : tensor<2xf32> : memref<2xf32>
  plan.constant %zero = dense<0.0> : tensor<f32> : memref<f32>
  plan.constant %one = dense<1.0> : tensor<f32> : memref<f32>
  // x + bias, then x again.
  plan.gemm %x * %i -> %a bias(%b : memref<2xf32>) : memref<2x2xf32> * memref<2x2xf32> -> memref<2x2xf32>
  plan.gemm %x * %i -> %a accumulate : memref<2x2xf32> * memref<2x2xf32> -> memref<2x2xf32>
  plan.output "accumulated" %a : memref<2x2xf32>
  plan.constant %c = dense<100.0> : tensor<2x2xf32> : memref<2x2xf32>
  plan.gemm %x * %i -> %c accumulate(%zero : memref<f32>) bias(%b : memref<2xf32>) : memref<2x2xf32> * memref<2x2xf32> -> memref<2x2xf32>
  plan.constant %d = dense<100.0> : tensor<2x2xf32> : memref<2x2xf32>
  plan.gemm %x * %i -> %d accumulate(%one : memref<f32>) bias(%b : memref<2xf32>) : memref<2x2xf32> * memref<2x2xf32> -> memref<2x2xf32>
  plan.output "started" %c : memref<2x2xf32>
  plan.output "added" %d : memref<2x2xf32>
  // The identity times [[-1, 0], [1, 3]].
  plan.constant %y = dense<[[-1.0, 0.0], [1.0, 3.0]]> : tensor<2x2xf32> : memref<2x2xf32>
  plan.gemm %i * %y -> %r epilogue relu : memref<2x2xf32> * memref<2x2xf32> -> memref<2x2xf32>
  plan.output "relu" %r : memref<2x2xf32>
  plan.gemm %i * %y -> %g epilogue gelu aux(%s : memref<2x2xf32>) : memref<2x2xf32> * memref<2x2xf32> -> memref<2x2xf32>
  plan.output "gelu" %g : memref<2x2xf32>
  plan.output "gelu_aux" %s : memref<2x2xf32>
  plan.gemm %i * %x -> %rg epilogue relu_grad aux(%y : memref<2x2xf32>) : memref<2x2xf32> * memref<2x2xf32> -> memref<2x2xf32>
  plan.output "relu_grad" %rg : memref<2x2xf32>
  plan.gemm %i * %x -> %gg epilogue gelu_grad aux(%y : memref<2x2xf32>) : memref<2x2xf32> * memref<2x2xf32> -> memref<2x2xf32>
  plan.output "gelu_grad" %gg : memref<2x2xf32>
  // [[6, 6], [13, 16]].
  plan.gemm %y transposed * %x -> %p bias(%b : memref<2xf32>) column_sum(%sums : memref<2xf32>) : memref<2x2xf32> * memref<2x2xf32> -> memref<2x2xf32>
  plan.output "columns" %sums : memref<2xf32>
  // The sums of x over its columns and of y over its rows are overwritten, while
  // the target is added to.
  plan.gemm %x * %y -> %p accumulate lhs_sum(%ls : memref<2xf32>) rhs_sum(%rs : memref<2xf32>) : memref<2x2xf32> * memref<2x2xf32> -> memref<2x2xf32>
  plan.output "lhs_sum" %ls : memref<2xf32>
  plan.output "rhs_sum" %rs : memref<2xf32>
}

// A view of columns, transposed, and a row that repeats.
// CHECK-LABEL: program @copies
// CHECK-NEXT: columns = {{\[\[}}2, 5], [3, 6]] : 2x2xf32
// CHECK-NEXT: part = {{\[\[}}1, 2, 2], [4, 5, 2]] : 2x3xf32
// CHECK-NEXT: rows = {{\[\[}}1, 2, 3], [1, 2, 3]] : 2x3xf32
plan.program "eval" @copies {
  %x = plan.alloc temporary : memref<2x3xf32>
  %v = plan.view %x : memref<2x3xf32> to memref<2x2xf32, strided<[1, 3], offset: 1>>
  %a = plan.alloc temporary : memref<2x2xf32>
  %r = plan.view %x : memref<2x3xf32> to memref<2x3xf32, strided<[0, 1]>>
  %b = plan.alloc temporary : memref<2x3xf32>
  %c = plan.alloc temporary : memref<2x3xf32>
  %from = plan.view %x : memref<2x3xf32> to memref<2x2xf32, strided<[3, 1]>>
  %to = plan.view %c : memref<2x3xf32> to memref<2x2xf32, strided<[3, 1]>>
  plan.constant %x = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32> : memref<2x3xf32>
  plan.copy %v to %a : memref<2x2xf32, strided<[1, 3], offset: 1>> to memref<2x2xf32>
  plan.output "columns" %a : memref<2x2xf32>
  plan.copy %r to %b : memref<2x3xf32, strided<[0, 1]>> to memref<2x3xf32>
  plan.output "rows" %b : memref<2x3xf32>
  plan.constant %c = dense<2.0> : tensor<2x3xf32> : memref<2x3xf32>
  plan.copy %from to %to : memref<2x2xf32, strided<[3, 1]>> to memref<2x2xf32, strided<[3, 1]>>
  plan.output "part" %c : memref<2x3xf32>
}

// CHECK-LABEL: program @tables
// CHECK-NEXT: grad = {{\[\[}}1, 1], [4, 4]] : 2x2xf32
// CHECK-NEXT: more = {{\[\[}}11, 11], [14, 14]] : 2x2xf32
// CHECK-NEXT: rows = {{\[\[}}3, 4], [1, 2], [3, 4]] : 3x2xf32
plan.program "eval" @tables {
  %t = plan.alloc temporary : memref<2x2xf32>
  %i = plan.alloc temporary : memref<3xi32>
  %y = plan.alloc temporary : memref<3x2xf32>
  %g = plan.alloc temporary : memref<3x2xf32>
  %d = plan.alloc temporary : memref<2x2xf32>
  %e = plan.alloc temporary : memref<2x2xf32>
  plan.constant %t = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : memref<2x2xf32>
  plan.constant %i = dense<[1, 0, 1]> : tensor<3xi32> : memref<3xi32>
  plan.embedding %t[%i] -> %y : memref<2x2xf32>[memref<3xi32>] -> memref<3x2xf32>
  plan.output "rows" %y : memref<3x2xf32>
  plan.constant %g = dense<[[2.0, 2.0], [1.0, 1.0], [2.0, 2.0]]> : tensor<3x2xf32> : memref<3x2xf32>
  plan.embedding_grad %g[%i] -> %d : memref<3x2xf32>[memref<3xi32>] -> memref<2x2xf32>
  plan.output "grad" %d : memref<2x2xf32>
  plan.constant %e = dense<10.0> : tensor<2x2xf32> : memref<2x2xf32>
  plan.embedding_grad %g[%i] -> %e accumulate : memref<3x2xf32>[memref<3xi32>] -> memref<2x2xf32>
  plan.output "more" %e : memref<2x2xf32>
}

// In place.
// CHECK-LABEL: program @launch
// CHECK-NEXT: y = [2, 4] : 2xf32
plan.program "eval" @launch {
  %x = plan.alloc temporary : memref<2xf32>
  plan.constant %x = dense<[1.0, 2.0]> : tensor<2xf32> : memref<2xf32>
  plan.launch @twice ins(%x : memref<2xf32>) outs(%x : memref<2xf32>)
  plan.output "y" %x : memref<2xf32>
}
weft.kernel @twice(%x: tensor<2xf32>) -> tensor<2xf32> elementwise [2] inplace [[0]] {
  %y = weft.add %x, %x : tensor<2xf32>, tensor<2xf32>
  weft.yield %y : tensor<2xf32>
}
