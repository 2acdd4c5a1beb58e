// RUN: weft-opt %s | weft-opt | FileCheck %s

// Commands between ranks are read as they are printed.

// CHECK-LABEL: plan.program "apply" @apply
plan.program "apply" @apply {
  %g = plan.alloc temporary : memref<16xf16>
  %s = plan.alloc temporary : memref<8xf16>
  %f = plan.alloc temporary : memref<16xf16>
  %r = plan.alloc temporary : memref<i64>
  %n = plan.alloc temporary : memref<f64>
  %b = plan.alloc temporary : memref<i1>
  %sum = plan.alloc temporary : memref<f64>
  %any = plan.alloc temporary : memref<i1>
  // CHECK: plan.reduce_scatter %{{.*}} to %{{.*}} by 1.000000e+00, 2.000000e+00 among 2 along "shard" : memref<16xf16> to memref<8xf16>
  plan.reduce_scatter %g to %s by 1.0, 2.0 among 2 along "shard" : memref<16xf16> to memref<8xf16>
  // CHECK: plan.reduce_scatter %{{.*}} to %{{.*}} by 1.000000e+00, 2.000000e+00 native among 2 {scope = "h.0"} : memref<16xf16> to memref<8xf16>
  plan.reduce_scatter %g to %s by 1.0, 2.0 native among 2 {scope = "h.0"} : memref<16xf16> to memref<8xf16>
  // CHECK: plan.all_gather %{{.*}} to %{{.*}} among 2 {scope = "h.0"} : memref<8xf16> to memref<16xf16>
  plan.all_gather %s to %f among 2 {scope = "h.0"} : memref<8xf16> to memref<16xf16>
  // CHECK: plan.own_slice %{{.*}} to %{{.*}} among 2 along "shard" : memref<16xf16> to memref<8xf16>
  plan.own_slice %f to %s among 2 along "shard" : memref<16xf16> to memref<8xf16>
  // CHECK: plan.rank to %{{.*}} among 2 along "shard" : memref<i64>
  plan.rank to %r among 2 along "shard" : memref<i64>
  // CHECK: plan.all_reduce %{{.*}}, %{{.*}} by ["sum", "or"] to %{{.*}}, %{{.*}} among 4 : memref<f64>, memref<i1> to memref<f64>, memref<i1>
  plan.all_reduce %n, %b by ["sum", "or"] to %sum, %any among 4 : memref<f64>, memref<i1> to memref<f64>, memref<i1>
}
