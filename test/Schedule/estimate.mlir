// RUN: split-file %s %t
// RUN: weft-opt --weft-estimate=cost-table=%t/costs.toml %t/plan.mlir | FileCheck %s

// The longer of arithmetic and traffic, plus the overhead.

//--- costs.toml
gflops = 1
gigabytes_per_second = 2
overhead_us = 0.5

//--- plan.mlir
plan.program "eval" @eval {
  %x = plan.input "x" : memref<1000xf32>
  %y = plan.alloc temporary : memref<1000xf32>
  // 8000 bytes at 2 GB/s.
  // CHECK: plan.copy {{.*}} {est_us = 4.500000e+00 : f64}
  plan.copy %x to %y : memref<1000xf32> to memref<1000xf32>
  // 9000 operations at 1 GFLOP/s; 12000 bytes, since %y is read and written.
  // CHECK: plan.call "weft_cpu_accumulate"{{.*}} {est_us = 9.500000e+00 : f64, flops = 9.000000e+03 : f64}
  plan.call "weft_cpu_accumulate"(read %x : memref<1000xf32>, update %y : memref<1000xf32>) {flops = 9.0e3 : f64}
  // CHECK: plan.call "weft_cpu_dropout"{{.*}} {est_us = 6.500000e+00 : f64}
  plan.call "weft_cpu_dropout"(read %x : memref<1000xf32>, update %y : memref<1000xf32>)
  // CHECK: plan.output "y" %{{.*}} : memref<1000xf32>
  plan.output "y" %y : memref<1000xf32>
}
