// RUN: weft-opt %s --weft-pad-rows --weft-widen-products="rows=8 share=0" -o %t.mlir && FileCheck %s --input-file=%t.mlir
// RUN: weft-opt %t.mlir --weft-pad-rows --weft-widen-products="rows=8 share=0" -o %t.twice.mlir && cmp %t.mlir %t.twice.mlir
// RUN: weft-interp --compare %s %t.mlir --tolerance=0
// RUN: weft-opt %t.mlir --weft-plan-memory --weft-verify-plan -o %t.memory.mlir
// RUN: weft-interp --compare %s %t.memory.mlir --tolerance=0
// RUN: weft-opt %s --weft-pad-rows --weft-widen-products="rows=9 share=0" | FileCheck %s --check-prefix=FEW
// RUN: weft-opt %s --weft-pad-rows --weft-widen-products=rows=8 | FileCheck %s --check-prefix=FEW
// Products over the room behind rows: zeros in it, from a factor with zeros, and a sum
// over them.

// FEW-NOT: x32xf32> * memref
// FEW: plan.program "micro"

module {

weft.kernel @k_scale(%z: tensor<2x4x31xf32>) -> tensor<2x4x31xf32> elementwise [248] inplace [[0]] {
  %y = weft.neg %z : tensor<2x4x31xf32>
  weft.yield %y : tensor<2x4x31xf32>
}

weft.kernel @k_infinite(%x: tensor<8x4xf32>) -> tensor<8x4xf32> elementwise [32] inplace [[0]] {
  %none = weft.constant dense<0.0> : tensor<f32>
  %y = weft.div %x, %none : tensor<8x4xf32>, tensor<f32>
  weft.yield %y : tensor<8x4xf32>
}
weft.kernel @k_none() -> tensor<2x4x31xf32> elementwise [248] inplace [[]] {
  %i = weft.iota [0, 1, 2] : tensor<2x4x31xi32>
  %x = weft.cast %i : tensor<2x4x31xi32> to tensor<2x4x31xf32>
  %none = weft.constant dense<0.0> : tensor<f32>
  %y = weft.mul %x, %none : tensor<2x4x31xf32>, tensor<f32>
  weft.yield %y : tensor<2x4x31xf32>
}

// The gradient reuses the logits' buffer; the factor's gradient has its rows, not more.
// CHECK-LABEL: plan.program "micro" @micro
// CHECK-DAG: %[[X:.*]] = plan.input "x"
// CHECK-DAG: %[[W:.*]] = plan.input "w"
// CHECK-DAG: %[[ROOT:.*]] = plan.alloc activation : memref<2x4x32xf32>
// CHECK-DAG: %[[WIDE:.*]] = plan.alloc activation : memref<32x4xf32>
// CHECK-DAG: %[[ZERO:.*]] = plan.alloc activation : memref<1xf32>
// CHECK-DAG: %[[PART:.*]] = plan.view %[[WIDE]] : memref<32x4xf32> to memref<31x4xf32>
// CHECK-DAG: %[[ZEROS:.*]] = plan.view %[[ZERO]] : memref<1xf32> to memref<1x4xf32, strided<[0, 0]>>
// CHECK-DAG: %[[ROOM:.*]] = plan.view %[[WIDE]] : memref<32x4xf32> to memref<1x4xf32, strided<[4, 1], offset: 124>>
// CHECK-DAG: %[[Z:.*]] = plan.view %[[ROOT]] : memref<2x4x32xf32> to memref<2x4x31xf32, strided<[128, 32, 1]>>
// CHECK: plan.copy %[[W]] to %[[PART]]
// CHECK: plan.constant %[[ZERO]] = dense<0.000000e+00>
// CHECK: plan.copy %[[ZEROS]] to %[[ROOM]]
// CHECK: plan.gemm %[[X]] * %[[WIDE]] transposed -> %[[ROOT]] : memref<2x4x4xf32> * memref<32x4xf32> -> memref<2x4x32xf32>
// CHECK: plan.launch {{.*}} ins(%[[Z]] : {{.*}}) outs(%[[Z]] : {{.*}})
// CHECK: plan.copy {{.*}} : memref<8x1xf32, strided<[0, 0]>> to memref<8x1xf32, strided<[32, 1], offset: 31>>
// CHECK: plan.gemm %[[ROOT]] * %[[WIDE]] -> {{.*}} : memref<2x4x32xf32> * memref<32x4xf32> -> memref<2x4x4xf32>
// CHECK: plan.gemm {{.*}} transposed * {{.*}} : memref<8x31xf32, strided<[32, 1]>> * memref<8x4xf32> -> memref<31x4xf32>
plan.program "micro" @micro {
  %x = plan.input "x" : memref<2x4x4xf32>
  %w = plan.input "w" : memref<31x4xf32>
  %in = plan.view %x : memref<2x4x4xf32> to memref<8x4xf32>
  %z = plan.alloc activation : memref<2x4x31xf32>
  %rows = plan.view %z : memref<2x4x31xf32> to memref<8x31xf32>
  %dx = plan.alloc temporary : memref<2x4x4xf32>
  %dw = plan.alloc temporary : memref<31x4xf32>
  plan.gemm %x * %w transposed -> %z : memref<2x4x4xf32> * memref<31x4xf32> -> memref<2x4x31xf32>
  plan.launch @k_scale ins(%z : memref<2x4x31xf32>) outs(%z : memref<2x4x31xf32>)
  plan.gemm %z * %w -> %dx : memref<2x4x31xf32> * memref<31x4xf32> -> memref<2x4x4xf32>
  plan.gemm %rows transposed * %in -> %dw : memref<8x31xf32> * memref<8x4xf32> -> memref<31x4xf32>
  plan.output "dx" %dx : memref<2x4x4xf32>
  plan.output "dw" %dw : memref<31x4xf32>
}

// Columns of the factor, under another shape of the rows.
// CHECK-LABEL: plan.program "eval" @eval
// CHECK-DAG: plan.view {{.*}} : memref<4x32xf32> to memref<4x31xf32, strided<[32, 1]>>
// CHECK-DAG: plan.view {{.*}} : memref<4x32xf32> to memref<4x1xf32, strided<[32, 1], offset: 31>>
// CHECK-DAG: %[[FLAT:.*]] = plan.view {{.*}} : memref<2x4x32xf32> to memref<8x32xf32>
// CHECK: plan.gemm {{.*}} -> %[[FLAT]] : memref<8x4xf32> * memref<4x32xf32> -> memref<8x32xf32>
// CHECK: plan.gemm {{.*}} transposed -> {{.*}} : memref<8x32xf32> * memref<4x32xf32> -> memref<8x4xf32>
plan.program "eval" @eval {
  %x = plan.input "x" : memref<8x4xf32>
  %w = plan.input "w" : memref<4x31xf32>
  %z = plan.alloc activation : memref<2x4x31xf32>
  %rows = plan.view %z : memref<2x4x31xf32> to memref<8x31xf32>
  %y = plan.alloc temporary : memref<8x4xf32>
  plan.gemm %x * %w -> %rows : memref<8x4xf32> * memref<4x31xf32> -> memref<8x31xf32>
  plan.launch @k_scale ins(%z : memref<2x4x31xf32>) outs(%z : memref<2x4x31xf32>)
  plan.gemm %rows * %w transposed -> %y : memref<8x31xf32> * memref<4x31xf32> -> memref<8x4xf32>
  plan.output "y" %y : memref<8x4xf32>
}

// Numbers that are not finite stay in their rows: padding that is 0 by now is summed
// with zeros.
// CHECK-LABEL: plan.program "init" @init
plan.program "init" @init {
  %x = plan.input "x" : memref<8x4xf32>
  %w = plan.input "w" : memref<31x4xf32>
  %big = plan.alloc temporary : memref<8x4xf32>
  %z = plan.alloc activation : memref<2x4x31xf32>
  %rows = plan.view %z : memref<2x4x31xf32> to memref<8x31xf32>
  %y = plan.alloc temporary : memref<8x4xf32>
  plan.launch @k_infinite ins(%x : memref<8x4xf32>) outs(%big : memref<8x4xf32>)
  plan.gemm %big * %w transposed -> %rows : memref<8x4xf32> * memref<31x4xf32> -> memref<8x31xf32>
  plan.launch @k_none outs(%z : memref<2x4x31xf32>)
  plan.gemm %rows * %w -> %y : memref<8x31xf32> * memref<31x4xf32> -> memref<8x4xf32>
  plan.output "y" %y : memref<8x4xf32>
}

// Products that stay: with a bias, with an addition, and a sum with a factor that was
// written since.
// CHECK-LABEL: plan.program "logits" @logits
// CHECK: plan.gemm {{.*}} : memref<8x4xf32> * memref<4x31xf32> -> memref<8x31xf32, strided<[32, 1]>>
// CHECK: plan.gemm {{.*}} : memref<8x4xf32> * memref<4x31xf32> -> memref<8x31xf32, strided<[32, 1]>>
// CHECK: plan.gemm {{.*}} : memref<8x4xf32> * memref<4x32xf32> -> memref<8x32xf32>
// CHECK: plan.gemm {{.*}} transposed -> {{.*}} : memref<8x31xf32, strided<[32, 1]>> * memref<4x31xf32{{.*}}> -> memref<8x4xf32>
plan.program "logits" @logits {
  %x = plan.input "x" : memref<8x4xf32>
  %w = plan.input "w" : memref<4x31xf32>
  %v = plan.input "v" : memref<4x31xf32>
  %b = plan.input "b" : memref<31xf32>
  %own = plan.alloc temporary : memref<4x31xf32>
  %a = plan.alloc temporary : memref<8x31xf32>
  %z = plan.alloc temporary : memref<8x31xf32>
  %most = plan.alloc temporary : memref<8x31xf32>
  %y = plan.alloc temporary : memref<8x4xf32>
  plan.gemm %x * %w -> %a bias(%b : memref<31xf32>) : memref<8x4xf32> * memref<4x31xf32> -> memref<8x31xf32>
  plan.gemm %x * %w -> %a accumulate : memref<8x4xf32> * memref<4x31xf32> -> memref<8x31xf32>
  plan.copy %a to %most : memref<8x31xf32> to memref<8x31xf32>
  plan.copy %w to %own : memref<4x31xf32> to memref<4x31xf32>
  plan.gemm %x * %own -> %z : memref<8x4xf32> * memref<4x31xf32> -> memref<8x31xf32>
  plan.copy %v to %own : memref<4x31xf32> to memref<4x31xf32>
  plan.gemm %z * %own transposed -> %y : memref<8x31xf32> * memref<4x31xf32> -> memref<8x4xf32>
  plan.output "most" %most : memref<8x31xf32>
  plan.output "y" %y : memref<8x4xf32>
}

}
