// RUN: weft-opt %s --weft-pad-rows -o %t.mlir && FileCheck %s --input-file=%t.mlir
// RUN: weft-interp --compare %s %t.mlir --tolerance=0
// RUN: weft-opt %t.mlir --weft-plan-memory --weft-verify-plan -o %t.memory.mlir
// RUN: weft-interp --compare %s %t.memory.mlir --tolerance=0
// RUN: weft-opt %s --weft-pad-rows="most=16 least=4" | FileCheck %s --check-prefix=LEAST
// RUN: weft-opt %s --weft-pad-rows="most=64 least=64 share=0" -o %t.any.mlir && FileCheck %s --check-prefix=ANY --input-file=%t.any.mlir
// RUN: weft-interp --compare %s %t.any.mlir --tolerance=0
// RUN: not weft-opt %s --weft-pad-rows="least=12" 2>&1 | FileCheck %s --check-prefix=POWER
// RUN: weft-opt %t.mlir --weft-pad-rows -o %t.twice.mlir && cmp %t.mlir %t.twice.mlir
// RUN: not weft-opt %s --weft-pad-rows="share=-1" 2>&1 | FileCheck %s --check-prefix=SHARE
// RUN: not weft-opt %s --weft-pad-rows="most=4611686018427387904 share=0" 2>&1 | FileCheck %s --check-prefix=FAR
// RUN: not weft-opt %s --weft-pad-rows="most=8" 2>&1 | FileCheck %s --check-prefix=ORDER
// Rows of matrices begin at multiples of 128 bytes where that costs little, else of
// 16; nothing else moves, and results stay the same.

// Rows of 124 bytes are at multiples of 4.
// LEAST: plan.alloc activation : memref<2x4x31xf32>
// ANY: plan.alloc temporary : memref<4x48xf32>
// ANY: plan.alloc temporary : memref<4x16xf32>
// ORDER: error: expects most not to be less than least, and a share of at least 0, but got 8, 16 and 8
// SHARE: error: expects most not to be less than least, and a share of at least 0, but got 128, 16 and -1
// FAR: error: expects powers of two up to 2^44 in most and least, but got 4611686018427387904
// POWER: error: expects powers of two up to 2^44 in most and least, but got 12

