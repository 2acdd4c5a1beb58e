// RUN: split-file %s %t
// RUN: weft-opt --weft-estimate=cost-table=%t/costs.toml %t/plan.mlir | FileCheck %s
// RUN: weft-opt --weft-estimate %t/plan.mlir | FileCheck %s --check-prefix=DEFAULT
// RUN: not weft-opt --weft-estimate=cost-table=%t/key.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: not weft-opt --weft-estimate=cost-table=%t/axis.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not weft-opt --weft-estimate=cost-table=%t/slow.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=SLOW
// RUN: not weft-opt --weft-estimate=cost-table=%t/across.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=ACROSS
// RUN: weft-opt --weft-estimate=cost-table=%t/zero.toml %t/plan.mlir | FileCheck %s --check-prefix=ZERO
// RUN: not weft-opt --weft-estimate=cost-table=%t/below.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=BELOW
// RUN: not weft-opt --weft-estimate=cost-table=%t/type.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not weft-opt --weft-estimate=cost-table=%t/flops.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=FLOPS
// RUN: not weft-opt --weft-estimate=cost-table=%t/time.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=TIME

// A collective takes the latency of its link and the time in which a rank sends
// to all others. What it says of its kind wins over what the link says.

//--- costs.toml
[link]
gigabytes_per_second = 1
latency_us = 10
slows_compute = 0.25
beside_us = 30
begin_us = 40

[link.node]
latency_us = 20

[reduce_scatter]
gigabytes_per_second = 2
overhead_us = 50000

//--- plan.mlir
// CHECK: plan.speeds = {begin_us = 4.000000e+01 : f64, beside_us = 3.000000e+01 : f64, {{.*}}slows_compute = 2.500000e-01 : f64}
plan.program "eval" @eval {
  %s = plan.alloc temporary : memref<1000xf32>
  %f = plan.alloc temporary : memref<4000xf32>
  %g = plan.alloc temporary : memref<2000xf32>
  %t = plan.alloc temporary : memref<1000xf32>
  %n = plan.alloc temporary : memref<f64>
  %m = plan.alloc temporary : memref<f64>
  // Three times 4000 bytes.
  // CHECK: plan.all_gather {{.*}} among 4 {est_us = 2.200000e+01 : f64, link_us = 1.200000e+01 : f64}
  // DEFAULT: plan.all_gather {{.*}} among 4 {est_us = 5.400000e+01 : f64, link_us = 4.000000e+00 : f64}
  plan.all_gather %s to %f among 4 : memref<1000xf32> to memref<4000xf32>
  // CHECK: plan.all_gather {{.*}} along "node" {est_us = 2.400000e+01 : f64, link_us = 4.000000e+00 : f64}
  plan.all_gather %s to %g among 2 along "node" : memref<1000xf32> to memref<2000xf32>
  // CHECK: plan.reduce_scatter {{.*}} {est_us = 5.000600e+04 : f64, link_us = 6.000000e+00 : f64}
  plan.reduce_scatter %f to %s by 2.0, 2.0 among 4 : memref<4000xf32> to memref<1000xf32>
  // CHECK: plan.all_reduce {{.*}} {est_us = 1.002400e+01 : f64, link_us = 2.400000e-02 : f64}
  plan.all_reduce %n by ["sum"] to %m among 4 : memref<f64> to memref<f64>
  // One rank sends nothing.
  // CHECK: plan.all_gather {{.*}} among 1 {est_us = {{[0-9.e+]*}} : f64} :
  plan.all_gather %s to %t among 1 : memref<1000xf32> to memref<1000xf32>
}

//--- key.toml
[link]
bandwidth = 1
# KEY: key.toml:2:{{.*}}expects gigabytes_per_second, latency_us, slows_compute, slows_compute_across, beside_us, begin_us or a table of an axis, but got `bandwidth`

//--- axis.toml
[link.dp]
slows_compute = 0.5
# AXIS: axis.toml:2:{{.*}}expects gigabytes_per_second or latency_us, but got `slows_compute`

//--- slow.toml
[link]
slows_compute = 1
# SLOW: slow.toml:2:{{.*}}expects `slows_compute` to be a number from 0 to below 1, but got 1

//--- across.toml
[link]
slows_compute_across = -0.1
# ACROSS: across.toml:2:{{.*}}expects `slows_compute_across` to be a number from 0 to below 1, but got -0.1

//--- zero.toml
# As without: 3 GB/s, 50 us.
[link]
slows_compute = 0
beside_us = 0
begin_us = 0.0
# ZERO: plan.speeds = {gflops = 2.000000e+02 : f64, gigabytes_per_second = 4.500000e+01 : f64}

//--- below.toml
[link]
beside_us = -0.5
# BELOW: below.toml:2:{{.*}}expects `beside_us` to be 0 or a number from 1e-6 to 1e12, but got -0.5

//--- type.toml
[all_gather.f32]
overhead_us = 3
# TYPE: type.toml:1:{{[0-9]+}}: error: expects gigabytes_per_second or overhead_us of a collective, but got `f32`

//--- flops.toml
[reduce_scatter]
gflops = 3
# FLOPS: flops.toml:2:{{[0-9]+}}: error: expects gigabytes_per_second or overhead_us of a collective, but got `gflops`

//--- time.toml
[link]
begin_us = 1e13
# TIME: time.toml:2:{{[0-9]+}}: error: expects `begin_us` to be 0 or a number from 1e-6 to 1e12, but got 1e+13
