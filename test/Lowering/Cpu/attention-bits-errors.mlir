// RUN: weft-opt %s --weft-add-workspaces --split-input-file --verify-diagnostics
// Routines of the CPU draw the numbers of dropout in both passes.

plan.program "eval" @forward {
  %q = plan.alloc temporary : memref<2x16x4x64xf32>
  %o = plan.alloc temporary : memref<2x16x4x64xf32>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  %rng = plan.alloc temporary : memref<2xi64>
  %b = plan.alloc temporary : memref<2x4x4x1x32xi32>
  // expected-error @+1 {{'plan.attention' op expects attention that draws its random numbers on the CPU, but got one with bits}}
  plan.attention %q, %q, %q -> %o, %l rng(%rng : memref<2xi64>) bits(%b : memref<2x4x4x1x32xi32>) {dropout = 0.1 : f64, scale = 0.125 : f64} : memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x16x4x64xf32> -> memref<2x16x4x64xf32>, memref<2x4x16xf32>
}

// -----

plan.program "eval" @backward {
  %q = plan.alloc temporary : memref<2x16x4x64xf32>
  %dq = plan.alloc temporary : memref<2x16x4x64xf32>
  %dk = plan.alloc temporary : memref<2x16x4x64xf32>
  %dv = plan.alloc temporary : memref<2x16x4x64xf32>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  %b = plan.alloc temporary : memref<2x4x4x1x32xi32>
  // expected-error @+1 {{'plan.attention_grad' op expects attention that draws its random numbers on the CPU, but got one with bits}}
  plan.attention_grad %q, %q, %q, %q, %q, %l -> %dq, %dk, %dv bits(%b : memref<2x4x4x1x32xi32>) {dropout = 0.1 : f64, scale = 0.125 : f64} : memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x4x16xf32> -> memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x16x4x64xf32>
}
