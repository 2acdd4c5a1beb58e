// RUN: weft-opt %s --weft-add-device-workspaces --split-input-file --verify-diagnostics
// Commands for which CUDA devices have no routine.

plan.program "eval" @epilogue {
  %x = plan.alloc temporary : memref<8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  %a = plan.alloc temporary : memref<8x2xf32>
  // expected-error @+1 {{'plan.gemm' op expects no aux of relu, of which cuBLASLt keeps bits, but got 1}}
  plan.gemm %x * %w -> %y epilogue relu aux(%a : memref<8x2xf32>) : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
}

// -----

plan.program "eval" @heads {
  %q = plan.alloc temporary : memref<2x16x4x320xf32>
  %o = plan.alloc temporary : memref<2x16x4x320xf32>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  // expected-error @+1 {{'plan.attention' op expects heads of at most 256 elements on CUDA devices, but got 320}}
  plan.attention %q, %q, %q -> %o, %l {scale = 0.125 : f64} : memref<2x16x4x320xf32>, memref<2x16x4x320xf32>, memref<2x16x4x320xf32> -> memref<2x16x4x320xf32>, memref<2x4x16xf32>
}