module {

// CHECK-NOT: weft.kernel @k_scale
// CHECK: weft.kernel @k_sums
// CHECK-NOT: weft.kernel

// The loops keep the rows, which a flat space would not.
weft.kernel @k_scale(%g: tensor<f32>, %z: tensor<2x4x31xf32>) -> tensor<2x4x31xf32> elementwise [248] inplace [[1]] {
  %y = weft.mul %g, %z : tensor<f32>, tensor<2x4x31xf32>
  weft.yield %y : tensor<2x4x31xf32>
}
weft.kernel @k_most(%z: tensor<2x4x31xf32>) -> tensor<2x4x1xf32> rows [8, 31] over [1] inplace [[]] {
  %y = weft.reduce max %z dims [2] {keep_dims} : tensor<2x4x31xf32>
  weft.yield %y : tensor<2x4x1xf32>
}
// Not row by row.
weft.kernel @k_sums(%z: tensor<124x2xf32>) -> tensor<124xf32> rows [124, 2] over [1] inplace [[]] {
  %y = weft.reduce sum %z dims [1] : tensor<124x2xf32>
  weft.yield %y : tensor<124xf32>
}

// CHECK-LABEL: plan.program "eval" @eval
// CHECK: %[[X:.*]] = plan.input "x"
// CHECK: %[[ROOT:.*]] = plan.alloc activation : memref<2x4x32xf32>
// CHECK: %[[Z:.*]] = plan.view %[[ROOT]] : memref<2x4x32xf32> to memref<2x4x31xf32, strided<[128, 32, 1]>>
// CHECK: %[[ROWS:.*]] = plan.view %[[ROOT]] : memref<2x4x32xf32> to memref<8x31xf32, strided<[32, 1]>>
// CHECK: %[[HEAD:.*]] = plan.view %[[ROOT]] : memref<2x4x32xf32> to memref<2x4x3xf32, strided<[128, 32, 1], offset: 28>>
// CHECK: plan.gemm {{.*}} -> %[[Z]] : memref<2x4x4xf32> * memref<31x4xf32> -> memref<2x4x31xf32, strided<[128, 32, 1]>>
// CHECK: plan.launch @[[MOST:k_[0-9a-f]+]] ins(%[[Z]] : memref<2x4x31xf32, strided<[128, 32, 1]>>)
// CHECK: plan.launch @[[SCALE:k_[0-9a-f]+]] ins(%{{.*}}, %[[Z]] : {{.*}}) outs(%[[Z]] : memref<2x4x31xf32, strided<[128, 32, 1]>>)
// CHECK: plan.copy %[[HEAD]] to
// CHECK: plan.gemm %[[ROWS]] transposed * {{.*}} : memref<8x31xf32, strided<[32, 1]>> * memref<8x4xf32> -> memref<31x4xf32>
plan.program "eval" @eval {
  %x = plan.input "x" : memref<2x4x4xf32>
  %w = plan.input "w" : memref<31x4xf32>
  %g = plan.input "g" : memref<f32>
  %z = plan.alloc activation : memref<2x4x31xf32>
  %rows = plan.view %z : memref<2x4x31xf32> to memref<8x31xf32>
  %head = plan.view %z : memref<2x4x31xf32> to memref<2x4x3xf32, strided<[124, 31, 1], offset: 28>>
  %in = plan.view %x : memref<2x4x4xf32> to memref<8x4xf32>
  %most = plan.alloc temporary : memref<2x4x1xf32>
  %some = plan.alloc temporary : memref<2x4x3xf32>
  %dw = plan.alloc temporary : memref<31x4xf32>
  plan.gemm %x * %w transposed -> %z : memref<2x4x4xf32> * memref<31x4xf32> -> memref<2x4x31xf32>
  plan.launch @k_most ins(%z : memref<2x4x31xf32>) outs(%most : memref<2x4x1xf32>)
  plan.launch @k_scale ins(%g, %z : memref<f32>, memref<2x4x31xf32>) outs(%z : memref<2x4x31xf32>)
  plan.copy %head to %some : memref<2x4x3xf32, strided<[124, 31, 1], offset: 28>> to memref<2x4x3xf32>
  plan.gemm %rows transposed * %in -> %dw : memref<8x31xf32> * memref<8x4xf32> -> memref<31x4xf32>
  plan.output "most" %most : memref<2x4x1xf32>
  plan.output "some" %some : memref<2x4x3xf32>
  plan.output "dw" %dw : memref<31x4xf32>
}

// 132 bytes: 256 would be far more, 144 is little more. A factor alone is enough.
// CHECK-LABEL: plan.program "logits" @logits
// CHECK: plan.alloc temporary : memref<4x36xf32>
// CHECK: plan.copy {{.*}} to memref<4x33xf32, strided<[36, 1]>>
// CHECK: plan.gemm {{.*}} : memref<4x33xf32, strided<[36, 1]>> * memref<33x4xf32> -> memref<4x4xf32>
plan.program "logits" @logits {
  %x = plan.input "x" : memref<4x33xf32>
  %w = plan.input "w" : memref<33x4xf32>
  %a = plan.alloc temporary : memref<4x33xf32>
  %y = plan.alloc temporary : memref<4x4xf32>
  plan.copy %x to %a : memref<4x33xf32> to memref<4x33xf32>
  plan.gemm %a * %w -> %y : memref<4x33xf32> * memref<33x4xf32> -> memref<4x4xf32>
  plan.output "y" %y : memref<4x4xf32>
}

// Buffers that stay: aligned rows, short rows, a single row, an output, a bias, a flat kernel.
// CHECK-LABEL: plan.program "init" @init
// CHECK-DAG: plan.alloc temporary : memref<4x32xf32>
// CHECK-DAG: plan.alloc temporary : memref<4x5xf32>
// CHECK-DAG: plan.alloc temporary : memref<1x33xf32>
// CHECK-DAG: plan.alloc temporary : memref<4x33xf32>
// CHECK-DAG: plan.alloc temporary : memref<8x31xf32>
// CHECK: plan.output "sums"
plan.program "init" @init {
  %x = plan.input "x" : memref<4x4xf32>
  %a = plan.input "a" : memref<4x32xf32>
  %b = plan.input "b" : memref<4x5xf32>
  %c = plan.input "c" : memref<4x33xf32>
  %d = plan.input "d" : memref<4x31xf32>
  %u = plan.input "u" : memref<8x4xf32>
  %right = plan.alloc temporary : memref<4x32xf32>
  %short = plan.alloc temporary : memref<4x5xf32>
  %rightcopy = plan.alloc temporary : memref<4x32xf32>
  %shortcopy = plan.alloc temporary : memref<4x5xf32>
  %out = plan.alloc temporary : memref<4x33xf32>
  %flat = plan.alloc temporary : memref<8x31xf32>
  %one = plan.alloc temporary : memref<1x33xf32>
  %onecopy = plan.alloc temporary : memref<1x33xf32>
  %row = plan.view %x : memref<4x4xf32> to memref<1x4xf32>
  %pairs = plan.view %flat : memref<8x31xf32> to memref<124x2xf32>
  %sums = plan.alloc temporary : memref<124xf32>
  plan.gemm %x * %a -> %right : memref<4x4xf32> * memref<4x32xf32> -> memref<4x32xf32>
  plan.gemm %x * %b -> %short : memref<4x4xf32> * memref<4x5xf32> -> memref<4x5xf32>
  plan.gemm %x * %c -> %out : memref<4x4xf32> * memref<4x33xf32> -> memref<4x33xf32>
  plan.gemm %u * %d -> %flat : memref<8x4xf32> * memref<4x31xf32> -> memref<8x31xf32>
  plan.gemm %row * %c -> %one : memref<1x4xf32> * memref<4x33xf32> -> memref<1x33xf32>
  plan.copy %one to %onecopy : memref<1x33xf32> to memref<1x33xf32>
  plan.launch @k_sums ins(%pairs : memref<124x2xf32>) outs(%sums : memref<124xf32>)
  plan.copy %right to %rightcopy : memref<4x32xf32> to memref<4x32xf32>
  plan.copy %short to %shortcopy : memref<4x5xf32> to memref<4x5xf32>
  plan.output "right" %rightcopy : memref<4x32xf32>
  plan.output "short" %shortcopy : memref<4x5xf32>
  plan.output "out" %out : memref<4x33xf32>
  plan.output "one" %onecopy : memref<1x33xf32>
  plan.output "sums" %sums : memref<124xf32>
}

}

// CHECK: weft.kernel @[[SCALE]](%{{.*}}: tensor<f32>, %{{.*}}: tensor<2x4x31xf32>) -> tensor<2x4x31xf32> elementwise [8, 31] inplace {{\[\[}}1]] pitches [0, 32, 32] {
// CHECK: weft.kernel @[[MOST]]({{.*}}) -> tensor<2x4x1xf32> rows [8, 31] over [1] inplace {{\[\[}}]] pitches [32, 0] {
