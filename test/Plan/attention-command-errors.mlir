// RUN: weft-opt %s -split-input-file -verify-diagnostics
// Every rule of commands of attention, broken once.

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x16x4x8xf32>
  %k = plan.alloc temporary : memref<2x16x2x8xf32>
  %o = plan.alloc temporary : memref<2x16x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  // expected-error @+1 {{expects a window of at least 1, but got -1}}
  plan.attention %q, %k, %k -> %o, %l {causal, scale = 0.5 : f64, window = -1 : i64} : memref<2x16x4x8xf32>, memref<2x16x2x8xf32>, memref<2x16x2x8xf32> -> memref<2x16x4x8xf32>, memref<2x4x16xf32>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x16x4x8xf32>
  %k = plan.alloc temporary : memref<2x20x2x8xf32>
  %o = plan.alloc temporary : memref<2x16x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  // expected-error @+1 {{expects as many keys as queries with a window unless causal, but got 20 and 16}}
  plan.attention %q, %k, %k -> %o, %l {scale = 0.5 : f64, window = 3 : i64} : memref<2x16x4x8xf32>, memref<2x20x2x8xf32>, memref<2x20x2x8xf32> -> memref<2x16x4x8xf32>, memref<2x4x16xf32>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x16x4x8xf32>
  %k = plan.alloc temporary : memref<2x16x2x8xf32>
  %o = plan.alloc temporary : memref<2x16x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  // expected-error @+1 {{expects a finite softcap above 0, but got -1.0}}
  plan.attention %q, %k, %k -> %o, %l {scale = 0.5 : f64, softcap = -1.0 : f64} : memref<2x16x4x8xf32>, memref<2x16x2x8xf32>, memref<2x16x2x8xf32> -> memref<2x16x4x8xf32>, memref<2x4x16xf32>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x16x4x8xf32>
  %k = plan.alloc temporary : memref<2x16x2x8xf32>
  %o = plan.alloc temporary : memref<2x16x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  %s = plan.alloc temporary : memref<2x8xi32>
  // expected-error @+1 {{expects segments of shape 2x16, but got 'memref<2x8xi32>'}}
  plan.attention %q, %k, %k -> %o, %l segments(%s : memref<2x8xi32>) {scale = 0.5 : f64} : memref<2x16x4x8xf32>, memref<2x16x2x8xf32>, memref<2x16x2x8xf32> -> memref<2x16x4x8xf32>, memref<2x4x16xf32>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x16x4x8xf32>
  %k = plan.alloc temporary : memref<2x20x2x8xf32>
  %o = plan.alloc temporary : memref<2x16x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  %s = plan.alloc temporary : memref<2x16xi32>
  // expected-error @+1 {{expects as many keys as queries with segments, but got 20 and 16}}
  plan.attention %q, %k, %k -> %o, %l segments(%s : memref<2x16xi32>) {scale = 0.5 : f64} : memref<2x16x4x8xf32>, memref<2x20x2x8xf32>, memref<2x20x2x8xf32> -> memref<2x16x4x8xf32>, memref<2x4x16xf32>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x16x4x8xf32>
  %k = plan.alloc temporary : memref<2x16x2x8xf32>
  %o = plan.alloc temporary : memref<2x16x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  %s2 = plan.alloc temporary : memref<2x32xi32>
  %s = plan.view %s2 : memref<2x32xi32> to memref<2x16xi32, strided<[32, 2]>>
  // expected-error @+1 {{expects a dense buffer of segments, but got 'memref<2x16xi32, strided<[32, 2]>>'}}
  plan.attention %q, %k, %k -> %o, %l segments(%s : memref<2x16xi32, strided<[32, 2]>>) {scale = 0.5 : f64} : memref<2x16x4x8xf32>, memref<2x16x2x8xf32>, memref<2x16x2x8xf32> -> memref<2x16x4x8xf32>, memref<2x4x16xf32>
}

// -----

