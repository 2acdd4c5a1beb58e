// RUN: weft-opt %s --weft-select-kernels=library=cuda | FileCheck %s --check-prefixes=CHECK,STRICT
// RUN: weft-opt %s --weft-select-kernels="library=cuda fast=true" | FileCheck %s --check-prefixes=CHECK,FAST
// RUN: weft-opt %s --weft-select-kernels="library=cuda fast=true epilogues=false" | FileCheck %s --check-prefix=OFF
// RUN: weft-opt %s --weft-select-kernels=library=cuda --remarks-filter=fusion -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: weft-opt %s --weft-select-kernels="library=cuda epilogues=false" --remarks-filter=fusion -o /dev/null 2>&1 | FileCheck %s --check-prefix=WITHOUT
// Ops that cuBLASLt merges with a product: gelu with tanh and its operand, its
// adjoint with the bias gradient. Never an op after a rounding, unless rounding at
// the borders of ops is not asked for.

// The same numbers before and after, and as a plan.
// RUN: weft-opt %s --weft-select-kernels="library=cuda fast=true" -o %t.merged.mlir
// RUN: weft-interp --compare %s %t.merged.mlir --tolerance=2e-2 | FileCheck %s --check-prefix=SAME
// RUN: weft-opt %t.merged.mlir --weft-decompose --weft-fuse --weft-lower-to-plan --weft-add-device-workspaces=chips=sm_90 --weft-plan-memory --weft-verify-plan -o %t.plan.mlir
// RUN: weft-interp --compare %t.merged.mlir %t.plan.mlir --tolerance=1e-5 | FileCheck %s --check-prefix=SAME
// SAME: forward: 0 of 2 tensors differ
// SAME: backward: 0 of 2 tensors differ
// SAME: low: 0 of 3 tensors differ
// SAME: kept: 0 of 5 tensors differ

