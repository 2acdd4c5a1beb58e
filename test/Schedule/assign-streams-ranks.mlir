// RUN: weft-opt %s --weft-assign-streams | FileCheck %s

// Collectives keep the streams and events that overlap them with computation.
// CHECK-DAG: plan.event @ready on 0
// CHECK-DAG: plan.event @w.gather on 3
// CHECK-DAG: plan.event @uploaded on 1
plan.event @ready on 0
plan.event @w.gather on 3
plan.state param @w : memref<2xf32>

// CHECK: plan.program "eval" @eval
// CHECK: plan.wait @placed {stream = 1 : i64}
// CHECK: plan.upload
// CHECK: plan.copy
// CHECK-NEXT: plan.record @placed
// CHECK-NEXT: plan.record @ready
// CHECK-NEXT: plan.wait @ready {stream = 3 : i64}
// CHECK-NEXT: plan.all_gather {{.*}} {stream = 3 : i64}
// CHECK-NEXT: plan.record @w.gather {stream = 3 : i64}
// CHECK-NEXT: plan.wait @w.gather
// CHECK: plan.readback
plan.program "eval" @eval {
  %w = plan.use @w : memref<2xf32>
  %x = plan.input "x" : memref<4xf32>
  %y = plan.alloc temporary : memref<4xf32>
  plan.record @ready
  plan.wait @ready {stream = 3 : i64}
  plan.all_gather %w to %y among 2 {stream = 3 : i64} : memref<2xf32> to memref<4xf32>
  plan.record @w.gather {stream = 3 : i64}
  plan.wait @w.gather
  plan.copy %x to %y : memref<4xf32> to memref<4xf32>
  plan.output "loss" %y : memref<4xf32>
}

// A collective in stream 0 writes its result in the staging part, after the wait
// for the last run's results. The buffer of one in another stream is copied there.
// CHECK-LABEL: plan.program "micro" @micro
// CHECK: %[[COUNT:.*]] = plan.alloc temporary : memref<f64>
// CHECK: %[[LOSS:.*]] = plan.staging : memref<f64>
// CHECK: %[[WHOLE:.*]] = plan.alloc temporary : memref<4xf32>
// CHECK: %[[COPY:.*]] = plan.staging : memref<4xf32>
// CHECK: plan.constant %[[COUNT]]
// CHECK-NEXT: plan.wait @arrived
// CHECK-NEXT: plan.all_reduce %[[COUNT]] by ["sum"] to %[[LOSS]] among 2
// CHECK: plan.all_gather {{.*}} to %[[WHOLE]] among 2 {stream = 3 : i64}
// CHECK: plan.copy %[[WHOLE]] to %[[COPY]]
// CHECK-NEXT: plan.record @gathered
plan.program "micro" @micro {
  %w = plan.use @w : memref<2xf32>
  %count = plan.alloc temporary : memref<f64>
  %loss = plan.alloc temporary : memref<f64>
  %whole = plan.alloc temporary : memref<4xf32>
  plan.constant %count = dense<1.0> : tensor<f64> : memref<f64>
  plan.all_reduce %count by ["sum"] to %loss among 2 : memref<f64> to memref<f64>
  plan.record @ready
  plan.wait @ready {stream = 3 : i64}
  plan.all_gather %w to %whole among 2 {stream = 3 : i64} : memref<2xf32> to memref<4xf32>
  plan.record @w.gather {stream = 3 : i64}
  plan.wait @w.gather
  plan.output "loss" %loss : memref<f64>
  plan.output "weight" %whole : memref<4xf32>
}
