// RUN: weft-opt --weft-plan-memory --weft-verify-plan %s | FileCheck %s

// Persistent tensors by kind, then one part that both programs share; two
// temporaries that never live at once get the same bytes.

// CHECK: module attributes {plan.alignment = 64 : i64, plan.arena_bytes = 8640 : i64, plan.persistent_bytes = 4544 : i64}

// CHECK: plan.state optimizer @w.m : memref<16xf32> {offset = 4480 : i64}
plan.state optimizer @w.m : memref<16xf32>
// CHECK: plan.state param @w : memref<1100xf32> {offset = 0 : i64}
plan.state param @w : memref<1100xf32>
// CHECK: plan.state gradient @w.grad : memref<3xf32> {offset = 4416 : i64}
plan.state gradient @w.grad : memref<3xf32>

// CHECK-LABEL: plan.program "micro" @micro
plan.program "micro" @micro {
  // CHECK: plan.input "x" {offset = [[X:.*]] : i64}
  %x = plan.input "x" : memref<512xf32>
  // CHECK: plan.alloc temporary {offset = [[A:.*]] : i64}
  %a = plan.alloc temporary : memref<512xf32>
  // CHECK: plan.alloc temporary {offset = [[X]] : i64}
  %b = plan.alloc temporary : memref<512xf32>
  plan.copy %x to %a : memref<512xf32> to memref<512xf32>
  plan.copy %a to %b : memref<512xf32> to memref<512xf32>
  plan.output "b" %b : memref<512xf32>
}

// CHECK-LABEL: plan.program "eval" @eval
plan.program "eval" @eval {
  // CHECK: plan.input "x" {offset = 4544 : i64}
  %x = plan.input "x" : memref<512xf32>
  // An unused buffer costs nothing.
  // CHECK: plan.alloc temporary {offset = 4544 : i64}
  %unused = plan.alloc temporary : memref<8xf32>
  plan.output "x" %x : memref<512xf32>
}
