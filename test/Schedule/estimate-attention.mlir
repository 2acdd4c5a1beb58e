// RUN: split-file %s %t
// RUN: weft-opt --weft-estimate=cost-table=%t/costs.toml %t/plan.mlir | FileCheck %s
// RUN: weft-opt --weft-estimate=cost-table=%t/threads.toml %t/plan.mlir | FileCheck %s --check-prefix=THREADS
// RUN: weft-opt --weft-estimate=cost-table=%t/products.toml %t/plan.mlir | FileCheck %s --check-prefix=PRODUCTS

// With a rate of scores, products, softmax and traffic of attention add up. Causal
// attention counts whole tiles of 64: of 128 queries 3 tiles, 12288 pairs a head.

//--- costs.toml
format = 2
overhead_us = 1
gflops = 1
gigabytes_per_second = 1

[attention]
gigascores_per_second = 0.1

[attention_grad]
gigascores_per_second = 0.01

//--- threads.toml
format = 2
threads = 2
overhead_us = 0
gflops = 1
gigabytes_per_second = 1e12

//--- products.toml
overhead_us = 1
gflops = 1
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
