// RUN: weft-opt %s --weft-add-device-workspaces="chips=sm_90" | FileCheck %s
// RUN: weft-opt %s --weft-add-workspaces="threads=4" | FileCheck %s --check-prefix=CPU

// A device stages the slices of all ranks, and the numbers of all ranks as f64.
// The runtime of the CPU has memory of its own for them.
// CPU-NOT: plan.alloc workspace
dist.mesh @mesh("replica" = 2, "shard" = 3)
plan.program "micro" @p {
  %f = plan.alloc temporary : memref<12xf16>
  %s = plan.alloc temporary : memref<4xf16>
  %s2 = plan.alloc temporary : memref<6xf16>
  %s3 = plan.alloc temporary : memref<2xf16>
  %n = plan.alloc temporary : memref<f64>
  %b = plan.alloc temporary : memref<i1>
  %m = plan.alloc temporary : memref<f64>
  %a = plan.alloc temporary : memref<i1>
  // CHECK: %[[SLICES:.*]] = plan.alloc workspace : memref<24xi8>
  // CHECK: %[[SHARED:.*]] = plan.alloc workspace : memref<24xi8>
  // CHECK: %[[NUMBERS:.*]] = plan.alloc workspace : memref<96xi8>
  // CHECK: plan.reduce_scatter %{{.*}} to %{{.*}} by 3.000000e+00, 1.000000e+00 workspace(%[[SLICES]] : memref<24xi8>) among 3 along "shard"
  plan.reduce_scatter %f to %s by 3.0, 1.0 among 3 along "shard" : memref<12xf16> to memref<4xf16>
  // Reductions of a stream run one after the other and share a buffer.
  // CHECK: plan.reduce_scatter {{.*}} workspace(%[[SHARED]] : memref<24xi8>) {{.*}} {stream = 4 : i64}
  // CHECK: plan.reduce_scatter {{.*}} workspace(%[[SHARED]] : memref<24xi8>) {{.*}} {stream = 4 : i64}
  plan.reduce_scatter %s2 to %s3 by 3.0, 1.0 among 3 along "shard" {stream = 4 : i64} : memref<6xf16> to memref<2xf16>
  plan.reduce_scatter %f to %s by 3.0, 1.0 among 3 along "shard" {stream = 4 : i64} : memref<12xf16> to memref<4xf16>
  // CHECK: plan.all_reduce {{.*}} workspace(%[[NUMBERS]] : memref<96xi8>) among 6
  plan.all_reduce %n, %b by ["sum", "or"] to %m, %a among 6 : memref<f64>, memref<i1> to memref<f64>, memref<i1>
  // CHECK: plan.all_gather
  // CHECK-NOT: workspace
  plan.all_gather %s to %f among 3 along "shard" : memref<4xf16> to memref<12xf16>
}
