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
  %q = plan.alloc temporary : memref<2x16x4x8xf16>
  %k = plan.alloc temporary : memref<2x16x2x8xf16>
  %v = plan.alloc temporary : memref<2x16x2x8xf16>
  %o = plan.alloc temporary : memref<2x16x4x8xf16>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  %dq = plan.alloc temporary : memref<2x16x4x8xf16>
  %dk = plan.alloc temporary : memref<2x16x2x8xf16>
  %dv = plan.alloc temporary : memref<2x16x2x8xf16>
  %rng = plan.input "rng" : memref<2xi64>
  %t = plan.alloc temporary : memref<10x4xf32>
  %i = plan.input "ids" : memref<8xi32>
  // CHECK: plan.gemm %{{.*}} * %{{.*}} transposed -> %{{.*}} accumulate(%{{.*}} : memref<f32>) bias(%{{.*}} : memref<2xf32>) : memref<8x4xf32> * memref<2x4xf32> -> memref<8x2xf32>
  plan.gemm %x * %w transposed -> %y accumulate(%f : memref<f32>) bias(%b : memref<2xf32>) : memref<8x4xf32> * memref<2x4xf32> -> memref<8x2xf32>
  // CHECK: plan.gemm %{{.*}} transposed * %{{.*}} -> %{{.*}} accumulate : memref<8x2xf32> * memref<8x4xf32> -> memref<2x4xf32>
  plan.gemm %y transposed * %x -> %w accumulate : memref<8x2xf32> * memref<8x4xf32> -> memref<2x4xf32>
  // CHECK: plan.gemm {{.*}} epilogue gelu aux(%{{.*}} : memref<8x2xf32>) :
  plan.gemm %x * %w transposed -> %y epilogue gelu aux(%a : memref<8x2xf32>) : memref<8x4xf32> * memref<2x4xf32> -> memref<8x2xf32>
  // CHECK: plan.gemm {{.*}} epilogue relu_grad aux(%{{.*}} : memref<8x2xf32>) column_sum(%{{.*}} : memref<2xf32>) :
  plan.gemm %x * %w transposed -> %y epilogue relu_grad aux(%a : memref<8x2xf32>) column_sum(%c : memref<2xf32>) : memref<8x4xf32> * memref<2x4xf32> -> memref<8x2xf32>
  // CHECK: plan.attention %{{.*}}, %{{.*}}, %{{.*}} -> %{{.*}}, %{{.*}} rng(%{{.*}} : memref<2xi64>) {causal, dropout = 1.000000e-01 : f64, op_id = 3 : i64, scale = 1.250000e-01 : f64} : memref<2x16x4x8xf16>, memref<2x16x2x8xf16>, memref<2x16x2x8xf16> -> memref<2x16x4x8xf16>, memref<2x4x16xf32>
  plan.attention %q, %k, %v -> %o, %l rng(%rng : memref<2xi64>) {causal, dropout = 0.1 : f64, op_id = 3, scale = 0.125 : f64} : memref<2x16x4x8xf16>, memref<2x16x2x8xf16>, memref<2x16x2x8xf16> -> memref<2x16x4x8xf16>, memref<2x4x16xf32>
  // CHECK: plan.attention_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} -> %{{.*}}, %{{.*}}, %{{.*}} {scale = 1.250000e-01 : f64} : memref<2x16x4x8xf16>, memref<2x16x4x8xf16>, memref<2x16x2x8xf16>, memref<2x16x2x8xf16>, memref<2x16x4x8xf16>, memref<2x4x16xf32> -> memref<2x16x4x8xf16>, memref<2x16x2x8xf16>, memref<2x16x2x8xf16>
  plan.attention_grad %o, %q, %k, %v, %o, %l -> %dq, %dk, %dv {scale = 0.125 : f64} : memref<2x16x4x8xf16>, memref<2x16x4x8xf16>, memref<2x16x2x8xf16>, memref<2x16x2x8xf16>, memref<2x16x4x8xf16>, memref<2x4x16xf32> -> memref<2x16x4x8xf16>, memref<2x16x2x8xf16>, memref<2x16x2x8xf16>
  // CHECK: plan.embedding %{{.*}}[%{{.*}}] -> %{{.*}} : memref<10x4xf32>[memref<8xi32>] -> memref<8x4xf32>
  plan.embedding %t[%i] -> %x : memref<10x4xf32>[memref<8xi32>] -> memref<8x4xf32>
  // CHECK: plan.embedding_grad %{{.*}}[%{{.*}}] -> %{{.*}} accumulate(%{{.*}} : memref<f32>) : memref<8x4xf32>[memref<8xi32>] -> memref<10x4xf32>
  plan.embedding_grad %x[%i] -> %t accumulate(%f : memref<f32>) : memref<8x4xf32>[memref<8xi32>] -> memref<10x4xf32>
}

