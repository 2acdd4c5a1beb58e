// RUN: weft-opt --weft-assign-streams="staged-bytes=16" %s | FileCheck %s

// CHECK: plan.event @uploaded on 1
// CHECK: plan.event @placed on 0
// CHECK: plan.event @gathered on 0
// CHECK: plan.event @arrived on 2

// Inputs come in stream 1 and are copied; one that nobody reads is not. A small
// output is copied before stream 2 reads it back, whatever names it.
// CHECK-LABEL: plan.program "micro" @micro
plan.program "micro" @micro {
  // CHECK: %[[X:.*]] = plan.input "x"
  // CHECK: %[[PLACE:.*]] = plan.alloc temporary : memref<8xf32>
  // CHECK: %[[UNUSED:.*]] = plan.input "unused"
  // CHECK: %[[VIEW:.*]] = plan.view %[[PLACE]]
  // CHECK: %[[L:.*]] = plan.alloc temporary : memref<4xf32>
  // CHECK: %[[R:.*]] = plan.staging : memref<4xf32>
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
  // CHECK-NEXT: plan.copy %[[VIEW]] to %[[L]] {scope = "h.0"}
  plan.copy %part to %l {scope = "h.0"} : memref<4xf32, strided<[1], offset: 4>> to memref<4xf32>
  // CHECK-NEXT: plan.wait @arrived
  // CHECK-NEXT: plan.copy %[[L]] to %[[R]] : memref<4xf32> to memref<4xf32>
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

// CHECK-LABEL: plan.program "refresh" @refresh
// CHECK-NEXT: plan.alloc
// CHECK-NEXT: plan.constant
// CHECK-NEXT: }
plan.program "refresh" @refresh {
  %a = plan.alloc temporary : memref<f32>
  plan.constant %a = dense<1.0> : tensor<f32> : memref<f32>
}