// Attention.
plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x8x4x8xf32>
  %o = plan.alloc temporary : memref<2x8x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x8xf32>
  %k3 = plan.alloc temporary : memref<2x8x3x8xf32>
  // expected-error @+1 {{expects a query [B,T,H,D] and a key [B,S,G,D] of one type where G divides H, but got 'memref<2x8x4x8xf32>' and 'memref<2x8x3x8xf32>'}}
  plan.attention %q, %k3, %k3 -> %o, %l {scale = 1.0 : f64} : memref<2x8x4x8xf32>, memref<2x8x3x8xf32>, memref<2x8x3x8xf32> -> memref<2x8x4x8xf32>, memref<2x4x8xf32>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x8x4x8xf32>
  %k = plan.alloc temporary : memref<2x8x2x8xf32>
  %o = plan.alloc temporary : memref<2x8x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x8xf32>
  %o2 = plan.alloc temporary : memref<2x8x4x8xf32>
  // expected-error @+1 {{expects value of shape 2x8x2x8, but got 'memref<2x8x4x8xf32>'}}
  plan.attention %q, %k, %o -> %o2, %l {scale = 1.0 : f64} : memref<2x8x4x8xf32>, memref<2x8x2x8xf32>, memref<2x8x4x8xf32> -> memref<2x8x4x8xf32>, memref<2x4x8xf32>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x8x4x8xf32>
  %k = plan.alloc temporary : memref<2x8x2x8xf32>
  %v = plan.alloc temporary : memref<2x8x2x8xf32>
  %l = plan.alloc temporary : memref<2x4x8xf32>
  %o2 = plan.alloc temporary : memref<2x8x2x8xf32>
  // expected-error @+1 {{expects out of shape 2x8x4x8, but got 'memref<2x8x2x8xf32>'}}
  plan.attention %q, %k, %v -> %o2, %l {scale = 1.0 : f64} : memref<2x8x4x8xf32>, memref<2x8x2x8xf32>, memref<2x8x2x8xf32> -> memref<2x8x2x8xf32>, memref<2x4x8xf32>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x8x4x8xf32>
  %k = plan.alloc temporary : memref<2x8x2x8xf32>
  %v = plan.alloc temporary : memref<2x8x2x8xf32>
  %o = plan.alloc temporary : memref<2x8x4x8xf32>
  %l2 = plan.alloc temporary : memref<2x8x4xf32>
  // expected-error @+1 {{expects lse of shape 2x4x8, but got 'memref<2x8x4xf32>'}}
  plan.attention %q, %k, %v -> %o, %l2 {scale = 1.0 : f64} : memref<2x8x4x8xf32>, memref<2x8x2x8xf32>, memref<2x8x2x8xf32> -> memref<2x8x4x8xf32>, memref<2x8x4xf32>
}

// -----