// CHECK-LABEL: plan.program "micro" @losses {
plan.program "micro" @losses {
  %x = plan.input "x" : memref<8x10xf32>
  %i = plan.input "targets" : memref<8xi32>
  %g = plan.input "seed" : memref<f32>
  %w = plan.alloc temporary : memref<10xf32>
  %loss = plan.alloc temporary : memref<f32>
  %lse = plan.alloc temporary : memref<8xf32>
  %d = plan.alloc temporary : memref<f32>
  %rng = plan.input "rng" : memref<2xi64>
  %s = plan.input "key" : memref<i64>
  // CHECK: plan.cross_entropy %{{.*}}, %{{.*}} weight(%{{.*}} : memref<10xf32>) -> loss(%{{.*}} : memref<f32>) lse(%{{.*}} : memref<8xf32>) denominator(%{{.*}} : memref<f32>) reduction sum {ignore_index = 3 : i64} : memref<8x10xf32>, memref<8xi32>
  plan.cross_entropy %x, %i weight(%w : memref<10xf32>) -> loss(%loss : memref<f32>) lse(%lse : memref<8xf32>) denominator(%d : memref<f32>) reduction sum {ignore_index = 3} : memref<8x10xf32>, memref<8xi32>
  // CHECK: plan.cross_entropy_grad grad(%{{.*}} : memref<f32>) %[[X:.*]], %{{.*}} lse(%{{.*}} : memref<8xf32>) denominator(%{{.*}} : memref<f32>) -> %[[X]] : memref<8x10xf32>, memref<8xi32> -> memref<8x10xf32>
  plan.cross_entropy_grad grad(%g : memref<f32>) %x, %i lse(%lse : memref<8xf32>) denominator(%d : memref<f32>) -> %x : memref<8x10xf32>, memref<8xi32> -> memref<8x10xf32>
  // CHECK: plan.accumulate %{{.*}} + %{{.*}} if(%{{.*}} : memref<f32>) -> %{{.*}} : memref<8xf32> + memref<8xf32> -> memref<8xf32>
  plan.accumulate %lse + %lse if(%g : memref<f32>) -> %lse : memref<8xf32> + memref<8xf32> -> memref<8xf32>
  // CHECK: plan.dropout %{{.*}} rng(%{{.*}} : memref<2xi64>) -> %{{.*}} {op_id = 3 : i64, p = 1.000000e-01 : f64} : memref<8xf32> -> memref<8xf32>
  plan.dropout %lse rng(%rng : memref<2xi64>) -> %lse {op_id = 3, p = 0.1 : f64} : memref<8xf32> -> memref<8xf32>
  // CHECK: plan.random_normal seed(%{{.*}} : memref<i64>) -> %{{.*}} {key = "w", mean = 0.000000e+00 : f64, std = 1.000000e+00 : f64} : memref<10xf32>
  plan.random_normal seed(%s : memref<i64>) -> %w {key = "w", mean = 0.0 : f64, std = 1.0 : f64} : memref<10xf32>
  // CHECK: plan.random_uniform seed(%{{.*}} : memref<i64>) -> %{{.*}} {first_element = 40 : i64, high = 1.000000e+00 : f64, key = "w", low = 0.000000e+00 : f64} : memref<10xf32>
  plan.random_uniform seed(%s : memref<i64>) -> %w {key = "w", low = 0.0 : f64, high = 1.0 : f64, first_element = 40} : memref<10xf32>
}

