// RUN: weft-opt --weft-assign-streams="staged-bytes=16" %s | FileCheck %s

// CHECK: plan.event @uploaded on 1
// CHECK: plan.event @placed on 0
// CHECK: plan.event @gathered on 0
// CHECK: plan.event @arrived on 2

// Inputs come in stream 1 and are copied; one that nobody reads is not. A small
// output is written where stream 2 reads it back, whatever names it.
// CHECK-LABEL: plan.program "micro" @micro
plan.program "micro" @micro {
  // CHECK: %[[X:.*]] = plan.input "x"
  // CHECK: %[[PLACE:.*]] = plan.alloc temporary : memref<8xf32>
  // CHECK: %[[UNUSED:.*]] = plan.input "unused"
  // CHECK: %[[VIEW:.*]] = plan.view %[[PLACE]]
  // CHECK-NEXT: %[[R:.*]] = plan.staging : memref<4xf32>
  %x = plan.input "x" : memref<8xf32>
  %unused = plan.input "unused" : memref<f32>
  %part = plan.view %x : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %l = plan.alloc temporary : memref<4xf32>
  // CHECK-NEXT: plan.wait @placed {stream = 1 : i64}
  // CHECK-NEXT: plan.upload %[[X]], %[[UNUSED]] {stream = 1 : i64} : memref<8xf32>, memref<f32>
  // CHECK-NEXT: plan.record @uploaded {stream = 1 : i64}
  // CHECK-NEXT: plan.wait @uploaded
  // CHECK-NEXT: plan.copy %[[X]] to %[[PLACE]]
  // CHECK-NEXT: plan.record @placed
  // CHECK-NEXT: plan.wait @arrived
  // CHECK-NEXT: plan.copy %[[VIEW]] to %[[R]] {scope = "h.0"}
  plan.copy %part to %l {scope = "h.0"} : memref<4xf32, strided<[1], offset: 4>> to memref<4xf32>
  // CHECK-NEXT: plan.record @gathered
  // CHECK-NEXT: plan.wait @gathered {stream = 2 : i64}
  // CHECK-NEXT: plan.readback %[[R]] {stream = 2 : i64} : memref<4xf32>
  // CHECK-NEXT: plan.record @arrived {stream = 2 : i64}
  // CHECK-NEXT: plan.output "loss" %[[R]]
  // CHECK-NEXT: plan.output "again" %[[R]]
  plan.output "loss" %l : memref<4xf32>
  plan.output "again" %l : memref<4xf32>
}

// A large output stays where it is, and the next run waits until it has gone; an
// input that is an output is a copy.
// CHECK-LABEL: plan.program "eval" @eval
plan.program "eval" @eval {
  // CHECK: %[[PLACE:.*]] = plan.alloc temporary : memref<5xf32>
  %x = plan.input "x" : memref<5xf32>
  // CHECK: plan.copy %{{.*}} to %[[PLACE]]
  // CHECK-NEXT: plan.record @placed
  // CHECK-NEXT: plan.record @gathered
  // CHECK-NEXT: plan.wait @gathered {stream = 2 : i64}
  // CHECK-NEXT: plan.readback %[[PLACE]] {stream = 2 : i64} : memref<5xf32>
  // CHECK-NEXT: plan.record @arrived {stream = 2 : i64}
  // CHECK-NEXT: plan.wait @arrived
  // CHECK-NEXT: plan.output "x" %[[PLACE]]
  plan.output "x" %x : memref<5xf32>
}

// The first command that uses the staging part waits: here a view of a result,
// which a later command reads again.
// CHECK-LABEL: plan.program "predict" @parts
plan.program "predict" @parts {
  // CHECK: %[[ALL:.*]] = plan.staging : memref<4xf32>
  // CHECK: %[[S:.*]] = plan.staging : memref<2xf32>
  // CHECK: %[[LOW:.*]] = plan.view %[[ALL]] : memref<4xf32> to memref<2xf32>
  // CHECK: plan.constant
  // CHECK-NEXT: plan.wait @arrived
  // CHECK-NEXT: plan.copy %{{.*}} to %[[LOW]]
  // CHECK-NEXT: plan.copy
  // CHECK-NEXT: plan.copy %[[LOW]] to %[[S]]
  // CHECK-NEXT: plan.record @gathered
  %a = plan.alloc temporary : memref<2xf32>
  %r = plan.alloc temporary : memref<4xf32>
  %s = plan.alloc temporary : memref<2xf32>
  %low = plan.view %r : memref<4xf32> to memref<2xf32>
  %high = plan.view %r : memref<4xf32> to memref<2xf32, strided<[1], offset: 2>>
  plan.constant %a = dense<1.0> : tensor<2xf32> : memref<2xf32>
  plan.copy %a to %low : memref<2xf32> to memref<2xf32>
  plan.copy %a to %high : memref<2xf32> to memref<2xf32, strided<[1], offset: 2>>
  plan.copy %low to %s : memref<2xf32> to memref<2xf32>
  plan.output "r" %r : memref<4xf32>
  plan.output "s" %s : memref<2xf32>
}

// A state, and a small input: they are copied. The wait is for the first result,
// which is written before.
// CHECK-LABEL: plan.program "apply" @apply
// CHECK: plan.copy %[[IN:.*]] to %[[PLACE:.*]] : memref<f32> to memref<f32>
// CHECK-NEXT: plan.record @placed
// CHECK-NEXT: plan.wait @arrived
// CHECK-NEXT: plan.copy %[[PLACE]] to %[[NEW:.*]] : memref<f32> to memref<f32>
// CHECK-NEXT: plan.copy %[[PLACE]] to %[[STATE:.*]] : memref<f32> to memref<f32>
// CHECK-NEXT: plan.copy %[[STATE]] to %[[OLD:.*]] : memref<f32> to memref<f32>
// CHECK-NEXT: plan.copy %[[PLACE]] to %[[SAME:.*]] : memref<f32> to memref<f32>
// CHECK-NEXT: plan.record @gathered
// CHECK-NEXT: plan.wait @gathered {stream = 2 : i64}
// CHECK-NEXT: plan.readback %[[OLD]], %[[SAME]], %[[NEW]] {stream = 2 : i64}
plan.state scaler @scale : memref<f32>
plan.program "apply" @apply {
  %x = plan.input "x" : memref<f32>
  %state = plan.use @scale : memref<f32>
  %new = plan.alloc temporary : memref<f32>
  plan.copy %x to %new : memref<f32> to memref<f32>
  plan.copy %x to %state : memref<f32> to memref<f32>
  plan.output "old" %state : memref<f32>
  plan.output "same" %x : memref<f32>
  plan.output "new" %new : memref<f32>
}

// CHECK-LABEL: plan.program "refresh" @refresh
// CHECK-NEXT: plan.alloc
// CHECK-NEXT: plan.constant
// CHECK-NEXT: }
plan.program "refresh" @refresh {
  %a = plan.alloc temporary : memref<f32>
  plan.constant %a = dense<1.0> : tensor<f32> : memref<f32>
}