// CHECK-LABEL: weft.program @forward
// CHECK: %[[Y:.*]], %[[S:.*]] = weft.gemm %arg0 * %arg1 bias(%arg2 : tensor<16xf32>) epilogue gelu {weft.impl = "gemm"} : {{.*}} sum(tensor<8x16xf32>)
// CHECK-NEXT: weft.return %[[Y]], %[[S]]
// OFF-LABEL: weft.program @forward
// OFF: weft.matmul %arg0, %arg1 bias %arg2
// OFF-NEXT: weft.gelu
weft.program @forward(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x16xf32> {weft.input = "w"}, %b: tensor<16xf32> {weft.input = "b"})
    -> (tensor<8x16xf32> {weft.output = "y"}, tensor<8x16xf32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %p = weft.matmul %x, %w : tensor<8x4xf32>, tensor<4x16xf32>
  %s = weft.add %p, %b : tensor<8x16xf32>, tensor<16xf32>
  %y = weft.gelu %s {approximate = #weft.gelu_kind<tanh>} : tensor<8x16xf32>
  weft.return %y, %s : tensor<8x16xf32>, tensor<8x16xf32>
}

// Rows of two batches are the rows of one matrix.
// CHECK-LABEL: weft.program @backward
// CHECK: %[[D:.*]], %[[B:.*]] = weft.gemm %arg0 * %arg1 transposed epilogue gelu_grad aux(%arg2 : tensor<2x4x16xf32>) {weft.impl = "gemm"} : {{.*}} column_sum(tensor<16xf32>)
// CHECK-NEXT: weft.return %[[D]], %[[B]]
// OFF-LABEL: weft.program @backward
// OFF: weft.gelu_grad
// OFF: weft.reduce
weft.program @backward(%dy: tensor<2x4x8xf32> {weft.input = "dy"}, %w: tensor<16x8xf32> {weft.input = "w"}, %s: tensor<2x4x16xf32> {weft.input = "s"})
    -> (tensor<2x4x16xf32> {weft.output = "dx"}, tensor<16xf32> {weft.output = "db"}) attributes {kind = #weft.kind<eval>} {
  %p = weft.matmul %dy, %w {transpose_rhs} : tensor<2x4x8xf32>, tensor<16x8xf32>
  %dx = weft.gelu_grad %p, %s {approximate = #weft.gelu_kind<tanh>} : tensor<2x4x16xf32>
  %db = weft.reduce sum %dx dims [0, 1] : tensor<2x4x16xf32>
  weft.return %dx, %db : tensor<2x4x16xf32>, tensor<16xf32>
}

// Low precision: gelu stands behind a rounding, and autodiff computes its
// adjoint in f32. The bias gradient is a sum of its own: in f32.
// CHECK-LABEL: weft.program @low
// STRICT: weft.matmul %arg0, %arg1 {weft.impl = "gemm"}
// STRICT-NEXT: weft.gelu
// STRICT: weft.matmul %arg2, %arg3 {transpose_rhs, weft.impl = "gemm"}
// STRICT: weft.gelu_grad {{.*}} : tensor<8x16xf32>
// FAST: %[[Y:.*]], %[[S:.*]] = weft.gemm %arg0 * %arg1 epilogue gelu {weft.impl = "gemm"} : {{.*}} -> tensor<8x16xf16> sum(tensor<8x16xf16>)
// FAST: %[[D:.*]] = weft.gemm %arg2 * %arg3 transposed epilogue gelu_grad aux(%[[S]] : tensor<8x16xf16>) {weft.impl = "gemm"}
// FAST-NEXT: %[[W:.*]] = weft.cast %[[D]] : tensor<8x16xf16> to tensor<8x16xf32>
// FAST-NEXT: %[[B:.*]] = weft.reduce sum %[[W]] dims [0]
// FAST-NEXT: weft.return %[[Y]], %[[D]], %[[B]]
weft.program @low(%x: tensor<8x4xf16> {weft.input = "x"}, %w: tensor<4x16xf16> {weft.input = "w"},
                  %dy: tensor<8x4xf16> {weft.input = "dy"}, %v: tensor<16x4xf16> {weft.input = "v"})
    -> (tensor<8x16xf16> {weft.output = "y"}, tensor<8x16xf16> {weft.output = "dx"}, tensor<16xf32> {weft.output = "db"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.matmul %x, %w : tensor<8x4xf16>, tensor<4x16xf16>
  %y = weft.gelu %s {approximate = #weft.gelu_kind<tanh>} : tensor<8x16xf16>
  %p = weft.matmul %dy, %v {transpose_rhs} : tensor<8x4xf16>, tensor<16x4xf16>
  %pw = weft.cast %p : tensor<8x16xf16> to tensor<8x16xf32>
  %sw = weft.cast %s : tensor<8x16xf16> to tensor<8x16xf32>
  %d = weft.gelu_grad %pw, %sw {approximate = #weft.gelu_kind<tanh>} : tensor<8x16xf32>
  %dx = weft.cast %d : tensor<8x16xf32> to tensor<8x16xf16>
  %db = weft.reduce sum %d dims [0] : tensor<8x16xf32>
  weft.return %y, %dx, %db : tensor<8x16xf16>, tensor<8x16xf16>, tensor<16xf32>
}

// Ops that stay: gelu with erf; rows of aux that are no multiple of 8; relu,
// whose sum is read; a column sum of a plain product; a relu alone joins.
// CHECK-LABEL: weft.program @kept
// CHECK: weft.matmul
// CHECK-NEXT: weft.gelu {{.*}} : tensor<8x16xf32>
// CHECK: weft.matmul
// CHECK-NEXT: weft.gelu_grad {{.*}} : tensor<8x6xf32>
// CHECK: weft.matmul
// CHECK-NEXT: weft.relu
// CHECK: weft.matmul
// CHECK-NEXT: weft.reduce
// CHECK: weft.gemm {{.*}} epilogue relu
// WHY-DAG: Remark="gelu is not part of the product before it: products of CUDA have no gelu with erf
// WHY-DAG: Remark="gelu is not part of the product before it: it is rounded before
// WHY-DAG: Remark="gelu_grad is not part of the product before it: expects rows of aux of a multiple of 8 elements, but got 6
// WHY-DAG: Remark="relu is not part of the product before it: expects no aux of relu, of which cuBLASLt keeps bits, but got 1
// WHY-DAG: Remark="reduce is not part of the product before it: expects a column sum only with gelu_grad (4), but got 0
// WITHOUT-DAG: Remark="gelu is not part of the product before it: epilogues are off
weft.program @kept(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x16xf32> {weft.input = "w"}, %v: tensor<4x6xf32> {weft.input = "v"}, %s: tensor<8x6xf32> {weft.input = "s"})
    -> (tensor<8x16xf32> {weft.output = "a"}, tensor<8x6xf32> {weft.output = "b"}, tensor<8x16xf32> {weft.output = "c"}, tensor<16xf32> {weft.output = "d"}, tensor<8x16xf32> {weft.output = "e"}) attributes {kind = #weft.kind<eval>} {
  %p = weft.matmul %x, %w : tensor<8x4xf32>, tensor<4x16xf32>
  %a = weft.gelu %p : tensor<8x16xf32>
  %q = weft.matmul %x, %v : tensor<8x4xf32>, tensor<4x6xf32>
  %b = weft.gelu_grad %q, %s {approximate = #weft.gelu_kind<tanh>} : tensor<8x6xf32>
  %r = weft.matmul %x, %w : tensor<8x4xf32>, tensor<4x16xf32>
  %rr = weft.relu %r : tensor<8x16xf32>
  %c = weft.mul %rr, %r : tensor<8x16xf32>, tensor<8x16xf32>
  %t = weft.matmul %x, %w : tensor<8x4xf32>, tensor<4x16xf32>
  %d = weft.reduce sum %t dims [0] : tensor<8x16xf32>
  %u = weft.matmul %x, %w : tensor<8x4xf32>, tensor<4x16xf32>
  %e = weft.relu %u : tensor<8x16xf32>
  weft.return %a, %b, %c, %d, %e : tensor<8x16xf32>, tensor<8x6xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<8x16xf32>
}
