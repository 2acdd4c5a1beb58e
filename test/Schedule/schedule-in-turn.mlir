// With `in-turn` a collective waits for the one before it, whose stream may be
// another: a reduction for a gather, and a sum of numbers, in stream 0, for the
// reduction. Commands that send nothing do not wait.
// RUN: weft-opt --weft-schedule="prefetch=1 in-turn=true" %s | FileCheck %s
// RUN: weft-opt --weft-schedule="prefetch=1" %s | FileCheck %s --check-prefix=FREE
// RUN: weft-opt --weft-schedule="prefetch=1 in-turn=true" %s | weft-opt --weft-schedule="prefetch=1" | FileCheck %s --check-prefix=FREE

plan.state param @a : memref<4xf32>
plan.state param @b : memref<4xf32>
plan.state gradient @a.grad : memref<4xf32> {param = @a}
plan.state scaler @norm : memref<f64>

// CHECK-LABEL: plan.program "micro" @micro
// CHECK:      plan.wait @ready {stream = 3 : i64}
// CHECK-NEXT: plan.all_gather %{{.*}} {scope = "h.0", stream = 3 : i64}
// CHECK-NEXT: plan.record @a.gather {stream = 3 : i64}
// CHECK-NEXT: plan.all_gather %{{.*}} {scope = "h.1", stream = 3 : i64}
// CHECK-NEXT: plan.record @b.gather {stream = 3 : i64}
// CHECK-NEXT: plan.wait @a.gather
// CHECK-NEXT: plan.copy
// CHECK-NEXT: plan.own_slice
// CHECK-NEXT: plan.all_gather {{.*}} among 1
// The gather of h.1 is in flight.
// CHECK-NEXT: plan.wait @b.gather {stream = 4 : i64}
// CHECK-NEXT: plan.record @ready
// CHECK-NEXT: plan.wait @ready {stream = 4 : i64}
// CHECK-NEXT: plan.reduce_scatter
// CHECK-NEXT: plan.record @a.grad.reduce {stream = 4 : i64}
// CHECK-NEXT: plan.wait @a.grad.reduce{{$}}
// CHECK-NEXT: plan.all_reduce
// CHECK-NEXT: plan.wait @b.gather{{$}}

// FREE-LABEL: plan.program "micro" @micro
// FREE-NOT:   plan.wait @b.gather {stream = 4 : i64}
// FREE:       plan.reduce_scatter
// FREE:       plan.all_reduce
// FREE-NEXT:  plan.wait @b.gather
// FREE:       plan.wait @a.grad.reduce
plan.program "micro" @micro {
  %a = plan.use @a : memref<4xf32>
  %b = plan.use @b : memref<4xf32>
  %g = plan.use @a.grad : memref<4xf32>
  %wa = plan.alloc temporary : memref<8xf32>
  %wb = plan.alloc temporary : memref<8xf32>
  %x = plan.alloc temporary : memref<8xf32>
  %y = plan.alloc temporary : memref<8xf32>
  %o = plan.alloc temporary : memref<4xf32>
  %p = plan.alloc temporary : memref<4xf32>
  %n = plan.use @norm : memref<f64>
  %m = plan.alloc temporary : memref<f64>
  plan.all_gather %a to %wa among 2 {scope = "h.0", stream = 3 : i64} : memref<4xf32> to memref<8xf32>
  plan.copy %wa to %x : memref<8xf32> to memref<8xf32>
  plan.own_slice %x to %o among 2 : memref<8xf32> to memref<4xf32>
  plan.all_gather %o to %p among 1 : memref<4xf32> to memref<4xf32>
  plan.reduce_scatter %x to %g by 1.0, 2.0 among 2 {scope = "h.0", stream = 4 : i64} : memref<8xf32> to memref<4xf32>
  plan.all_reduce %n by ["sum"] to %m among 2 : memref<f64> to memref<f64>
  plan.all_gather %b to %wb among 2 {scope = "h.1", stream = 3 : i64} : memref<4xf32> to memref<8xf32>
  plan.copy %wb to %y : memref<8xf32> to memref<8xf32>
  plan.output "y" %y : memref<8xf32>
  plan.output "p" %p : memref<4xf32>
}
