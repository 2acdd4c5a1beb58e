// RUN: weft-opt --split-input-file --verify-diagnostics %s

plan.program "eval" @eval {
  %s = plan.alloc temporary : memref<4xf32>
  %f = plan.alloc temporary : memref<8xf32>
  // expected-error @+1 {{expects `link_us` to be a number from 0 to its est_us, but got 0x7FF8000000000000 : f64}}
  plan.all_gather %s to %f among 2 {est_us = 1.0 : f64, link_us = 0x7FF8000000000000 : f64} : memref<4xf32> to memref<8xf32>
}

// -----

plan.program "eval" @eval {
  %s = plan.alloc temporary : memref<4xf32>
  %f = plan.alloc temporary : memref<8xf32>
  // expected-error @+1 {{expects `link_us` to be a number from 0 to its est_us, but got 2.000000e+00 : f64}}
  plan.reduce_scatter %f to %s by 2.0, 1.0 among 2 {est_us = 1.0 : f64, link_us = 2.0 : f64} : memref<8xf32> to memref<4xf32>
}

// -----

plan.program "eval" @eval {
  %n = plan.alloc temporary : memref<f64>
  %m = plan.alloc temporary : memref<f64>
  // expected-error @+1 {{expects `link_us` to be a number from 0 to its est_us, but got "x"}}
  plan.all_reduce %n by ["sum"] to %m among 2 {est_us = 1.0 : f64, link_us = "x"} : memref<f64> to memref<f64>
}

// -----

plan.program "eval" @eval {
  %s = plan.alloc temporary : memref<4xf32>
  %f = plan.alloc temporary : memref<8xf32>
  // expected-error @+1 {{expects `link` to be a text, but got 3 : i64}}
  plan.all_gather %s to %f among 2 {est_us = 1.0 : f64, link = 3} : memref<4xf32> to memref<8xf32>
}

// -----

// expected-error @+1 {{(slows_compute: below 1, slows_compute_across: from 0 to below 1)}}
module attributes {plan.speeds = {gflops = 1.0 : f64, slows_compute = 5.0 : f64}} {
}

// -----

// expected-error @+1 {{(slows_compute: below 1, slows_compute_across: from 0 to below 1)}}
module attributes {plan.speeds = {gflops = 1.0 : f64, slows_compute_across = 1.0 : f64}} {
}
