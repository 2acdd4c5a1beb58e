// RUN: weft-opt %s --weft-add-device-workspaces --split-input-file --verify-diagnostics
// Marks of attention that somebody has edited.

plan.program "eval" @library {
  %q = plan.alloc temporary : memref<2x16x4x64xf16>
  %o = plan.alloc temporary : memref<2x16x4x64xf16>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  // expected-error @+1 {{'plan.attention' op expects cuda.attention of "cudnn" or "cudnn_or_own", but got "flash"}}
  plan.attention %q, %q, %q -> %o, %l {cuda.attention = "flash", scale = 0.125 : f64} : memref<2x16x4x64xf16>, memref<2x16x4x64xf16>, memref<2x16x4x64xf16> -> memref<2x16x4x64xf16>, memref<2x4x16xf32>
}

// -----

plan.program "eval" @type {
  %q = plan.alloc temporary : memref<2x16x4x64xf32>
  %o = plan.alloc temporary : memref<2x16x4x64xf32>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  // expected-error @+2 {{'plan.attention' op expects heads of f16 or bf16 with --attention=cudnn, but got f32}}
  // expected-note @+1 {{--attention=own computes it}}
  plan.attention %q, %q, %q -> %o, %l {cuda.attention = "cudnn_or_own", scale = 0.125 : f64} : memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x16x4x64xf32> -> memref<2x16x4x64xf32>, memref<2x4x16xf32>
}
