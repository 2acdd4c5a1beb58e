// RUN: weft-opt --weft-estimate %s | FileCheck %s --check-prefix=CPU
// RUN: weft-opt --weft-estimate=rates=h100 %s | FileCheck %s --check-prefix=H100

// Without a table: a read and a write of 4 MB at 45 GB/s behind 1 us, or at 2500 GB/s behind 3 us.
// CPU: plan.copy {{.*}}est_us = 178.7
// H100: plan.copy {{.*}}est_us = 6.2
plan.program "eval" @eval {
  %x = plan.alloc activation : memref<1000000xf32>
  %y = plan.alloc activation : memref<1000000xf32>
  plan.copy %x to %y : memref<1000000xf32> to memref<1000000xf32>
}
