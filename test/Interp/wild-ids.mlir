// RUN: split-file %s %t
// RUN: weft-interp %t/ops.mlir | FileCheck %s
// RUN: weft-interp %t/commands.mlir | FileCheck %s
// An id without a row makes a row of NaN, and its gradient belongs to no row: as
// in the routines of both targets.

// CHECK: grad = {{\[\[}}2, 2], [1, 1]] : 2x2xf32
// CHECK-NEXT: rows = {{\[\[}}3, 4], [nan, nan], [1, 2], [nan, nan]] : 4x2xf32

//--- ops.mlir
weft.program @eval() -> (tensor<4x2xf32> {weft.output = "rows"}, tensor<2x2xf32> {weft.output = "grad"})
    attributes {kind = #weft.kind<eval>} {
  %t = weft.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %i = weft.constant dense<[1, 2, 0, -1]> : tensor<4xi32>
  %g = weft.constant dense<[[1.0, 1.0], [5.0, 5.0], [2.0, 2.0], [7.0, 7.0]]> : tensor<4x2xf32>
  %r = weft.embedding %t, %i : tensor<2x2xf32>, tensor<4xi32>
  %d = weft.embedding_grad %g, %i : tensor<4x2xf32>, tensor<4xi32> to tensor<2x2xf32>
  weft.return %r, %d : tensor<4x2xf32>, tensor<2x2xf32>
}

//--- commands.mlir
plan.program "eval" @eval {
  %t = plan.alloc temporary : memref<2x2xf32>
  %i = plan.alloc temporary : memref<4xi32>
  %g = plan.alloc temporary : memref<4x2xf32>
  %r = plan.alloc temporary : memref<4x2xf32>
  %d = plan.alloc temporary : memref<2x2xf32>
  plan.constant %t = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : memref<2x2xf32>
  plan.constant %i = dense<[1, 2, 0, -1]> : tensor<4xi32> : memref<4xi32>
  plan.constant %g = dense<[[1.0, 1.0], [5.0, 5.0], [2.0, 2.0], [7.0, 7.0]]> : tensor<4x2xf32> : memref<4x2xf32>
  plan.embedding %t[%i] -> %r : memref<2x2xf32>[memref<4xi32>] -> memref<4x2xf32>
  plan.embedding_grad %g[%i] -> %d : memref<4x2xf32>[memref<4xi32>] -> memref<2x2xf32>
  plan.output "rows" %r : memref<4x2xf32>
  plan.output "grad" %d : memref<2x2xf32>
}
