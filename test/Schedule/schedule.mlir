// RUN: weft-opt --weft-split-async --weft-schedule %s | FileCheck %s
// RUN: weft-opt --weft-split-async --weft-schedule="prefetch=0" %s | FileCheck %s --check-prefix=NONE
// RUN: weft-opt --weft-split-async --weft-schedule="prefetch=2" %s | FileCheck %s --check-prefix=TWO
// RUN: weft-opt --weft-split-async --weft-schedule --remarks-filter=schedule %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: weft-opt --weft-split-async --weft-schedule %s | weft-opt --weft-schedule | FileCheck %s

// WHY: Remark="is gathered during 0 commands for h.0.attn, until copy of h.0.attn
// WHY: Remark="is gathered during 1 command for h.0.mlp, until copy of h.0.mlp
// WHY: Remark="is gathered during 2 commands for h.1, until copy of h.1
// WHY: Remark="is gathered during 1 command for h.2, until copy of h.2
// WHY: Remark="is reduced during 2 commands for h.2
dist.mesh @mesh("dp" = 2)
plan.state param @h.0.w : memref<4xf32>
plan.state param @h.0.b : memref<2xf32>
plan.state param @h.1.w : memref<4xf32>
plan.state param @h.2.w : memref<4xf32>
plan.state gradient @h.0.w.grad : memref<4xf32> {param = @h.0.w}
plan.state gradient @h.1.w.grad : memref<4xf32> {param = @h.1.w}
plan.state gradient @h.2.w.grad : memref<4xf32> {param = @h.2.w}
plan.state accumulator @h.2.w.grad.sum : memref<8xf32> {param = @h.2.w}

// The two gathers of h.0 are one unit: both begin before the unit in front is
// waited for. At most two units are there at once, with prefetch=2 three.
// CHECK-LABEL: plan.program "eval" @eval
// NONE-LABEL: plan.program "eval" @eval
// TWO-LABEL: plan.program "eval" @eval
plan.program "eval" @eval {
  %x = plan.input "x" : memref<8xf32>
  %w0 = plan.use @h.0.w : memref<4xf32>
  %b0 = plan.use @h.0.b : memref<2xf32>
  %w1 = plan.use @h.1.w : memref<4xf32>
  %w2 = plan.use @h.2.w : memref<4xf32>
  %f0 = plan.alloc temporary : memref<8xf32>
  %g0 = plan.alloc temporary : memref<4xf32>
  %f1 = plan.alloc temporary : memref<8xf32>
  %f2 = plan.alloc temporary : memref<8xf32>
  %y0 = plan.alloc temporary : memref<8xf32>
  %y1 = plan.alloc temporary : memref<4xf32>
  %y2 = plan.alloc temporary : memref<8xf32>
  %y3 = plan.alloc temporary : memref<8xf32>
  // CHECK: plan.record @ready
  // CHECK-NEXT: plan.wait @ready {stream = 3 : i64}
  // CHECK-NEXT: plan.all_gather {{.*}} {scope = "h.0.attn", stream = 3 : i64}
  // CHECK-NEXT: plan.record @h.0.w.gather {stream = 3 : i64}
  // CHECK-NEXT: plan.all_gather {{.*}} {scope = "h.0.mlp", stream = 3 : i64}
  // CHECK-NEXT: plan.record @h.0.b.gather {stream = 3 : i64}
  // CHECK-NEXT: plan.all_gather {{.*}} {scope = "h.1", stream = 3 : i64}
  // CHECK-NEXT: plan.record @h.1.w.gather {stream = 3 : i64}
  // CHECK-NEXT: plan.wait @h.0.w.gather{{$}}
  // CHECK-NEXT: plan.copy {{.*}} {scope = "h.0.attn"}
  // CHECK-NEXT: plan.wait @h.0.b.gather{{$}}
  // CHECK-NEXT: plan.copy {{.*}} {scope = "h.0.mlp"}
  // CHECK-NEXT: plan.record @ready
  // CHECK-NEXT: plan.wait @ready {stream = 3 : i64}
  // CHECK-NEXT: plan.all_gather {{.*}} {scope = "h.2", stream = 3 : i64}
  // CHECK-NEXT: plan.record @h.2.w.gather {stream = 3 : i64}
  // CHECK-NEXT: plan.wait @h.1.w.gather{{$}}
  // CHECK-NEXT: plan.copy {{.*}} {scope = "h.1"}
  // CHECK-NEXT: plan.wait @h.2.w.gather{{$}}
  // CHECK-NEXT: plan.copy {{.*}} {scope = "h.2"}
  // CHECK-NEXT: plan.output
  // NONE: plan.all_gather {{.*}} {scope = "h.0.attn", stream = 3 : i64}
  // NONE: plan.all_gather {{.*}} {scope = "h.0.mlp", stream = 3 : i64}
  // NONE: plan.wait @h.0.w.gather{{$}}
  // NONE: plan.wait @h.0.b.gather{{$}}
  // NONE: plan.all_gather {{.*}} {scope = "h.1", stream = 3 : i64}
  // NONE-NEXT: plan.record @h.1.w.gather {stream = 3 : i64}
  // NONE-NEXT: plan.wait @h.1.w.gather{{$}}
  // NONE-NEXT: plan.copy {{.*}} {scope = "h.1"}
  // TWO: plan.all_gather {{.*}} {scope = "h.2", stream = 3 : i64}
  // TWO-NEXT: plan.record @h.2.w.gather {stream = 3 : i64}
  // TWO-NEXT: plan.wait @h.0.w.gather{{$}}
  plan.all_gather %w0 to %f0 among 2 {scope = "h.0.attn"} : memref<4xf32> to memref<8xf32>
  plan.copy %f0 to %y0 {scope = "h.0.attn"} : memref<8xf32> to memref<8xf32>
  plan.all_gather %b0 to %g0 among 2 {scope = "h.0.mlp"} : memref<2xf32> to memref<4xf32>
  plan.copy %g0 to %y1 {scope = "h.0.mlp"} : memref<4xf32> to memref<4xf32>
  plan.all_gather %w1 to %f1 among 2 {scope = "h.1"} : memref<4xf32> to memref<8xf32>
  plan.copy %f1 to %y2 {scope = "h.1"} : memref<8xf32> to memref<8xf32>
  plan.all_gather %w2 to %f2 among 2 {scope = "h.2"} : memref<4xf32> to memref<8xf32>
  plan.copy %f2 to %y3 {scope = "h.2"} : memref<8xf32> to memref<8xf32>
  plan.output "y" %y3 : memref<8xf32>
}

