// RUN: split-file %s %t
// RUN: weft-opt --weft-estimate=cost-table=%t/costs.toml %t/plan.mlir | FileCheck %s
// RUN: weft-opt --weft-estimate=cost-table=%t/threads.toml %t/plan.mlir | FileCheck %s --check-prefix=THREADS
// RUN: weft-opt --weft-estimate=cost-table=%t/products.toml %t/plan.mlir | FileCheck %s --check-prefix=PRODUCTS

// RUN: weft-opt --weft-estimate=cost-table=%t/products.toml %t/dropout.mlir | FileCheck %s --check-prefix=CPU
// RUN: weft-opt --weft-estimate="rates=h100 cost-table=%t/cuda.toml" %t/dropout.mlir | FileCheck %s --check-prefix=CUDA
// RUN: weft-opt --weft-estimate="rates=h100 cost-table=%t/traffic.toml" %t/dropout.mlir | FileCheck %s --check-prefix=TRAFFIC

// With a rate of scores, products, softmax and traffic of attention add up. Causal
// attention counts whole tiles of 64: of 128 queries 3 tiles, 12288 pairs a head.

//--- costs.toml
format = 2
target = "cpu"
overhead_us = 1
gflops = 1
gigabytes_per_second = 1

[attention]
gigascores_per_second = 0.1

[attention_grad]
gigascores_per_second = 0.01

//--- threads.toml
format = 2
target = "cpu"
threads = 2
overhead_us = 0
gflops = 1
gigabytes_per_second = 1e12

//--- products.toml
overhead_us = 1
gflops = 1
gigabytes_per_second = 1

//--- cuda.toml
format = 2
target = "cuda"
overhead_us = 1
gflops = 1
gigabytes_per_second = 1

//--- traffic.toml
format = 2
target = "cuda"
overhead_us = 0
gflops = 1e12
gigabytes_per_second = 1

//--- plan.mlir
plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<1x128x3x8xf32>
  %k = plan.alloc temporary : memref<1x128x3x8xf32>
  %v = plan.alloc temporary : memref<1x128x3x8xf32>
  %o = plan.alloc temporary : memref<1x128x3x8xf32>
  %l = plan.alloc temporary : memref<1x3x128xf32>
  %g = plan.alloc temporary : memref<1x128x3x8xf32>
  %dq = plan.alloc temporary : memref<1x128x3x8xf32>
  %dk = plan.alloc temporary : memref<1x128x3x8xf32>
  %dv = plan.alloc temporary : memref<1x128x3x8xf32>
  // 1 us, 1000 us of products, 368.64 us of 36864 scores, 50.688 us of bytes.
  // CHECK: plan.attention %{{.*}}est_us = 1420.328
  // 6 units of work on 2 threads.
  // THREADS: plan.attention %{{.*}}est_us = 1.000000e+03
  // The longer of products and bytes.
  // PRODUCTS: plan.attention %{{.*}}est_us = 1.001000e+03
  plan.attention %q, %k, %v -> %o, %l {causal, scale = 0.125 : f64, flops = 1000000 : i64} : memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x128x3x8xf32> -> memref<1x128x3x8xf32>, memref<1x3x128xf32>
  // Without a mask 49152 scores, 4915.2 us.
  // CHECK: plan.attention_grad %{{.*}}est_us = 6.016040e+03
  // 3 units of work: one thread has 2.
  // THREADS: plan.attention_grad %{{.*}}est_us = 1333.33
  // PRODUCTS: plan.attention_grad %{{.*}}est_us = 1.001000e+03
  plan.attention_grad %g, %q, %k, %v, %o, %l -> %dq, %dk, %dv {scale = 0.125 : f64, flops = 1000000 : i64} : memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x3x128xf32> -> memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x128x3x8xf32>
}

//--- dropout.mlir
// 49152 scores. The forward command draws each number once; `flops` counts that.
// Gradients draw once on a CPU, and twice on a device: 6291.456 us more at 1 GFLOP/s.
// With stored bits they draw nothing, and read 6144 bytes in place of a seed of 16.
plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<1x128x3x8xf32>
  %o = plan.alloc temporary : memref<1x128x3x8xf32>
  %l = plan.alloc temporary : memref<1x3x128xf32>
  %dq = plan.alloc temporary : memref<1x128x3x8xf32>
  %dk = plan.alloc temporary : memref<1x128x3x8xf32>
  %dv = plan.alloc temporary : memref<1x128x3x8xf32>
  %rng = plan.alloc temporary : memref<2xi64>
  %bits = plan.alloc temporary : memref<1x3x8x2x32xi32>
  // CPU: plan.attention %{{.*}}est_us = 1.001000e+03
  // CUDA: plan.attention %{{.*}}est_us = 1.001000e+03
  // TRAFFIC: plan.attention %{{.*}}est_us = 5.684800e+01
  plan.attention %q, %q, %q -> %o, %l rng(%rng : memref<2xi64>) bits(%bits : memref<1x3x8x2x32xi32>) {scale = 0.125 : f64, dropout = 0.1 : f64, flops = 1000000 : i64} : memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x128x3x8xf32> -> memref<1x128x3x8xf32>, memref<1x3x128xf32>
  // CPU: plan.attention_grad %{{.*}} rng({{.*}}est_us = 1.001000e+03
  // CUDA: plan.attention_grad %{{.*}} rng({{.*}}est_us = 7292.456
  // TRAFFIC: plan.attention_grad %{{.*}} rng({{.*}}est_us = 99.85
  plan.attention_grad %o, %q, %q, %q, %o, %l -> %dq, %dk, %dv rng(%rng : memref<2xi64>) {scale = 0.125 : f64, dropout = 0.1 : f64, flops = 1000000 : i64} : memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x3x128xf32> -> memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x128x3x8xf32>
  // CPU: plan.attention_grad %{{.*}} bits({{.*}}est_us = 1.001000e+03
  // CUDA: plan.attention_grad %{{.*}} bits({{.*}}est_us = 1.001000e+03
  // TRAFFIC: plan.attention_grad %{{.*}} bits({{.*}}est_us = 1.059840e+02
  plan.attention_grad %o, %q, %q, %q, %o, %l -> %dq, %dk, %dv bits(%bits : memref<1x3x8x2x32xi32>) {scale = 0.125 : f64, dropout = 0.1 : f64, flops = 1000000 : i64} : memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x3x128xf32> -> memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x128x3x8xf32>
}
