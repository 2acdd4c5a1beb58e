// RUN: weft-opt %s --weft-pad-rows --weft-widen-products="rows=8 share=0" -o %t.mlir && FileCheck %s --input-file=%t.mlir
// RUN: weft-interp --compare %s %t.mlir --tolerance=0
// RUN: weft-opt %t.mlir --weft-plan-memory --weft-verify-plan -o %t.memory.mlir
// RUN: weft-interp --compare %s %t.memory.mlir --tolerance=0
// RUN: weft-opt %s --weft-pad-rows --weft-widen-products="rows=8 share=4" | FileCheck %s --check-prefix=SHARE
// RUN: weft-opt %s --weft-pad-rows --weft-widen-products="rows=8 share=5" | FileCheck %s --check-prefix=NONE
// Products with one right factor, as of a loss in chunks, share its copy with
// zeros, until a command writes the factor. Its cost is compared with the
// results of all of them.

// SHARE-COUNT-2: -> memref<8x32xf32>
// SHARE-NOT: -> memref<8x32xf32>
// NONE-NOT: -> memref<8x32xf32>

weft.kernel @k_negate(%z: tensor<31x4xf32>) -> tensor<31x4xf32> elementwise [124] inplace [[0]] {
  %y = weft.neg %z : tensor<31x4xf32>
  weft.yield %y : tensor<31x4xf32>
}

// CHECK-LABEL: plan.program "micro" @micro
// CHECK-DAG: %[[X:.*]] = plan.input "x"
// CHECK-DAG: %[[Y:.*]] = plan.input "y"
// CHECK: plan.copy %{{.*}} to %{{.*}} : memref<31x4xf32> to memref<31x4xf32>
// CHECK: plan.gemm %[[X]] * %[[WIDE:.*]] transposed -> %{{.*}} : memref<8x4xf32> * memref<32x4xf32> -> memref<8x32xf32>
// CHECK-NOT: plan.copy {{.*}} : memref<31x4xf32> to memref<31x4xf32>
// CHECK: plan.gemm %[[Y]] * %[[WIDE]] transposed -> %{{.*}} : memref<8x4xf32> * memref<32x4xf32> -> memref<8x32xf32>
// CHECK: plan.launch @k_negate
// CHECK: plan.copy %{{.*}} to %{{.*}} : memref<31x4xf32> to memref<31x4xf32>
// CHECK: plan.gemm %[[Y]] * %[[OTHER:.*]] transposed -> %{{.*}} : memref<8x4xf32> * memref<32x4xf32> -> memref<8x32xf32>
plan.program "micro" @micro {
  %x = plan.input "x" : memref<8x4xf32>
  %y = plan.input "y" : memref<8x4xf32>
  %v = plan.input "v" : memref<31x4xf32>
  %w = plan.alloc temporary : memref<31x4xf32>
  %p = plan.alloc activation : memref<8x31xf32>
  %q = plan.alloc activation : memref<8x31xf32>
  %r = plan.alloc activation : memref<8x31xf32>
  %dx = plan.alloc temporary : memref<8x4xf32>
  %dy = plan.alloc temporary : memref<8x4xf32>
  %dz = plan.alloc temporary : memref<8x4xf32>
  plan.copy %v to %w : memref<31x4xf32> to memref<31x4xf32>
  plan.gemm %x * %w transposed -> %p : memref<8x4xf32> * memref<31x4xf32> -> memref<8x31xf32>
  plan.gemm %p * %w -> %dx : memref<8x31xf32> * memref<31x4xf32> -> memref<8x4xf32>
  plan.gemm %y * %w transposed -> %q : memref<8x4xf32> * memref<31x4xf32> -> memref<8x31xf32>
  plan.gemm %q * %w -> %dy : memref<8x31xf32> * memref<31x4xf32> -> memref<8x4xf32>
  plan.launch @k_negate ins(%w : memref<31x4xf32>) outs(%w : memref<31x4xf32>)
  plan.gemm %y * %w transposed -> %r : memref<8x4xf32> * memref<31x4xf32> -> memref<8x31xf32>
  plan.gemm %r * %w -> %dz : memref<8x31xf32> * memref<31x4xf32> -> memref<8x4xf32>
  plan.output "dx" %dx : memref<8x4xf32>
  plan.output "dy" %dy : memref<8x4xf32>
  plan.output "dz" %dz : memref<8x4xf32>
}
