// RUN: weft-opt %s -split-input-file -verify-diagnostics
// Windows, softcaps and documents that a command of attention does not have.

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
