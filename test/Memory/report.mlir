// RUN: weft-opt --weft-plan-memory=report=true %s -o /dev/null 2>&1 | FileCheck %s

// Where the bytes go: the parts, the peak, the largest buffers.

// CHECK: parameters 4.00 KiB
// CHECK-NEXT: gradients 4.00 KiB
// CHECK-NEXT: optimizer state 0 B
// CHECK-NEXT: activations (forward to backward) 4.00 KiB
// CHECK-NEXT: temporaries 1.00 KiB
// CHECK-NEXT: workspaces of 2 threads 0 B
// CHECK-NEXT: inputs 0 B
// CHECK-NEXT: alignment and gaps 0 B
// CHECK-NEXT: arena 13.00 KiB
// CHECK-NEXT: shared by the programs 5.00 KiB
// CHECK-NEXT: lower bound of any packing 5.00 KiB
// CHECK-NEXT: constants outside the arena 1.00 KiB
// CHECK-NEXT: memory 14.00 KiB
// CHECK-NEXT: peak at copy 256 f32 in micro, h.1 (report.mlir:[[#@LINE+13]])
// CHECK-NEXT: largest buffers at the peak:
// CHECK-NEXT: 4.00 KiB activation memref<1024xf32> from copy 1024 f32, h.0 (report.mlir:[[#@LINE+7]])
// CHECK-NEXT: 1.00 KiB temporary memref<256xf32> from copy 256 f32, h.1 (report.mlir:[[#@LINE+7]])
module attributes {plan.constant_bytes = 1024 : i64, plan.max_threads = 2 : i64} {
  plan.state param @w : memref<1024xf32>
  plan.state gradient @w.grad : memref<1024xf32> {param = @w}
  plan.program "micro" @micro {
    %w = plan.use @w : memref<1024xf32>
    %a = plan.alloc activation : memref<1024xf32>
    %b = plan.alloc temporary : memref<256xf32>
    %part = plan.view %a : memref<1024xf32> to memref<256xf32>
    plan.copy %w to %a {scope = "h.0"} : memref<1024xf32> to memref<1024xf32>
    plan.copy %part to %b {scope = "h.1"} : memref<256xf32> to memref<256xf32>
    plan.output "b" %b : memref<256xf32>
  }
}
