// RUN: weft-opt --split-input-file --verify-diagnostics %s
// A launch of a kernel in its linalg form, against what the form says.

// expected-note @+1 {{inplace of the kernel does not list it}}
func.func private @k_1(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.inplace = [array<i64>], weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>} {
  return
}
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8xf32>
  // expected-error @+1 {{expects output 0 not to be the buffer of input 0, which @k_1 still reads}}
  plan.launch @k_1 ins(%x : memref<8xf32>) outs(%x : memref<8xf32>)
}

// -----

// A listed buffer may be reused.
func.func private @k_1(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.inplace = [array<i64: 0>], weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>} {
  return
}
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8xf32>
  plan.launch @k_1 ins(%x : memref<8xf32>) outs(%x : memref<8xf32>)
}

// -----

func.func private @k_1(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.inplace = [array<i64>], weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>} {
  return
}
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8xf32>
  %y = plan.alloc temporary : memref<4xf32>
  // expected-error @+1 {{expects a buffer for 'memref<8xf32>' of @k_1, but got 'memref<4xf32>'}}
  plan.launch @k_1 ins(%x : memref<8xf32>) outs(%y : memref<4xf32>)
}

// -----

func.func private @k_1(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.inplace = [array<i64>], weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>} {
  return
}
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8xf32>
  %y = plan.alloc temporary : memref<8xf32>
  // expected-error @+1 {{expects 1 inputs as @k_1 has, but got 2}}
  plan.launch @k_1 ins(%x, %x : memref<8xf32>, memref<8xf32>) outs(%y : memref<8xf32>)
}

// -----

// Listed, but an element later in the same root.
func.func private @k_1(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.inplace = [array<i64: 0>], weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>} {
  return
}
plan.program "eval" @eval {
  %root = plan.alloc temporary : memref<9xf32>
  %x = plan.view %root : memref<9xf32> to memref<8xf32>
  %y = plan.view %root : memref<9xf32> to memref<8xf32, strided<[1], offset: 1>>
  // expected-error @+1 {{expects a buffer that it writes to share no bytes with its other operands, but got 'memref<8xf32, strided<[1], offset: 1>>' and 'memref<8xf32>' of one root}}
  plan.launch @k_1 ins(%x : memref<8xf32>) outs(%y : memref<8xf32, strided<[1], offset: 1>>)
}

// -----

// Listed, but fewer elements than it has.
func.func private @k_1(%x: memref<9xf32>, %y: memref<8xf32>) attributes {weft.inplace = [array<i64: 0>], weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>} {
  return
}
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<9xf32>
  %y = plan.view %x : memref<9xf32> to memref<8xf32>
  // expected-error @+1 {{expects a buffer that it writes to share no bytes with its other operands, but got 'memref<8xf32>' and 'memref<9xf32>' of one root}}
  plan.launch @k_1 ins(%x : memref<9xf32>) outs(%y : memref<8xf32>)
}

// -----

// No buffers, as in no form of a kernel: left to what reads it.
func.func private @k_1(tensor<4xf32>, tensor<4xf32>) attributes {weft.inplace = [array<i64>]}
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<4xf32>
  %y = plan.alloc temporary : memref<4xf32>
  plan.launch @k_1 ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
}