// A cast that only the gather needs goes with it. One whose result the program
// needs elsewhere stays, and the gather with it.
// CHECK-LABEL: plan.program "logits" @logits
plan.program "logits" @logits {
  %w0 = plan.use @h.0.w : memref<4xf32>
  %w1 = plan.use @h.1.w : memref<4xf32>
  %w2 = plan.use @h.2.w : memref<4xf32>
  %c1 = plan.alloc temporary : memref<4xf32>
  %c2 = plan.alloc temporary : memref<4xf32>
  %f0 = plan.alloc temporary : memref<8xf32>
  %f1 = plan.alloc temporary : memref<8xf32>
  %f2 = plan.alloc temporary : memref<8xf32>
  %y0 = plan.alloc temporary : memref<8xf32>
  %y1 = plan.alloc temporary : memref<8xf32>
  // CHECK: plan.all_gather {{.*}} {scope = "h.0", stream = 3 : i64}
  // CHECK-NEXT: plan.record @h.0.w.gather {stream = 3 : i64}
  // CHECK-NEXT: plan.copy {{.*}} {scope = "h.1.cast"}
  // CHECK-NEXT: plan.record @ready
  // CHECK-NEXT: plan.wait @ready {stream = 3 : i64}
  // CHECK-NEXT: plan.all_gather {{.*}} {scope = "h.1", stream = 3 : i64}
  // CHECK-NEXT: plan.record @h.1.w.gather {stream = 3 : i64}
  // CHECK-NEXT: plan.wait @h.0.w.gather{{$}}
  // CHECK-NEXT: plan.copy {{.*}} {scope = "h.0"}
  // CHECK-NEXT: plan.wait @h.1.w.gather{{$}}
  // CHECK-NEXT: plan.copy {{.*}} {scope = "h.1"}
  // CHECK-NEXT: plan.copy {{.*}} {scope = "h.2.cast"}
  // CHECK-NEXT: plan.record @ready
  // CHECK-NEXT: plan.wait @ready {stream = 3 : i64}
  // CHECK-NEXT: plan.all_gather {{.*}} {scope = "h.2", stream = 3 : i64}
  // CHECK-NEXT: plan.record @h.2.w.gather {stream = 3 : i64}
  // CHECK-NEXT: plan.wait @h.2.w.gather{{$}}
  // CHECK-NEXT: plan.output
  plan.all_gather %w0 to %f0 among 2 {scope = "h.0"} : memref<4xf32> to memref<8xf32>
  plan.copy %f0 to %y0 {scope = "h.0"} : memref<8xf32> to memref<8xf32>
  plan.copy %w1 to %c1 {scope = "h.1.cast"} : memref<4xf32> to memref<4xf32>
  plan.all_gather %c1 to %f1 among 2 {scope = "h.1"} : memref<4xf32> to memref<8xf32>
  plan.copy %f1 to %y1 {scope = "h.1"} : memref<8xf32> to memref<8xf32>
  plan.copy %w2 to %c2 {scope = "h.2.cast"} : memref<4xf32> to memref<4xf32>
  plan.all_gather %c2 to %f2 among 2 {scope = "h.2"} : memref<4xf32> to memref<8xf32>
  plan.output "a" %y0 : memref<8xf32>
  plan.output "b" %y1 : memref<8xf32>
  plan.output "c" %c2 : memref<4xf32>
  plan.output "d" %f2 : memref<8xf32>
}

