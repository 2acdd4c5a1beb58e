// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s

// Ops of targets with several streams, printed and parsed again.

// CHECK: plan.event @uploaded on 1
plan.event @uploaded on 1
// CHECK: plan.event @gathered on 0
plan.event @gathered on 0

// CHECK-LABEL: plan.program "eval" @eval
plan.program "eval" @eval {
  // CHECK: %[[X:.*]] = plan.input "x" {offset = 0 : i64} : memref<4xi32>
  %x = plan.input "x" {offset = 0 : i64} : memref<4xi32>
  // CHECK: %[[Y:.*]] = plan.input "y" : memref<f32>
  %y = plan.input "y" : memref<f32>
  // CHECK: %[[R:.*]] = plan.staging {offset = 256 : i64} : memref<f32>
  %r = plan.staging {offset = 256 : i64} : memref<f32>
  // CHECK: plan.upload %[[X]], %[[Y]] {stream = 1 : i64} : memref<4xi32>, memref<f32>
  plan.upload %x, %y {stream = 1 : i64} : memref<4xi32>, memref<f32>
  // CHECK: plan.record @uploaded {stream = 1 : i64}
  plan.record @uploaded {stream = 1 : i64}
  // CHECK: plan.wait @uploaded
  plan.wait @uploaded
  plan.copy %y to %r : memref<f32> to memref<f32>
  // CHECK: plan.record @gathered {scope = "h.0"}
  plan.record @gathered {scope = "h.0"}
  // CHECK: plan.wait @gathered {stream = 2 : i64}
  plan.wait @gathered {stream = 2 : i64}
  // CHECK: plan.readback %[[R]] {stream = 2 : i64} : memref<f32>
  plan.readback %r {stream = 2 : i64} : memref<f32>
  plan.output "r" %r : memref<f32>
}
