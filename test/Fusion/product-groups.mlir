// RUN: weft-opt %s --weft-select-kernels=library=interpreter | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: weft-opt %s --weft-select-kernels | FileCheck %s --check-prefixes=CHECK,CPU
// A product is merged with ops that its library supports; other ops stay
// ops.

// The graph, the merged graph and its plan compute the same; the CPU reports products
// that it cannot run.
// RUN: weft-opt %s --weft-select-kernels=library=interpreter -o %t.merged.mlir
// RUN: weft-interp --compare %s %t.merged.mlir --tolerance=1e-12 | FileCheck %s --check-prefix=SAME
// RUN: weft-opt %t.merged.mlir --weft-decompose --weft-fuse --weft-lower-to-plan --weft-plan-memory --weft-verify-plan -o %t.plan.mlir
// RUN: FileCheck %s --check-prefix=PLAN --input-file=%t.plan.mlir
// RUN: weft-interp --compare %t.merged.mlir %t.plan.mlir --tolerance=2e-7 | FileCheck %s --check-prefix=SAME
// RUN: not weft-opt %t.plan.mlir --weft-add-workspaces 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: 'plan.gemm' op expects a product with at most a bias on the CPU, but got an epilogue
// SAME: forward: 0 of 2 tensors differ
// SAME: backward: 0 of 2 tensors differ
// SAME: others: 0 of 5 tensors differ

// Bias and gelu; the sum is kept, since the adjoint reads it.
// CHECK-LABEL: weft.program @forward
// ALL: %[[Y:.*]], %[[S:.*]] = weft.gemm %arg0 * %arg1 transposed bias(%arg2 : tensor<6xf32>) epilogue gelu {weft.impl = "gemm", weft.scope = "fc"} : tensor<8x4xf32> * tensor<6x4xf32> -> tensor<8x6xf32> sum(tensor<8x6xf32>)
// ALL-NEXT: weft.return %[[Y]], %[[S]]
// CPU: %[[S:.*]] = weft.matmul %arg0, %arg1 bias %arg2 : tensor<6xf32> {transpose_rhs, weft.impl = "gemm", weft.scope = "fc"}
// CPU-NEXT: %[[Y:.*]] = weft.gelu %[[S]] {approximate = #weft.gelu_kind<tanh>}
// PLAN-LABEL: plan.program "eval" @forward
// PLAN: plan.gemm {{.*}} transposed -> %{{.*}} bias({{.*}}) epilogue gelu aux(
weft.program @forward(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<6x4xf32> {weft.input = "w"}, %b: tensor<6xf32> {weft.input = "b"})
    -> (tensor<8x6xf32> {weft.output = "y"}, tensor<8x6xf32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %p = weft.matmul %x, %w {transpose_rhs, weft.scope = "fc"} : tensor<8x4xf32>, tensor<6x4xf32>
  %s = weft.add %b, %p {weft.scope = "fc"} : tensor<6xf32>, tensor<8x6xf32>
  %y = weft.gelu %s {approximate = #weft.gelu_kind<tanh>} : tensor<8x6xf32>
  weft.return %y, %s : tensor<8x6xf32>, tensor<8x6xf32>
}

// The adjoint of relu, and the gradient of the bias before it.
// CHECK-LABEL: weft.program @backward
// ALL: %[[D:.*]], %[[B:.*]] = weft.gemm %arg0 * %arg1 epilogue relu_grad aux(%arg2 : tensor<8x4xf32>) {weft.impl = "gemm"} : tensor<8x6xf32> * tensor<6x4xf32> -> tensor<8x4xf32> column_sum(tensor<4xf32>)
// ALL-NEXT: weft.return %[[D]], %[[B]]
// CPU: weft.matmul %arg0, %arg1 {weft.impl = "gemm"}
// CPU-NEXT: weft.relu_grad
// CPU-NEXT: weft.reduce
// PLAN-LABEL: plan.program "eval" @backward
// PLAN: plan.gemm {{.*}} epilogue relu_grad aux({{.*}}) column_sum(
weft.program @backward(%dy: tensor<8x6xf32> {weft.input = "dy"}, %w: tensor<6x4xf32> {weft.input = "w"}, %s: tensor<8x4xf32> {weft.input = "s"})
    -> (tensor<8x4xf32> {weft.output = "dx"}, tensor<4xf32> {weft.output = "db"}) attributes {kind = #weft.kind<eval>} {
  %p = weft.matmul %dy, %w : tensor<8x6xf32>, tensor<6x4xf32>
  %dx = weft.relu_grad %p, %s : tensor<8x4xf32>
  %db = weft.reduce sum %dx dims [0] : tensor<8x4xf32>
  weft.return %dx, %db : tensor<8x4xf32>, tensor<4xf32>
}

// gelu alone, its adjoint, and the sums over the rows of a plain product.
// CHECK-LABEL: weft.program @others
// ALL: weft.gemm %arg0 * %arg1 epilogue gelu {weft.impl = "gemm"} : tensor<2x8x4xf32> * tensor<4x4xf32> -> tensor<2x8x4xf32>{{$}}
// ALL: weft.gemm %arg0 * %arg1 epilogue gelu_grad aux(%arg0 : tensor<2x8x4xf32>) {weft.impl = "gemm"}
// ALL: weft.gemm %arg0 * %arg1 transposed {weft.impl = "gemm"} : {{.*}} column_sum(tensor<4xf32>)
// ALL: weft.gemm %arg0 * %arg1 bias(%arg2 : tensor<4xf32>) epilogue relu
// CPU: weft.gelu_grad
// CPU: weft.reduce
// CPU: weft.relu
weft.program @others(%x: tensor<2x8x4xf32> {weft.input = "x"}, %w: tensor<4x4xf32> {weft.input = "w"}, %b: tensor<4xf32> {weft.input = "b"})
    -> (tensor<2x8x4xf32> {weft.output = "a"}, tensor<2x8x4xf32> {weft.output = "b"}, tensor<2x8x4xf32> {weft.output = "c"},
        tensor<4xf32> {weft.output = "d"}, tensor<2x8x4xf32> {weft.output = "e"}) attributes {kind = #weft.kind<eval>} {
  %p = weft.matmul %x, %w : tensor<2x8x4xf32>, tensor<4x4xf32>
  %a = weft.gelu %p {approximate = #weft.gelu_kind<tanh>} : tensor<2x8x4xf32>
  %q = weft.matmul %x, %w : tensor<2x8x4xf32>, tensor<4x4xf32>
  %g = weft.gelu_grad %q, %x {approximate = #weft.gelu_kind<tanh>} : tensor<2x8x4xf32>
  %c = weft.matmul %x, %w {transpose_rhs} : tensor<2x8x4xf32>, tensor<4x4xf32>
  %d = weft.reduce sum %c dims [0, 1] : tensor<2x8x4xf32>
  %r = weft.matmul %x, %w bias %b : tensor<4xf32> : tensor<2x8x4xf32>, tensor<4x4xf32>
  %e = weft.relu %r : tensor<2x8x4xf32>
  weft.return %a, %g, %c, %d, %e : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4xf32>, tensor<2x8x4xf32>
}
