// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s

// Every op of the dialect, printed and parsed again.

// CHECK: plan.state param @fc1.weight : memref<4x2xf32> {source = "w", trainable = false}
plan.state param @fc1.weight : memref<4x2xf32> {trainable = false, source = "w"}
// CHECK: plan.state optimizer @fc1.weight.exp_avg : memref<4x2xf32> {offset = 64 : i64, param = @fc1.weight}
plan.state optimizer @fc1.weight.exp_avg : memref<4x2xf32> {param = @fc1.weight, offset = 64 : i64}
// CHECK: plan.state param @flat : memref<40xf32> {segments = [#plan.segment<@a [4, 5] at 0 to 20>, #plan.segment<@b [8] at 32 to 40 source "c">], slices = 2 : i64}
plan.state param @flat : memref<40xf32> {slices = 2, segments = [#plan.segment<@a [4, 5] at 0 to 20>, #plan.segment<@b [8] at 32 to 40 source "c">]}
// CHECK: plan.state gradient @flat.grad : memref<40xf32> {segments = [#plan.segment<@a [4, 5] at 0 to 20>], slot = "grad"}
plan.state gradient @flat.grad : memref<40xf32> {slot = "grad", segments = [#plan.segment<@a [4, 5] at 0 to 20>]}

weft.kernel @k_1(%a: tensor<8x4xf32>) -> tensor<8x4xf32> elementwise [32] inplace [[]] {
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
  // CHECK: %[[V:.*]] = plan.view %[[A]] : memref<8x4xf32> to memref<8x2xf32, strided<[4, 1], offset: 2>>
  %v = plan.view %a : memref<8x4xf32> to memref<8x2xf32, strided<[4, 1], offset: 2>>
  // CHECK: %[[Y:.*]] = plan.alloc temporary : memref<8x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  // CHECK: plan.launch @k_1 ins(%[[X]] : memref<8x4xf32>) outs(%[[A]] : memref<8x4xf32>) {scope = "h.0"}
  plan.launch @k_1 ins(%x : memref<8x4xf32>) outs(%a : memref<8x4xf32>) {scope = "h.0"}
  // CHECK: plan.copy %[[V]] to %[[Y]] : memref<8x2xf32, strided<[4, 1], offset: 2>> to memref<8x2xf32>
  plan.copy %v to %y : memref<8x2xf32, strided<[4, 1], offset: 2>> to memref<8x2xf32>
  // CHECK: plan.constant %[[Y]] = dense<1.000000e+00> : tensor<8x2xf32> : memref<8x2xf32>
  plan.constant %y = dense<1.0> : tensor<8x2xf32> : memref<8x2xf32>
  // CHECK: plan.gemm %[[X]] * %[[W]] -> %[[Y]] {est_us = 1.000000e+00 : f64, flops = 128 : i64} : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
  plan.gemm %x * %w -> %y {flops = 128 : i64, est_us = 1.0 : f64} : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
  // CHECK: plan.copy %[[V]] to %[[Y]] {stream = 2 : i64} : memref<8x2xf32, strided<[4, 1], offset: 2>> to memref<8x2xf32>
  plan.copy %v to %y {stream = 2} : memref<8x2xf32, strided<[4, 1], offset: 2>> to memref<8x2xf32>
  // CHECK: plan.output "y" %[[Y]] : memref<8x2xf32>
  plan.output "y" %y : memref<8x2xf32>
}

// Every clause of every command.
// CHECK-LABEL: plan.program "micro" @matrices {
plan.program "micro" @matrices {
  %x = plan.input "x" : memref<8x4xf32>
  %w = plan.alloc temporary : memref<2x4xf32>
  %b = plan.alloc temporary : memref<2xf32>
  %c = plan.alloc temporary : memref<2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  %a = plan.alloc temporary : memref<8x2xf32>
  %f = plan.input "accumulate" : memref<f32>
  %ls = plan.alloc temporary : memref<8xf32>
  %q = plan.alloc temporary : memref<2x16x4x8xf16>
  %k = plan.alloc temporary : memref<2x16x2x8xf16>
  %v = plan.alloc temporary : memref<2x16x2x8xf16>
  %o = plan.alloc temporary : memref<2x16x4x8xf16>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  %dq = plan.alloc temporary : memref<2x16x4x8xf16>
  %dk = plan.alloc temporary : memref<2x16x2x8xf16>
  %dv = plan.alloc temporary : memref<2x16x2x8xf16>
  %rng = plan.input "rng" : memref<2xi64>
  %s = plan.input "segments" : memref<2x16xi32>
  %t = plan.alloc temporary : memref<10x4xf32>
  %i = plan.input "ids" : memref<8xi32>
  %bits = plan.alloc temporary : memref<2x4x4x1x32xi32>
  // CHECK: plan.gemm %{{.*}} * %{{.*}} transposed -> %{{.*}} accumulate(%{{.*}} : memref<f32>) bias(%{{.*}} : memref<2xf32>) : memref<8x4xf32> * memref<2x4xf32> -> memref<8x2xf32>
  plan.gemm %x * %w transposed -> %y accumulate(%f : memref<f32>) bias(%b : memref<2xf32>) : memref<8x4xf32> * memref<2x4xf32> -> memref<8x2xf32>
  // CHECK: plan.gemm %{{.*}} transposed * %{{.*}} -> %{{.*}} accumulate : memref<8x2xf32> * memref<8x4xf32> -> memref<2x4xf32>
  plan.gemm %y transposed * %x -> %w accumulate : memref<8x2xf32> * memref<8x4xf32> -> memref<2x4xf32>
  // CHECK: plan.gemm {{.*}} epilogue gelu aux(%{{.*}} : memref<8x2xf32>) :
  plan.gemm %x * %w transposed -> %y epilogue gelu aux(%a : memref<8x2xf32>) : memref<8x4xf32> * memref<2x4xf32> -> memref<8x2xf32>
  // CHECK: plan.gemm {{.*}} epilogue relu_grad aux(%{{.*}} : memref<8x2xf32>) column_sum(%{{.*}} : memref<2xf32>) :
  plan.gemm %x * %w transposed -> %y epilogue relu_grad aux(%a : memref<8x2xf32>) column_sum(%c : memref<2xf32>) : memref<8x4xf32> * memref<2x4xf32> -> memref<8x2xf32>
  // CHECK: plan.gemm {{.*}} transposed -> %{{.*}} accumulate column_sum(%{{.*}} : memref<2xf32>) lhs_sum(%{{.*}} : memref<8xf32>) rhs_sum(%{{.*}} : memref<2xf32>) :
  plan.gemm %x * %w transposed -> %y accumulate column_sum(%c : memref<2xf32>) lhs_sum(%ls : memref<8xf32>) rhs_sum(%b : memref<2xf32>) : memref<8x4xf32> * memref<2x4xf32> -> memref<8x2xf32>
  // CHECK: plan.attention %{{.*}}, %{{.*}}, %{{.*}} -> %{{.*}}, %{{.*}} rng(%{{.*}} : memref<2xi64>) {causal, dropout = 1.000000e-01 : f64, op_id = 3 : i64, scale = 1.250000e-01 : f64} : memref<2x16x4x8xf16>, memref<2x16x2x8xf16>, memref<2x16x2x8xf16> -> memref<2x16x4x8xf16>, memref<2x4x16xf32>
  plan.attention %q, %k, %v -> %o, %l rng(%rng : memref<2xi64>) {causal, dropout = 0.1 : f64, op_id = 3, scale = 0.125 : f64} : memref<2x16x4x8xf16>, memref<2x16x2x8xf16>, memref<2x16x2x8xf16> -> memref<2x16x4x8xf16>, memref<2x4x16xf32>
  // CHECK: plan.attention_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} -> %{{.*}}, %{{.*}}, %{{.*}} {scale = 1.250000e-01 : f64} : memref<2x16x4x8xf16>, memref<2x16x4x8xf16>, memref<2x16x2x8xf16>, memref<2x16x2x8xf16>, memref<2x16x4x8xf16>, memref<2x4x16xf32> -> memref<2x16x4x8xf16>, memref<2x16x2x8xf16>, memref<2x16x2x8xf16>
  plan.attention_grad %o, %q, %k, %v, %o, %l -> %dq, %dk, %dv {scale = 0.125 : f64} : memref<2x16x4x8xf16>, memref<2x16x4x8xf16>, memref<2x16x2x8xf16>, memref<2x16x2x8xf16>, memref<2x16x4x8xf16>, memref<2x4x16xf32> -> memref<2x16x4x8xf16>, memref<2x16x2x8xf16>, memref<2x16x2x8xf16>
  // CHECK: plan.attention %{{.*}} rng(%{{.*}} : memref<2xi64>) bits(%{{.*}} : memref<2x4x4x1x32xi32>) {dropout = 1.000000e-01 : f64
  plan.attention %q, %k, %v -> %o, %l rng(%rng : memref<2xi64>) bits(%bits : memref<2x4x4x1x32xi32>) {dropout = 0.1 : f64, op_id = 3, scale = 0.125 : f64} : memref<2x16x4x8xf16>, memref<2x16x2x8xf16>, memref<2x16x2x8xf16> -> memref<2x16x4x8xf16>, memref<2x4x16xf32>
  // CHECK: plan.attention_grad %{{.*}} bits(%{{.*}} : memref<2x4x4x1x32xi32>) {dropout = 1.000000e-01 : f64
  plan.attention_grad %o, %q, %k, %v, %o, %l -> %dq, %dk, %dv bits(%bits : memref<2x4x4x1x32xi32>) {dropout = 0.1 : f64, op_id = 3, scale = 0.125 : f64} : memref<2x16x4x8xf16>, memref<2x16x4x8xf16>, memref<2x16x2x8xf16>, memref<2x16x2x8xf16>, memref<2x16x4x8xf16>, memref<2x4x16xf32> -> memref<2x16x4x8xf16>, memref<2x16x2x8xf16>, memref<2x16x2x8xf16>
  // CHECK: plan.attention %{{.*}} segments(%{{.*}} : memref<2x16xi32>) {causal, scale = 1.250000e-01 : f64, softcap = 5.000000e+01 : f64, window = 8 : i64} : memref<2x16x4x8xf16>
  plan.attention %q, %k, %v -> %o, %l segments(%s : memref<2x16xi32>) {causal, scale = 0.125 : f64, softcap = 50.0 : f64, window = 8 : i64} : memref<2x16x4x8xf16>, memref<2x16x2x8xf16>, memref<2x16x2x8xf16> -> memref<2x16x4x8xf16>, memref<2x4x16xf32>
  // CHECK: plan.embedding %{{.*}}[%{{.*}}] -> %{{.*}} : memref<10x4xf32>[memref<8xi32>] -> memref<8x4xf32>
  plan.embedding %t[%i] -> %x : memref<10x4xf32>[memref<8xi32>] -> memref<8x4xf32>
  // CHECK: plan.embedding_grad %{{.*}}[%{{.*}}] -> %{{.*}} accumulate(%{{.*}} : memref<f32>) : memref<8x4xf32>[memref<8xi32>] -> memref<10x4xf32>
  plan.embedding_grad %x[%i] -> %t accumulate(%f : memref<f32>) : memref<8x4xf32>[memref<8xi32>] -> memref<10x4xf32>
}