plan.program "eval" @eval {
  %k = plan.alloc temporary : memref<2x8x2x8xf32>
  %v = plan.alloc temporary : memref<2x8x2x8xf32>
  %o = plan.alloc temporary : memref<2x8x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x8xf32>
  %q2 = plan.alloc temporary : memref<2x8x4x16xf32>
  %v2 = plan.view %q2 : memref<2x8x4x16xf32> to memref<2x8x4x8xf32, strided<[512, 64, 16, 2]>>
  // expected-error @+1 {{expects heads whose last stride is 1, but got 'memref<2x8x4x8xf32, strided<[512, 64, 16, 2]>>'}}
  plan.attention %v2, %k, %v -> %o, %l {scale = 1.0 : f64} : memref<2x8x4x8xf32, strided<[512, 64, 16, 2]>>, memref<2x8x2x8xf32>, memref<2x8x2x8xf32> -> memref<2x8x4x8xf32>, memref<2x4x8xf32>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x8x4x8xf32>
  %k = plan.alloc temporary : memref<2x8x2x8xf32>
  %v = plan.alloc temporary : memref<2x8x2x8xf32>
  %o = plan.alloc temporary : memref<2x8x4x8xf32>
  %l2 = plan.alloc temporary : memref<2x4x16xf32>
  %l3 = plan.view %l2 : memref<2x4x16xf32> to memref<2x4x8xf32, strided<[64, 16, 2]>>
  // expected-error @+1 {{expects a dense lse, but got 'memref<2x4x8xf32, strided<[64, 16, 2]>>'}}
  plan.attention %q, %k, %v -> %o, %l3 {scale = 1.0 : f64} : memref<2x8x4x8xf32>, memref<2x8x2x8xf32>, memref<2x8x2x8xf32> -> memref<2x8x4x8xf32>, memref<2x4x8xf32, strided<[64, 16, 2]>>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x8x4x8xf32>
  %o = plan.alloc temporary : memref<2x8x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x8xf32>
  %k4 = plan.alloc temporary : memref<2x4x2x8xf32>
  // expected-error @+1 {{expects at least as many keys as queries when causal, but got 4 and 8}}
  plan.attention %q, %k4, %k4 -> %o, %l {causal, scale = 1.0 : f64} : memref<2x8x4x8xf32>, memref<2x4x2x8xf32>, memref<2x4x2x8xf32> -> memref<2x8x4x8xf32>, memref<2x4x8xf32>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x8x4x8xf32>
  %k = plan.alloc temporary : memref<2x8x2x8xf32>
  %v = plan.alloc temporary : memref<2x8x2x8xf32>
  %o = plan.alloc temporary : memref<2x8x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x8xf32>
  // expected-error @+1 {{expects a finite scale, but got}}
  plan.attention %q, %k, %v -> %o, %l {scale = 0x7FF0000000000000 : f64} : memref<2x8x4x8xf32>, memref<2x8x2x8xf32>, memref<2x8x2x8xf32> -> memref<2x8x4x8xf32>, memref<2x4x8xf32>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x8x4x8xf32>
  %o = plan.alloc temporary : memref<2x8x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x8xf32>
  %b = plan.alloc temporary : memref<2x4x4x1x32xi32>
  // expected-error @+1 {{expects bits only where dropout is above 0, but got dropout of 0}}
  plan.attention %q, %q, %q -> %o, %l bits(%b : memref<2x4x4x1x32xi32>) {scale = 1.0 : f64} : memref<2x8x4x8xf32>, memref<2x8x4x8xf32>, memref<2x8x4x8xf32> -> memref<2x8x4x8xf32>, memref<2x4x8xf32>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x8x4x8xf32>
  %o = plan.alloc temporary : memref<2x8x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x8xf32>
  %r = plan.alloc temporary : memref<2xi64>
  %b = plan.alloc temporary : memref<2x4x1x1x32xi32>
  // expected-error @+1 {{expects bits of shape 2x4x4x1x32, but got 'memref<2x4x1x1x32xi32>'}}
  plan.attention %q, %q, %q -> %o, %l rng(%r : memref<2xi64>) bits(%b : memref<2x4x1x1x32xi32>) {scale = 1.0 : f64, dropout = 0.5 : f64} : memref<2x8x4x8xf32>, memref<2x8x4x8xf32>, memref<2x8x4x8xf32> -> memref<2x8x4x8xf32>, memref<2x4x8xf32>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x8x4x8xf32>
  %o = plan.alloc temporary : memref<2x8x4x8xf32>
  %dq = plan.alloc temporary : memref<2x8x4x8xf32>
  %dk = plan.alloc temporary : memref<2x8x4x8xf32>
  %dv = plan.alloc temporary : memref<2x8x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x8xf32>
  %r = plan.alloc temporary : memref<2xi64>
  %b = plan.alloc temporary : memref<2x4x4x1x32xi32>
  // expected-error @+1 {{expects either rng or bits, but got both}}
  plan.attention_grad %q, %q, %q, %q, %o, %l -> %dq, %dk, %dv rng(%r : memref<2xi64>) bits(%b : memref<2x4x4x1x32xi32>) {scale = 1.0 : f64, dropout = 0.5 : f64} : memref<2x8x4x8xf32>, memref<2x8x4x8xf32>, memref<2x8x4x8xf32>, memref<2x8x4x8xf32>, memref<2x8x4x8xf32>, memref<2x4x8xf32> -> memref<2x8x4x8xf32>, memref<2x8x4x8xf32>, memref<2x8x4x8xf32>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x8x4x8xf32>
  %k = plan.alloc temporary : memref<2x8x2x8xf32>
  %v = plan.alloc temporary : memref<2x8x2x8xf32>
  %o = plan.alloc temporary : memref<2x8x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x8xf32>
  // expected-error @+1 {{expects dropout in [0, 1], but got 2.0}}
  plan.attention %q, %k, %v -> %o, %l {scale = 1.0 : f64, dropout = 2.0 : f64} : memref<2x8x4x8xf32>, memref<2x8x2x8xf32>, memref<2x8x2x8xf32> -> memref<2x8x4x8xf32>, memref<2x4x8xf32>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x8x4x8xf32>
  %k = plan.alloc temporary : memref<2x8x2x8xf32>
  %v = plan.alloc temporary : memref<2x8x2x8xf32>
  %o = plan.alloc temporary : memref<2x8x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x8xf32>
  // expected-error @+1 {{expects rng where dropout is above 0 and only there}}
  plan.attention %q, %k, %v -> %o, %l {scale = 1.0 : f64, dropout = 0.5 : f64} : memref<2x8x4x8xf32>, memref<2x8x2x8xf32>, memref<2x8x2x8xf32> -> memref<2x8x4x8xf32>, memref<2x4x8xf32>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x8x4x8xf32>
  %k = plan.alloc temporary : memref<2x8x2x8xf32>
  %v = plan.alloc temporary : memref<2x8x2x8xf32>
  %o = plan.alloc temporary : memref<2x8x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x8xf32>
  %r3 = plan.alloc temporary : memref<3xi64>
  // expected-error @+1 {{expects rng of shape 2, but got 'memref<3xi64>'}}
  plan.attention %q, %k, %v -> %o, %l rng(%r3 : memref<3xi64>) {scale = 1.0 : f64, dropout = 0.5 : f64} : memref<2x8x4x8xf32>, memref<2x8x2x8xf32>, memref<2x8x2x8xf32> -> memref<2x8x4x8xf32>, memref<2x4x8xf32>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x8x4x8xf32>
  %k = plan.alloc temporary : memref<2x8x2x8xf32>
  %v = plan.alloc temporary : memref<2x8x2x8xf32>
  %o = plan.alloc temporary : memref<2x8x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x8xf32>
  %g = plan.alloc temporary : memref<2x8x4x8xf32>
  %dq = plan.alloc temporary : memref<2x8x4x8xf32>
  %dk = plan.alloc temporary : memref<2x8x2x8xf32>
  %dv = plan.alloc temporary : memref<2x8x4x8xf32>
  // expected-error @+1 {{expects grad_value of shape 2x8x2x8, but got 'memref<2x8x4x8xf32>'}}
  plan.attention_grad %g, %q, %k, %v, %o, %l -> %dq, %dk, %dv {scale = 1.0 : f64} : memref<2x8x4x8xf32>, memref<2x8x4x8xf32>, memref<2x8x2x8xf32>, memref<2x8x2x8xf32>, memref<2x8x4x8xf32>, memref<2x4x8xf32> -> memref<2x8x4x8xf32>, memref<2x8x2x8xf32>, memref<2x8x4x8xf32>
}