// A reduction begins where it stands, and what follows from it comes when the
// next unit is about to be reduced, or at the end. A state holds its bytes
// anyway, and waits for nobody.
// CHECK-LABEL: plan.program "micro" @micro
plan.program "micro" @micro {
  %x = plan.input "x" : memref<8xf32>
  %d0 = plan.use @h.0.w.grad : memref<4xf32>
  %d1 = plan.use @h.1.w.grad : memref<4xf32>
  %d2 = plan.use @h.2.w.grad : memref<4xf32>
  %s2 = plan.use @h.2.w.grad.sum : memref<8xf32>
  %g1 = plan.alloc temporary : memref<8xf32>
  %g0 = plan.alloc temporary : memref<8xf32>
  %r1 = plan.alloc temporary : memref<4xf32>
  %r0 = plan.alloc temporary : memref<4xf32>
  // CHECK: plan.copy {{.*}} {scope = "h.2"}
  // CHECK-NEXT: plan.record @ready
  // CHECK-NEXT: plan.wait @ready {stream = 4 : i64}
  // CHECK-NEXT: plan.reduce_scatter
  // CHECK-NEXT: plan.copy {{.*}} {scope = "h.1"}
  // CHECK-NEXT: plan.record @ready
  // CHECK-NEXT: plan.wait @ready {stream = 4 : i64}
  // CHECK-NEXT: plan.reduce_scatter
  // CHECK-NEXT: plan.record @h.1.w.grad.reduce {stream = 4 : i64}
  // CHECK-NEXT: plan.copy {{.*}} {scope = "h.0"}
  // CHECK-NEXT: plan.wait @h.1.w.grad.reduce{{$}}
  // CHECK-NEXT: plan.copy {{.*}} {scope = "h.1.add"}
  // CHECK-NEXT: plan.record @ready
  // CHECK-NEXT: plan.wait @ready {stream = 4 : i64}
  // CHECK-NEXT: plan.reduce_scatter
  // CHECK-NEXT: plan.record @h.0.w.grad.reduce {stream = 4 : i64}
  // CHECK-NEXT: plan.wait @h.0.w.grad.reduce{{$}}
  // CHECK-NEXT: plan.copy {{.*}} {scope = "h.0.add"}
  // CHECK-NEXT: }
  plan.copy %x to %s2 {scope = "h.2"} : memref<8xf32> to memref<8xf32>
  plan.reduce_scatter %s2 to %d2 by 2.0, 1.0 among 2 : memref<8xf32> to memref<4xf32>
  plan.copy %x to %g1 {scope = "h.1"} : memref<8xf32> to memref<8xf32>
  plan.reduce_scatter %g1 to %r1 by 2.0, 1.0 among 2 : memref<8xf32> to memref<4xf32>
  plan.copy %r1 to %d1 {scope = "h.1.add"} : memref<4xf32> to memref<4xf32>
  plan.copy %x to %g0 {scope = "h.0"} : memref<8xf32> to memref<8xf32>
  plan.reduce_scatter %g0 to %r0 by 2.0, 1.0 among 2 : memref<8xf32> to memref<4xf32>
  plan.copy %r0 to %d0 {scope = "h.0.add"} : memref<4xf32> to memref<4xf32>
}

// Updated parameters travel while others are updated.
// CHECK-LABEL: plan.program "apply" @apply
plan.program "apply" @apply {
  %x = plan.input "x" : memref<4xf32>
  %w0 = plan.use @h.0.w : memref<4xf32>
  %w1 = plan.use @h.1.w : memref<4xf32>
  %f0 = plan.alloc temporary : memref<8xf32>
  %f1 = plan.alloc temporary : memref<8xf32>
  %y0 = plan.alloc temporary : memref<8xf32>
  %y1 = plan.alloc temporary : memref<8xf32>
  // CHECK: plan.copy {{.*}} {scope = "h.0"}
  // CHECK: plan.all_gather
  // CHECK-NEXT: plan.record @h.0.w.gather {stream = 3 : i64}
  // CHECK-NEXT: plan.copy {{.*}} {scope = "h.1"}
  // CHECK: plan.all_gather
  // CHECK-NEXT: plan.record @h.1.w.gather {stream = 3 : i64}
  // CHECK-NEXT: plan.wait @h.0.w.gather{{$}}
  // CHECK-NEXT: plan.copy {{.*}} {scope = "h.0.unpack"}
  // CHECK-NEXT: plan.wait @h.1.w.gather{{$}}
  // CHECK-NEXT: plan.copy {{.*}} {scope = "h.1.unpack"}
  plan.copy %x to %w0 {scope = "h.0"} : memref<4xf32> to memref<4xf32>
  plan.all_gather %w0 to %f0 among 2 : memref<4xf32> to memref<8xf32>
  plan.copy %f0 to %y0 {scope = "h.0.unpack"} : memref<8xf32> to memref<8xf32>
  plan.copy %x to %w1 {scope = "h.1"} : memref<4xf32> to memref<4xf32>
  plan.all_gather %w1 to %f1 among 2 : memref<4xf32> to memref<8xf32>
  plan.copy %f1 to %y1 {scope = "h.1.unpack"} : memref<8xf32> to memref<8xf32>
  plan.output "a" %y0 : memref<8xf32>
  plan.output "b" %y1 : memref<8xf32>
}
