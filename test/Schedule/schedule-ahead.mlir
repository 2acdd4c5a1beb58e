// RUN: weft-opt --weft-split-async --weft-schedule="prefetch=1 prefetch-backward=0" %s | FileCheck %s --check-prefixes=CHECK,STILL
// RUN: weft-opt --weft-split-async --weft-schedule="prefetch=0 prefetch-backward=1" %s | FileCheck %s --check-prefixes=BACK
// RUN: weft-opt --weft-split-async --weft-schedule="prefetch=1" %s | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: weft-opt --weft-split-async --weft-schedule="prefetch=1 prefetch-max=2" %s | FileCheck %s --check-prefixes=AHEAD
// RUN: weft-opt --weft-split-async --weft-schedule="prefetch=1 prefetch-max=2" %s | weft-opt --weft-schedule="prefetch=1 prefetch-max=2" | FileCheck %s --check-prefixes=AHEAD
// RUN: weft-opt --weft-split-async --weft-schedule="prefetch=1 prefetch-max=1" %s | FileCheck %s --check-prefixes=CHECK,ONE

// Repeated gathers belong to the backward pass, which has a prefetch depth of its own.
// A gather that takes longer than the computation meanwhile begins earlier, if it may
// and the program gets shorter: h.2 here, but not h.1, for which nobody waits.
dist.mesh @mesh("dp" = 2)
plan.state param @h.0.w : memref<4xf32>
plan.state param @h.1.w : memref<4xf32>
plan.state param @h.2.w : memref<4xf32>

plan.program "micro" @micro {
  %w0 = plan.use @h.0.w : memref<4xf32>
  %w1 = plan.use @h.1.w : memref<4xf32>
  %w2 = plan.use @h.2.w : memref<4xf32>
  %f0 = plan.alloc temporary : memref<8xf32>
  %f1 = plan.alloc temporary : memref<8xf32>
  %f2 = plan.alloc temporary : memref<8xf32>
  %b0 = plan.alloc temporary : memref<8xf32>
  %b1 = plan.alloc temporary : memref<8xf32>
  %y0 = plan.alloc temporary : memref<8xf32>
  %y1 = plan.alloc temporary : memref<8xf32>
  %y2 = plan.alloc temporary : memref<8xf32>
  %y3 = plan.alloc temporary : memref<8xf32>
  %y4 = plan.alloc temporary : memref<8xf32>
  // CHECK: plan.all_gather {{.*}}scope = "h.0",
  // CHECK: plan.all_gather {{.*}}scope = "h.1",
  // CHECK: plan.wait @h.0.w.gather{{$}}
  // CHECK: plan.all_gather {{.*}}scope = "h.2",
  // CHECK: plan.wait @h.1.w.gather{{$}}
  // STILL: plan.wait @h.2.w.gather{{$}}
  // STILL: plan.all_gather {{.*}}scope = "h.1.back",
  // STILL: plan.wait @h.1.w.gather{{$}}
  // STILL-NEXT: plan.copy {{.*}}scope = "h.1.back"
  // STILL: plan.all_gather {{.*}}scope = "h.0.back",
  // STILL: plan.wait @h.0.w.gather{{$}}
  // ONE: plan.all_gather {{.*}}scope = "h.1.back",
  // ONE: plan.wait @h.2.w.gather{{$}}
  // ONE: plan.all_gather {{.*}}scope = "h.0.back",
  // ONE: plan.wait @h.1.w.gather{{$}}
  // BACK: plan.all_gather {{.*}}scope = "h.0",
  // BACK: plan.wait @h.0.w.gather{{$}}
  // BACK: plan.all_gather {{.*}}scope = "h.1",
  // BACK: plan.wait @h.1.w.gather{{$}}
  // BACK: plan.all_gather {{.*}}scope = "h.2",
  // BACK: plan.all_gather {{.*}}scope = "h.1.back",
  // BACK: plan.wait @h.2.w.gather{{$}}
  // BACK: plan.all_gather {{.*}}scope = "h.0.back",
  // BACK: plan.wait @h.1.w.gather{{$}}
  // AHEAD: plan.all_gather {{.*}}scope = "h.0",
  // AHEAD: plan.all_gather {{.*}}scope = "h.1",
  // AHEAD: plan.all_gather {{.*}}scope = "h.2",
  // AHEAD: plan.wait @h.0.w.gather{{$}}
  // AHEAD-NEXT: plan.copy
  // AHEAD-NEXT: plan.wait @h.1.w.gather{{$}}
  // AHEAD-NEXT: plan.copy
  // AHEAD: plan.all_gather {{.*}}scope = "h.1.back",
  // AHEAD: plan.wait @h.2.w.gather{{$}}
  // AHEAD: plan.all_gather {{.*}}scope = "h.0.back",
  plan.all_gather %w0 to %f0 among 2 {scope = "h.0", est_us = 10.0 : f64} : memref<4xf32> to memref<8xf32>
  plan.copy %f0 to %y0 {scope = "h.0", est_us = 100.0 : f64} : memref<8xf32> to memref<8xf32>
  plan.all_gather %w1 to %f1 among 2 {scope = "h.1", est_us = 10.0 : f64} : memref<4xf32> to memref<8xf32>
  plan.copy %f1 to %y1 {scope = "h.1", est_us = 100.0 : f64} : memref<8xf32> to memref<8xf32>
  plan.all_gather %w2 to %f2 among 2 {scope = "h.2", est_us = 250.0 : f64} : memref<4xf32> to memref<8xf32>
  plan.copy %f2 to %y2 {scope = "h.2", est_us = 100.0 : f64} : memref<8xf32> to memref<8xf32>
  plan.all_gather %w1 to %b1 among 2 {scope = "h.1.back", est_us = 10.0 : f64} : memref<4xf32> to memref<8xf32>
  plan.copy %b1 to %y3 {scope = "h.1.back", est_us = 100.0 : f64} : memref<8xf32> to memref<8xf32>
  plan.all_gather %w0 to %b0 among 2 {scope = "h.0.back", est_us = 10.0 : f64} : memref<4xf32> to memref<8xf32>
  plan.copy %b0 to %y4 {scope = "h.0.back", est_us = 100.0 : f64} : memref<8xf32> to memref<8xf32>
  plan.output "y" %y2 : memref<8xf32>
  plan.output "a" %y3 : memref<8xf32>
  plan.output "b" %y4 : memref<8xf32>
}
