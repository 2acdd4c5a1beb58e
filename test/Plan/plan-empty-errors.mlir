// RUN: weft-opt %s -split-input-file -verify-diagnostics
// No buffer is without elements.

// expected-error @+1 {{expects sizes of at least 1, but got 'memref<0xf32>'}}
plan.state param @w : memref<0xf32>

// -----

plan.program "eval" @eval {
  // expected-error @+1 {{expects sizes of at least 1, but got 'memref<4x0xf32>'}}
  %x = plan.input "x" : memref<4x0xf32>
}

// -----

plan.program "eval" @eval {
  // expected-error @+1 {{expects sizes of at least 1, but got 'memref<0x4xf32>'}}
  %x = plan.alloc temporary : memref<0x4xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<4x4xf32>
  // expected-error @+1 {{expects sizes of at least 1, but got 'memref<0x4xf32>'}}
  %v = plan.view %x : memref<4x4xf32> to memref<0x4xf32>
}
