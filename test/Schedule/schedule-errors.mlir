// RUN: weft-opt --weft-split-async --split-input-file --verify-diagnostics %s
// RUN: not weft-opt --weft-schedule="prefetch=-1" %s --split-input-file 2>&1 | FileCheck %s
// RUN: not weft-opt --weft-schedule="prefetch-max=-2" %s --split-input-file 2>&1 | FileCheck %s --check-prefix=MOST
// MOST: error: expects `prefetch-max` of at least 0, but got -2

// CHECK: error: expects `prefetch` of at least 0, but got -1
// expected-error @+1 {{expects a name other than the event's, @w.gather of stream 3}}
plan.state param @w.gather : memref<4xf32>
plan.state param @w : memref<4xf32>
plan.program "eval" @eval {
  %w = plan.use @w : memref<4xf32>
  %f = plan.alloc temporary : memref<8xf32>
  plan.all_gather %w to %f among 2 : memref<4xf32> to memref<8xf32>
  plan.output "f" %f : memref<8xf32>
}

// -----

plan.state param @w : memref<4xf32>
// expected-error @+1 {{expects a name other than the event's, @w.gather of stream 3}}
plan.event @w.gather on 1
plan.program "eval" @eval {
  %w = plan.use @w : memref<4xf32>
  %f = plan.alloc temporary : memref<8xf32>
  plan.record @w.gather {stream = 1 : i64}
  plan.all_gather %w to %f among 2 : memref<4xf32> to memref<8xf32>
  plan.output "f" %f : memref<8xf32>
}