// CHECK-LABEL: plan.program "apply" @training {
plan.program "apply" @training {
  %g0 = plan.alloc temporary : memref<4xbf16>
  %w = plan.alloc temporary : memref<4xf32>
  %m = plan.alloc temporary : memref<4xf32>
  %v = plan.alloc temporary : memref<4xf32>
  %copy = plan.alloc temporary : memref<4xbf16>
  %norm = plan.alloc temporary : memref<f64>
  %total = plan.alloc temporary : memref<f64>
  %bad = plan.alloc temporary : memref<i1>
  %scale = plan.alloc temporary : memref<f32>
  %state = plan.alloc temporary : memref<3xi64>
  %end = plan.alloc temporary : memref<i1>
  %coef = plan.alloc temporary : memref<f32>
  %step = plan.alloc temporary : memref<i64>
  %lr = plan.input "lr" : memref<f64>
  %wd = plan.input "weight_decay" : memref<f64>
  // CHECK: plan.norm_and_check %{{.*}}, %{{.*}} -> norm(%{{.*}} : memref<f64>) found_inf(%{{.*}} : memref<i1>) {p = 2.000000e+00 : f64} : memref<4xbf16>, memref<4xf32>
  plan.norm_and_check %g0, %w -> norm(%norm : memref<f64>) found_inf(%bad : memref<i1>) {p = 2.0 : f64} : memref<4xbf16>, memref<4xf32>
  // CHECK: plan.total_norm norms(%{{.*}}, %{{.*}} : memref<f64>, memref<f64>) skips(%{{.*}}, %{{.*}} : memref<i1>, memref<i1>) scale(%{{.*}} : memref<f32>) -> %{{.*}} {p = 2.000000e+00 : f64} : memref<f64>
  plan.total_norm norms(%norm, %norm : memref<f64>, memref<f64>) skips(%bad, %bad : memref<i1>, memref<i1>) scale(%scale : memref<f32>) -> %total {p = 2.0 : f64} : memref<f64>
  // CHECK: plan.clip_coefficient norm(%{{.*}} : memref<f64>) max_norm(%{{.*}} : memref<f64>) scale(%{{.*}} : memref<f32>) -> %{{.*}} : memref<f32>
  plan.clip_coefficient norm(%total : memref<f64>) max_norm(%lr : memref<f64>) scale(%scale : memref<f32>) -> %coef : memref<f32>
  // CHECK: plan.step_increment %[[T:.*]] skip(%{{.*}} : memref<i1>) -> %[[T]] : memref<i64> -> memref<i64>
  plan.step_increment %step skip(%bad : memref<i1>) -> %step : memref<i64> -> memref<i64>
  // CHECK: plan.scaler_update deepspeed scale(%[[S:.*]] : memref<f32>) state(%[[N:.*]] : memref<3xi64>) found_inf(%{{.*}} : memref<i1>) -> new_scale(%[[S]] : memref<f32>) new_state(%[[N]] : memref<3xi64>) exhausted(%{{.*}} : memref<i1>) {backoff = 5.000000e-01 : f64, consecutive, growth = 2.000000e+00 : f64, hysteresis = 2 : i64, interval = 2000 : i64}
  plan.scaler_update deepspeed scale(%scale : memref<f32>) state(%state : memref<3xi64>) found_inf(%bad : memref<i1>) -> new_scale(%scale : memref<f32>) new_state(%state : memref<3xi64>) exhausted(%end : memref<i1>) {growth = 2.0 : f64, backoff = 0.5 : f64, interval = 2000, hysteresis = 2, consecutive}
  // CHECK: plan.optimizer adamw %{{.*}} moments(%{{.*}}, %{{.*}} : memref<4xf32>, memref<4xf32>) grad(%{{.*}} : memref<4xbf16>) coefficient(%{{.*}} : memref<f32>) skip(%{{.*}} : memref<i1>) step(%{{.*}} : memref<i64>) hyper(%{{.*}} : memref<f64>, memref<f64>, memref<f64>, memref<f64>, memref<f64>) -> working(%{{.*}} : memref<4xbf16>) {decay_scale = 0.000000e+00 : f64} : memref<4xf32>
  plan.optimizer adamw %w moments(%m, %v : memref<4xf32>, memref<4xf32>) grad(%g0 : memref<4xbf16>) coefficient(%coef : memref<f32>) skip(%bad : memref<i1>) step(%step : memref<i64>) hyper(%lr, %wd, %lr, %lr, %lr : memref<f64>, memref<f64>, memref<f64>, memref<f64>, memref<f64>) -> working(%copy : memref<4xbf16>) {decay_scale = 0.0 : f64} : memref<4xf32>
  // CHECK: plan.optimizer sgd %{{.*}} moments(%{{.*}} : memref<4xf32>) grad(%{{.*}} : memref<4xbf16>) coefficient(%{{.*}} : memref<f32>) skip(%{{.*}} : memref<i1>) step(%{{.*}} : memref<i64>) hyper(%{{.*}} : memref<f64>, memref<f64>, memref<f64>) {nesterov} : memref<4xf32>
  plan.optimizer sgd %w moments(%m : memref<4xf32>) grad(%g0 : memref<4xbf16>) coefficient(%coef : memref<f32>) skip(%bad : memref<i1>) step(%step : memref<i64>) hyper(%lr, %wd, %lr : memref<f64>, memref<f64>, memref<f64>) {nesterov} : memref<4xf32>
}
