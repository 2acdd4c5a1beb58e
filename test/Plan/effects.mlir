// RUN: weft-opt %s --canonicalize --cse | FileCheck %s

// Generic passes know from the memory effects which commands they may drop or
// merge. Only a view that nothing uses goes.

plan.event @done on 0

// CHECK-LABEL: plan.program "micro" @micro
plan.program "micro" @micro {
  %x = plan.input "x" : memref<4xf32>
  %r = plan.staging : memref<4xf32>
  %a = plan.alloc temporary : memref<4xf32>
  %n = plan.alloc temporary : memref<f64>
  %m = plan.alloc temporary : memref<f64>
  %v = plan.view %a : memref<4xf32> to memref<2xf32, strided<[1]>>
  // CHECK-NOT: plan.view
  // CHECK: plan.upload
  plan.upload %x : memref<4xf32>
  // CHECK-NEXT: plan.copy
  // CHECK-NEXT: plan.copy
  plan.copy %x to %a : memref<4xf32> to memref<4xf32>
  plan.copy %x to %a : memref<4xf32> to memref<4xf32>
  // CHECK-NEXT: plan.constant
  plan.constant %n = dense<1.0> : tensor<f64> : memref<f64>
  // CHECK-NEXT: plan.all_reduce
  // CHECK-NEXT: plan.all_reduce
  plan.all_reduce %n by ["sum"] to %m among 2 : memref<f64> to memref<f64>
  plan.all_reduce %n by ["sum"] to %m among 2 : memref<f64> to memref<f64>
  // CHECK-NEXT: plan.record
  plan.record @done
  // CHECK-NEXT: plan.wait
  plan.wait @done
  // CHECK-NEXT: plan.copy
  plan.copy %a to %r : memref<4xf32> to memref<4xf32>
  // CHECK-NEXT: plan.readback
  plan.readback %r : memref<4xf32>
  plan.output "y" %r : memref<4xf32>
}
