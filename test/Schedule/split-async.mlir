// RUN: weft-opt --weft-split-async %s | FileCheck %s
// RUN: weft-opt --weft-split-async="share-stream=true" %s | FileCheck %s --check-prefix=SHARED

dist.mesh @mesh("replica" = 2, "shard" = 2)
plan.state param @h.0.flat : memref<4xf32>
plan.state param @low : memref<4xf32>
plan.state gradient @h.0.flat.grad : memref<4xf32> {param = @h.0.flat}
plan.state gradient @low.grad : memref<4xf32> {param = @low}

// Each event once, whatever number of programs records it.
// CHECK-DAG: plan.event @ready on 0
// CHECK-DAG: plan.event @h.0.flat.gather on 3
// CHECK-DAG: plan.event @low.gather on 3
// CHECK-DAG: plan.event @h.0.flat.grad.reduce on 4
// CHECK-DAG: plan.event @low.grad.reduce on 4
// CHECK-DAG: plan.event @head.gather on 3
// SHARED-DAG: plan.event @h.0.flat.grad.reduce on 3

// A gather among several ranks is waited for behind it; one rank needs none.
// CHECK-LABEL: plan.program "eval" @eval
plan.program "eval" @eval {
  %s = plan.use @h.0.flat : memref<4xf32>
  %w = plan.alloc temporary : memref<8xf32>
  %v = plan.alloc temporary : memref<8xf32>
  %n = plan.alloc temporary : memref<f64>
  %m = plan.alloc temporary : memref<f64>
  // CHECK: plan.record @ready
  // CHECK-NEXT: plan.wait @ready {stream = 3 : i64}
  // CHECK-NEXT: plan.all_gather %{{.*}} to %[[W:.*]] among 2 along "shard" {scope = "h.0", stream = 3 : i64}
  // CHECK-NEXT: plan.record @h.0.flat.gather {stream = 3 : i64}
  // CHECK-NEXT: plan.wait @h.0.flat.gather{{$}}
  plan.all_gather %s to %w among 2 along "shard" {scope = "h.0"} : memref<4xf32> to memref<8xf32>
  // CHECK-NEXT: plan.all_gather %[[W]] to %{{.*}} among 1 :
  plan.all_gather %w to %v among 1 : memref<8xf32> to memref<8xf32>
  // Numbers are needed at once.
  // CHECK-NEXT: plan.constant
  // CHECK-NEXT: plan.all_reduce %{{.*}} by ["sum"] to %{{.*}} among 4 :
  plan.constant %n = dense<0.0> : tensor<f64> : memref<f64>
  plan.all_reduce %n by ["sum"] to %m among 4 : memref<f64> to memref<f64>
  plan.output "v" %v : memref<8xf32>
}

// A cast before or after it takes the name of its state; without a state, the event has
// the name of the scope.
// CHECK-LABEL: plan.program "logits" @logits
plan.program "logits" @logits {
  %s = plan.use @low : memref<4xf32>
  %c = plan.alloc temporary : memref<4xf32>
  %d = plan.alloc temporary : memref<4xf32>
  %w = plan.alloc temporary : memref<8xf32>
  %v = plan.alloc temporary : memref<8xf32>
  // CHECK: plan.copy
  plan.copy %s to %c : memref<4xf32> to memref<4xf32>
  // CHECK: plan.record @low.gather {stream = 3 : i64}
  plan.all_gather %c to %w among 2 along "shard" : memref<4xf32> to memref<8xf32>
  plan.constant %d = dense<1.0> : tensor<4xf32> : memref<4xf32>
  // CHECK: plan.record @head.gather {stream = 3 : i64}
  plan.all_gather %d to %v among 2 along "shard" {scope = "head"} : memref<4xf32> to memref<8xf32>
  plan.output "w" %w : memref<8xf32>
  plan.output "v" %v : memref<8xf32>
}

// Replicas: the gather of a mean is a part of the reduction, and nothing waits
// in between.
// CHECK-LABEL: plan.program "micro" @micro
// SHARED-LABEL: plan.program "micro" @micro
plan.program "micro" @micro {
  %g = plan.alloc temporary : memref<8xf32>
  %a = plan.alloc temporary : memref<4xf32>
  %b = plan.alloc temporary : memref<2xf32>
  %t = plan.alloc temporary : memref<4xf32>
  %s = plan.use @h.0.flat.grad : memref<4xf32>
  %l = plan.use @low.grad : memref<4xf32>
  // CHECK: plan.constant
  plan.constant %g = dense<1.0> : tensor<8xf32> : memref<8xf32>
  // CHECK-NEXT: plan.record @ready
  // CHECK-NEXT: plan.wait @ready {stream = 4 : i64}
  // CHECK-NEXT: plan.reduce_scatter {{.*}} along "shard" {stream = 4 : i64}
  // CHECK-NEXT: plan.record @h.0.flat.grad.reduce {stream = 4 : i64}
  // SHARED: plan.reduce_scatter {{.*}} along "shard" {stream = 3 : i64}
  plan.reduce_scatter %g to %s by 2.0, 1.0 among 2 along "shard" : memref<8xf32> to memref<4xf32>
  // CHECK-NEXT: plan.wait @h.0.flat.grad.reduce{{$}}
  // CHECK-NEXT: plan.constant
  // CHECK-NEXT: plan.record @ready
  // CHECK-NEXT: plan.wait @ready {stream = 4 : i64}
  // CHECK-NEXT: plan.reduce_scatter {{.*}} along "shard" {stream = 4 : i64}
  // CHECK-NEXT: plan.reduce_scatter {{.*}} along "replica" {stream = 4 : i64}
  // CHECK-NEXT: plan.all_gather %{{.*}} to %{{.*}} among 2 along "replica" {stream = 4 : i64}
  // CHECK-NEXT: plan.record @low.grad.reduce {stream = 4 : i64}
  // CHECK-NEXT: plan.wait @low.grad.reduce{{$}}
  // CHECK-NEXT: plan.copy
  plan.constant %g = dense<2.0> : tensor<8xf32> : memref<8xf32>
  plan.reduce_scatter %g to %a by 2.0, 1.0 among 2 along "shard" : memref<8xf32> to memref<4xf32>
  plan.reduce_scatter %a to %b by 2.0, 1.0 among 2 along "replica" : memref<4xf32> to memref<2xf32>
  plan.all_gather %b to %t among 2 along "replica" : memref<2xf32> to memref<4xf32>
  plan.copy %t to %l : memref<4xf32> to memref<4xf32>
}
