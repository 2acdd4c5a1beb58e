// RUN: weft-opt %s --weft-choose-attention="attention=cudnn" --weft-add-device-workspaces --split-input-file --verify-diagnostics
// Attention that cuDNN does not compute as weft does is an error, never another kernel.

plan.program "eval" @type {
  %q = plan.alloc temporary : memref<2x16x4x64xf32>
  %o = plan.alloc temporary : memref<2x16x4x64xf32>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  // expected-error @+2 {{'plan.attention' op expects heads of f16 or bf16 with --attention=cudnn, but got f32}}
  // expected-note @+1 {{--attention=own computes it}}
  plan.attention %q, %q, %q -> %o, %l {scale = 0.125 : f64} : memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x16x4x64xf32> -> memref<2x16x4x64xf32>, memref<2x4x16xf32>
}

// -----

plan.program "eval" @size {
  %q = plan.alloc temporary : memref<2x16x4x60xf16>
  %o = plan.alloc temporary : memref<2x16x4x60xf16>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  // expected-error @+2 {{'plan.attention' op expects heads of a multiple of 8 elements, at most 256 on sm_90, with --attention=cudnn, but got 60}}
  // expected-note @+1 {{--attention=own computes it}}
  plan.attention %q, %q, %q -> %o, %l {scale = 0.125 : f64} : memref<2x16x4x60xf16>, memref<2x16x4x60xf16>, memref<2x16x4x60xf16> -> memref<2x16x4x60xf16>, memref<2x4x16xf32>
}

// -----

plan.program "eval" @dropout {
  %q = plan.alloc temporary : memref<2x16x4x64xf16>
  %o = plan.alloc temporary : memref<2x16x4x64xf16>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  %rng = plan.alloc temporary : memref<2xi64>
  // expected-error @+2 {{'plan.attention' op expects no dropout, because cuDNN draws other masks, with --attention=cudnn, but got 0.100000}}
  // expected-note @+1 {{--attention=own computes it}}
  plan.attention %q, %q, %q -> %o, %l rng(%rng : memref<2xi64>) {dropout = 1.0e-01 : f64, scale = 0.125 : f64} : memref<2x16x4x64xf16>, memref<2x16x4x64xf16>, memref<2x16x4x64xf16> -> memref<2x16x4x64xf16>, memref<2x4x16xf32>
}

// -----

plan.program "eval" @mask {
  %q = plan.alloc temporary : memref<2x16x4x64xf16>
  %k = plan.alloc temporary : memref<2x24x4x64xf16>
  %o = plan.alloc temporary : memref<2x16x4x64xf16>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  // expected-error @+2 {{'plan.attention' op expects as many keys as queries of causal attention with --attention=cudnn, but got 24 and 16}}
  // expected-note @+1 {{--attention=own computes it}}
  plan.attention %q, %k, %k -> %o, %l {causal, scale = 0.125 : f64} : memref<2x16x4x64xf16>, memref<2x24x4x64xf16>, memref<2x24x4x64xf16> -> memref<2x16x4x64xf16>, memref<2x4x16xf32>
}

// -----

plan.program "eval" @strides {
  %all = plan.alloc temporary : memref<2x16x260xf16>
  %q = plan.view %all : memref<2x16x260xf16> to memref<2x16x4x64xf16, strided<[4160, 260, 64, 1]>>
  %o = plan.alloc temporary : memref<2x16x4x64xf16>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  %dq = plan.alloc temporary : memref<2x16x4x64xf16>
  %dk = plan.alloc temporary : memref<2x16x4x64xf16>
  %dv = plan.alloc temporary : memref<2x16x4x64xf16>
  // expected-error @+2 {{'plan.attention_grad' op expects strides of multiples of 8 elements with --attention=cudnn, but got 260}}
  // expected-note @+1 {{--attention=own computes it}}
  plan.attention_grad %o, %o, %o, %q, %o, %l -> %dq, %dk, %dv {scale = 0.125 : f64} : memref<2x16x4x64xf16>, memref<2x16x4x64xf16>, memref<2x16x4x64xf16>, memref<2x16x4x64xf16, strided<[4160, 260, 64, 1]>>, memref<2x16x4x64xf16>, memref<2x4x16xf32> -> memref<2x16x4x64xf16>, memref<2x16x4x64xf16>, memref<2x16x4x64xf16>
}

// -----

plan.program "eval" @window {
  %q = plan.alloc temporary : memref<2x16x4x64xf16>
  %o = plan.alloc temporary : memref<2x16x4x64xf16>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  // expected-error @+2 {{'plan.attention' op expects no window with --attention=cudnn, but got 4}}
  // expected-note @+1 {{--attention=own computes it}}
  plan.attention %q, %q, %q -> %o, %l {causal, scale = 0.125 : f64, window = 4 : i64} : memref<2x16x4x64xf16>, memref<2x16x4x64xf16>, memref<2x16x4x64xf16> -> memref<2x16x4x64xf16>, memref<2x4x16xf32>
}

// -----

plan.program "eval" @softcap {
  %q = plan.alloc temporary : memref<2x16x4x64xf16>
  %o = plan.alloc temporary : memref<2x16x4x64xf16>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  // expected-error @+2 {{'plan.attention' op expects no softcap with --attention=cudnn, but got 50.000000}}
  // expected-note @+1 {{--attention=own computes it}}
  plan.attention %q, %q, %q -> %o, %l {causal, scale = 0.125 : f64, softcap = 50.0 : f64} : memref<2x16x4x64xf16>, memref<2x16x4x64xf16>, memref<2x16x4x64xf16> -> memref<2x16x4x64xf16>, memref<2x4x16xf32>
}

// -----

plan.program "eval" @segments {
  %q = plan.alloc temporary : memref<2x16x4x64xf16>
  %o = plan.alloc temporary : memref<2x16x4x64xf16>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  %ids = plan.alloc temporary : memref<2x16xi32>
  // expected-error @+2 {{'plan.attention' op expects no segments with --attention=cudnn, but got some}}
  // expected-note @+1 {{--attention=own computes it}}
  plan.attention %q, %q, %q -> %o, %l segments(%ids : memref<2x16xi32>) {causal, scale = 0.125 : f64} : memref<2x16x4x64xf16>, memref<2x16x4x64xf16>, memref<2x16x4x64xf16> -> memref<2x16x4x64xf16>, memref<2x4x16xf32>
}
