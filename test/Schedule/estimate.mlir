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
  %a = plan.view %x : memref<1000xf32> to memref<10x100xf32>
  %b = plan.view %x : memref<1000xf32> to memref<100x10xf32>
  %c = plan.alloc temporary : memref<10x10xf32>
  // 8000 bytes at 2 GB/s.
  // CHECK: plan.copy {{.*}} {est_us = 4.500000e+00 : f64}
  plan.copy %x to %y : memref<1000xf32> to memref<1000xf32>
  // 9000 operations at 1 GFLOP/s take longer than the traffic.
  // CHECK: plan.gemm {{.*}} {est_us = 9.500000e+00 : f64, flops = 9000 : i64}
  plan.gemm %a * %b -> %c accumulate {flops = 9000} : memref<10x100xf32> * memref<100x10xf32> -> memref<10x10xf32>
  // 8000 bytes of factors, 400 of a result that is read and written.
  // CHECK: plan.gemm {{.*}} {est_us = 4.900000e+00 : f64}
  plan.gemm %a * %b -> %c accumulate : memref<10x100xf32> * memref<100x10xf32> -> memref<10x10xf32>
  // CHECK: plan.output "y" %{{.*}} : memref<1000xf32>
  plan.output "y" %y : memref<1000xf32>
}
