// RUN: split-file %s %t
// RUN: weft-opt --weft-estimate=cost-table=%t/costs.toml %t/plan.mlir | FileCheck %s

// Each rate comes from the kind and type, else from the kind, else from the type,
// else from all commands.

//--- costs.toml
gflops = 1
gigabytes_per_second = 1
overhead_us = 1

[bf16]
gflops = 2
overhead_us = 2

[gemm]
gflops = 4

[gemm.bf16]
overhead_us = 8

[copy]
i32 = { gigabytes_per_second = 4 }

//--- plan.mlir
// CHECK: module attributes {plan.speeds = {gflops = 1.000000e+00 : f64, gigabytes_per_second = 1.000000e+00 : f64}}
plan.program "eval" @eval {
  %x = plan.input "x" : memref<100x1xf32>
  %w = plan.input "w" : memref<1x100xf32>
  %u = plan.input "u" : memref<100x1xbf16>
  %v = plan.input "v" : memref<1x100xbf16>
  %i = plan.input "i" : memref<1000xi32>
  %b = plan.input "b" : memref<1000xbf16>
  %y = plan.alloc temporary : memref<100x100xf32>
  %j = plan.alloc temporary : memref<1000xi32>
  %c = plan.alloc temporary : memref<1000xbf16>
  // 400,000 operations at the 4 GFLOP/s of products.
  // CHECK: plan.gemm {{.*}} {est_us = 1.010000e+02 : f64, {{.*}} : memref<100x1xf32> *
  plan.gemm %x * %w -> %y {flops = 400000} : memref<100x1xf32> * memref<1x100xf32> -> memref<100x100xf32>
  // The factors are bf16, though what they are added to is larger.
  // CHECK: plan.gemm {{.*}} {est_us = 1.080000e+02 : f64, {{.*}} : memref<100x1xbf16> *
  plan.gemm %u * %v -> %y accumulate {flops = 400000} : memref<100x1xbf16> * memref<1x100xbf16> -> memref<100x100xf32>
  // 8000 bytes at 4 GB/s.
  // CHECK: plan.copy {{.*}} {est_us = 3.000000e+00 : f64} : memref<1000xi32>
  plan.copy %i to %j : memref<1000xi32> to memref<1000xi32>
  // 4000 bytes at the 1 GB/s of all, with the overhead of bf16.
  // CHECK: plan.copy {{.*}} {est_us = 6.000000e+00 : f64} : memref<1000xbf16>
  plan.copy %b to %c : memref<1000xbf16> to memref<1000xbf16>
  // It reads nothing, so its type is the one that it writes.
  // CHECK: plan.constant {{.*}} {est_us = 4.000000e+00 : f64} : memref<1000xbf16>
  plan.constant %c = dense<0.0> : tensor<1000xbf16> : memref<1000xbf16>
}
