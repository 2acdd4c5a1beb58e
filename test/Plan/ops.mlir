// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s

// Every op of the dialect, printed and parsed again.

// CHECK: plan.state param @fc1.weight : memref<4x2xf32> {source = "w", trainable = false}
plan.state param @fc1.weight : memref<4x2xf32> {trainable = false, source = "w"}
// CHECK: plan.state optimizer @fc1.weight.exp_avg : memref<4x2xf32> {offset = 64 : i64, param = @fc1.weight}
plan.state optimizer @fc1.weight.exp_avg : memref<4x2xf32> {param = @fc1.weight, offset = 64 : i64}

weft.kernel @k_1(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = weft.relu %a : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// CHECK-LABEL: plan.program "eval" @eval {
plan.program "eval" @eval {
  // CHECK: %[[X:.*]] = plan.input "x" : memref<8x4xf32>
  %x = plan.input "x" : memref<8x4xf32>
  // CHECK: %[[W:.*]] = plan.use @fc1.weight : memref<4x2xf32>
  %w = plan.use @fc1.weight : memref<4x2xf32>
  // CHECK: %[[A:.*]] = plan.alloc activation {offset = 4096 : i64} : memref<8x4xf32>
  %a = plan.alloc activation {offset = 4096 : i64} : memref<8x4xf32>
  // CHECK: plan.launch @k_1 ins(%[[X]] : memref<8x4xf32>) outs(%[[A]] : memref<8x4xf32>) {extent = 8 : i64, grain = 1 : i64, scope = "h.0"}
  plan.launch @k_1 ins(%x : memref<8x4xf32>) outs(%a : memref<8x4xf32>) {extent = 8 : i64, grain = 1 : i64, scope = "h.0"}
  // CHECK: %[[V:.*]] = plan.view %[[A]] : memref<8x4xf32> to memref<8x2xf32, strided<[4, 1], offset: 2>>
  %v = plan.view %a : memref<8x4xf32> to memref<8x2xf32, strided<[4, 1], offset: 2>>
  // CHECK: %[[Y:.*]] = plan.alloc temporary : memref<8x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  // CHECK: plan.copy %[[V]] to %[[Y]] : memref<8x2xf32, strided<[4, 1], offset: 2>> to memref<8x2xf32>
  plan.copy %v to %y : memref<8x2xf32, strided<[4, 1], offset: 2>> to memref<8x2xf32>
  // CHECK: plan.constant %[[Y]] = dense<1.000000e+00> : tensor<8x2xf32> : memref<8x2xf32>
  plan.constant %y = dense<1.0> : tensor<8x2xf32> : memref<8x2xf32>
  // CHECK: plan.call "weft_cpu_gemm"(read %[[X]] : memref<8x4xf32>, read %[[W]] : memref<4x2xf32>, update %[[Y]] : memref<8x2xf32>) ints [1, 8] floats [5.000000e-01] {est_us = 1.000000e+00 : f64, flops = 2.000000e+00 : f64}
  plan.call "weft_cpu_gemm"(read %x : memref<8x4xf32>, read %w : memref<4x2xf32>, update %y : memref<8x2xf32>) ints [1, 8] floats [0.5] {flops = 2.0 : f64, est_us = 1.0 : f64}
  // CHECK: plan.call "weft_cpu_fill"(write %[[Y]] : memref<8x2xf32>)
  plan.call "weft_cpu_fill"(write %y : memref<8x2xf32>)
  // CHECK: plan.output "y" %[[Y]] : memref<8x2xf32>
  plan.output "y" %y : memref<8x2xf32>
}
