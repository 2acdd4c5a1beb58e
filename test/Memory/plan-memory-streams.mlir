// RUN: weft-opt --weft-plan-memory %s | FileCheck %s
// RUN: weft-opt --weft-plan-memory --weft-verify-plan %s

// Staged inputs and results lie behind the states: inputs of each program from
// the start, then results of each, which transient buffers have no share in.
// CHECK: plan.arena_bytes = 640 : i64, plan.persistent_bytes = 64 : i64, plan.staging_bytes = 192 : i64

// CHECK: plan.state param @w : memref<4xf32> {offset = 0 : i64}
plan.state param @w : memref<4xf32>
plan.event @uploaded on 1
plan.event @placed on 0
plan.event @gathered on 0
plan.event @arrived on 2

// CHECK-LABEL: @micro
plan.program "micro" @micro {
  // CHECK: plan.input "x" {offset = 64 : i64}
  // CHECK: plan.input "y" {offset = 128 : i64}
  // CHECK: plan.alloc temporary {offset = 256 : i64}
  // CHECK: plan.staging {offset = 192 : i64}
  %x = plan.input "x" : memref<4xf32>
  %y = plan.input "y" : memref<4xf32>
  %a = plan.alloc temporary : memref<4xf32>
  %r = plan.staging : memref<4xf32>
  plan.wait @placed {stream = 1 : i64}
  plan.upload %x, %y {stream = 1 : i64} : memref<4xf32>, memref<4xf32>
  plan.record @uploaded {stream = 1 : i64}
  plan.wait @uploaded
  plan.copy %x to %a : memref<4xf32> to memref<4xf32>
  plan.record @placed
  plan.wait @arrived
  plan.copy %a to %r : memref<4xf32> to memref<4xf32>
  plan.record @gathered
  plan.wait @gathered {stream = 2 : i64}
  plan.readback %r {stream = 2 : i64} : memref<4xf32>
  plan.record @arrived {stream = 2 : i64}
  plan.output "r" %r : memref<4xf32>
}

// A buffer that stream 1 reads is live until stream 0 waits for it: %c is written
// before and gets bytes of its own, %d after the wait and gets the bytes of %a and %c.
// CHECK-LABEL: @eval
plan.program "eval" @eval {
  // CHECK: plan.alloc temporary {offset = 256 : i64} : memref<32xf32>
  // CHECK: plan.alloc temporary {offset = 512 : i64} : memref<32xf32>
  // CHECK: plan.alloc temporary {offset = 384 : i64} : memref<32xf32>
  // CHECK: plan.alloc temporary {offset = 256 : i64} : memref<64xf32>
  %a = plan.alloc temporary : memref<32xf32>
  %b = plan.alloc temporary : memref<32xf32>
  %c = plan.alloc temporary : memref<32xf32>
  %d = plan.alloc temporary : memref<64xf32>
  plan.constant %a = dense<1.0> : tensor<32xf32> : memref<32xf32>
  plan.record @placed
  plan.wait @placed {stream = 1 : i64}
  plan.copy %a to %b {stream = 1 : i64} : memref<32xf32> to memref<32xf32>
  plan.record @uploaded {stream = 1 : i64}
  plan.constant %c = dense<2.0> : tensor<32xf32> : memref<32xf32>
  plan.wait @uploaded
  plan.constant %d = dense<3.0> : tensor<64xf32> : memref<64xf32>
  plan.output "b" %b : memref<32xf32>
}