// -----

// Routines take words of bits one after another.
plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x8x4x8xf32>
  %o = plan.alloc temporary : memref<2x8x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x8xf32>
  %r = plan.alloc temporary : memref<2xi64>
  %a = plan.alloc temporary : memref<2x4x4x2x32xi32>
  %b = plan.view %a : memref<2x4x4x2x32xi32> to memref<2x4x4x1x32xi32, strided<[1024, 256, 64, 32, 1]>>
  // expected-error @+1 {{expects a dense buffer of bits, but got 'memref<2x4x4x1x32xi32, strided<[1024, 256, 64, 32, 1]>>'}}
  plan.attention %q, %q, %q -> %o, %l rng(%r : memref<2xi64>) bits(%b : memref<2x4x4x1x32xi32, strided<[1024, 256, 64, 32, 1]>>) {scale = 1.0 : f64, dropout = 0.5 : f64} : memref<2x8x4x8xf32>, memref<2x8x4x8xf32>, memref<2x8x4x8xf32> -> memref<2x8x4x8xf32>, memref<2x4x8xf32>
}

// -----

plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x8x4x8xf32>
  %dq = plan.alloc temporary : memref<2x8x4x8xf32>
  %dk = plan.alloc temporary : memref<2x8x4x8xf32>
  %dv = plan.alloc temporary : memref<2x8x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x8xf32>
  %a = plan.alloc temporary : memref<2x4x4x2x32xi32>
  %b = plan.view %a : memref<2x4x4x2x32xi32> to memref<2x4x4x1x32xi32, strided<[1024, 256, 64, 32, 1]>>
  // expected-error @+1 {{expects a dense buffer of bits, but got 'memref<2x4x4x1x32xi32, strided<[1024, 256, 64, 32, 1]>>'}}
  plan.attention_grad %q, %q, %q, %q, %q, %l -> %dq, %dk, %dv bits(%b : memref<2x4x4x1x32xi32, strided<[1024, 256, 64, 32, 1]>>) {scale = 1.0 : f64, dropout = 0.5 : f64} : memref<2x8x4x8xf32>, memref<2x8x4x8xf32>, memref<2x8x4x8xf32>, memref<2x8x4x8xf32>, memref<2x8x4x8xf32>, memref<2x4x8xf32> -> memref<2x8x4x8xf32>, memref<2x8x4x8xf32>, memref<2x8x4x8xf32>
}

// -----

// Buffers without a stride of their own in what runs the command.
plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<2x8x4x8xf32>
  %k = plan.alloc temporary : memref<2x8x2x8xf32>
  %v = plan.alloc temporary : memref<2x8x2x8xf32>
  %o = plan.alloc temporary : memref<2x8x4x8xf32>
  %l = plan.alloc temporary : memref<2x4x8xf32>
  %r = plan.alloc temporary : memref<4xi64>
  %s = plan.view %r : memref<4xi64> to memref<2xi64, strided<[3]>>
  // expected-error @+1 {{expects a dense rng, but got 'memref<2xi64, strided<[3]>>'}}
  plan.attention %q, %k, %v -> %o, %l rng(%s : memref<2xi64, strided<[3]>>) {scale = 1.0 : f64, dropout = 0.5 : f64} : memref<2x8x4x8xf32>, memref<2x8x2x8xf32>, memref<2x8x2x8xf32> -> memref<2x8x4x8xf32>, memref<2x4x8xf32>
}
