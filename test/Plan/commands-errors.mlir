// RUN: weft-opt --split-input-file --verify-diagnostics %s
// Every rule of every command, broken once.

// Overlapping views of one root.
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<16xf32>
  %a = plan.view %x : memref<16xf32> to memref<8xf32>
  %b = plan.view %x : memref<16xf32> to memref<8xf32, strided<[1], offset: 1>>
  // expected-error @+1 {{expects a buffer that it writes to share no bytes with its other operands, but got 'memref<8xf32, strided<[1], offset: 1>>' and 'memref<8xf32>' of one root}}
  plan.copy %a to %b : memref<8xf32> to memref<8xf32, strided<[1], offset: 1>>
}

// -----

// One element is written four times.
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<16xf32>
  %b = plan.view %x : memref<16xf32> to memref<4x4xf32, strided<[0, 1]>>
  %y = plan.alloc temporary : memref<4x4xf32>
  // expected-error @+1 {{expects to write distinct elements, but got 'memref<4x4xf32, strided<[0, 1]>>'}}
  plan.copy %y to %b : memref<4x4xf32> to memref<4x4xf32, strided<[0, 1]>>
}

// -----

// In place where the command still reads.
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %i = plan.input "ids" : memref<8xi32>
  // expected-error @+1 {{expects a buffer that it writes to share no bytes with its other operands}}
  plan.embedding %x[%i] -> %x : memref<8x4xf32>[memref<8xi32>] -> memref<8x4xf32>
}

// -----

// In place, but elsewhere.
weft.kernel @k_exp(%a: tensor<8xf32>) -> tensor<8xf32> elementwise [8] inplace [[0]] {
  %y = weft.exp %a : tensor<8xf32>
  weft.yield %y : tensor<8xf32>
}
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<16xf32>
  %a = plan.view %x : memref<16xf32> to memref<8xf32>
  %c = plan.view %x : memref<16xf32> to memref<8xf32, strided<[1], offset: 4>>
  // expected-error @+1 {{expects a buffer that it writes to share no bytes with its other operands}}
  plan.launch @k_exp ins(%a : memref<8xf32>) outs(%c : memref<8xf32, strided<[1], offset: 4>>)
}

// -----

// A launch is checked against its kernel: number, shape and type of buffers, what may be in place.
weft.kernel @k_1(%a: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> elementwise [8, 4] inplace [[]] {
  %y = weft.add %a, %b : tensor<8x4xf32>, tensor<4xf32>
  weft.yield %y : tensor<8x4xf32>
}
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %y = plan.alloc temporary : memref<8x4xf32>
  // expected-error @+1 {{expects 2 inputs as @k_1 has, but got 1}}
  plan.launch @k_1 ins(%x : memref<8x4xf32>) outs(%y : memref<8x4xf32>)
}

// -----

weft.kernel @k_1(%a: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> elementwise [8, 4] inplace [[]] {
  %y = weft.add %a, %b : tensor<8x4xf32>, tensor<4xf32>
  weft.yield %y : tensor<8x4xf32>
}
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %b = plan.alloc temporary : memref<4xf32>
  %y = plan.alloc temporary : memref<8x4xf32>
  %z = plan.alloc temporary : memref<4x8xf32>
  // expected-error @+1 {{expects 1 outputs as @k_1 has, but got 2}}
  plan.launch @k_1 ins(%x, %b : memref<8x4xf32>, memref<4xf32>) outs(%y, %z : memref<8x4xf32>, memref<4x8xf32>)
}

// -----

weft.kernel @k_1(%a: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> elementwise [8, 4] inplace [[]] {
  %y = weft.add %a, %b : tensor<8x4xf32>, tensor<4xf32>
  weft.yield %y : tensor<8x4xf32>
}
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %b = plan.alloc temporary : memref<4xf32>
  %z = plan.alloc temporary : memref<4x8xf32>
  // expected-error @+1 {{expects a buffer for 'tensor<8x4xf32>' of @k_1, but got 'memref<4x8xf32>'}}
  plan.launch @k_1 ins(%x, %b : memref<8x4xf32>, memref<4xf32>) outs(%z : memref<4x8xf32>)
}

// -----

// expected-note @+1 {{inplace of the kernel does not list it}}
weft.kernel @k_1(%a: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> elementwise [8, 4] inplace [[]] {
  %y = weft.add %a, %b : tensor<8x4xf32>, tensor<4xf32>
  weft.yield %y : tensor<8x4xf32>
}
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %b = plan.alloc temporary : memref<4xf32>
  // expected-error @+1 {{expects output 0 not to be the buffer of input 0, which @k_1 still reads}}
  plan.launch @k_1 ins(%x, %b : memref<8x4xf32>, memref<4xf32>) outs(%x : memref<8x4xf32>)
}

// -----

// Products.
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  // expected-error @+1 {{expects factors whose inner and batch dimensions agree, but got 'memref<8x4xf32>' and 'memref<4x2xf32>' transposed}}
  plan.gemm %x * %w transposed -> %y : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
}

// -----

plan.program "eval" @eval {
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  %b = plan.alloc temporary : memref<2xf32>
  // expected-error @+1 {{expects factors whose inner and batch dimensions agree, but got 'memref<2xf32>' and 'memref<4x2xf32>'}}
  plan.gemm %b * %w -> %y : memref<2xf32> * memref<4x2xf32> -> memref<8x2xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %w2 = plan.alloc temporary : memref<4x2xf32>
  // expected-error @+1 {{expects target of shape 8x2, but got 'memref<4x2xf32>'}}
  plan.gemm %x * %w -> %w2 : memref<8x4xf32> * memref<4x2xf32> -> memref<4x2xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  %h = plan.alloc temporary : memref<4x2xf16>
  // expected-error @+1 {{expects rhs of 'f32', but got 'f16'}}
  plan.gemm %x * %h -> %y : memref<8x4xf32> * memref<4x2xf16> -> memref<8x2xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %y2 = plan.alloc temporary : memref<8x2xf16>
  // expected-error @+1 {{expects target of 'f32' or f32, but got 'f16'}}
  plan.gemm %x * %w -> %y2 : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf16>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  %f = plan.alloc temporary : memref<f32>
  // expected-error @+1 {{expects either a flag or adds, but got both}}
  plan.gemm %x * %w -> %y accumulate(%f : memref<f32>) {adds} : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
}

// -----

plan.program "eval" @eval {
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  %s = plan.alloc temporary : memref<4x8x2xf32>
  %v = plan.view %s : memref<4x8x2xf32> to memref<8x4xf32, strided<[2, 16]>>
  // expected-error @+1 {{expects lhs to be stored as rows at one distance, but got 'memref<8x4xf32, strided<[2, 16]>>'}}
  plan.gemm %v * %w -> %y : memref<8x4xf32, strided<[2, 16]>> * memref<4x2xf32> -> memref<8x2xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  %v = plan.view %y : memref<8x2xf32> to memref<8x2xf32, strided<[1, 8]>>
  // expected-error @+1 {{expects target to be stored as rows at one distance, but got 'memref<8x2xf32, strided<[1, 8]>>'}}
  plan.gemm %x * %w -> %v : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32, strided<[1, 8]>>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  %c = plan.alloc temporary : memref<3xf32>
  // expected-error @+1 {{expects bias of shape 2, but got 'memref<3xf32>'}}
  plan.gemm %x * %w -> %y bias(%c : memref<3xf32>) : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  %d = plan.alloc temporary : memref<2xf16>
  // expected-error @+1 {{expects bias of 'f32', but got 'f16'}}
  plan.gemm %x * %w -> %y bias(%d : memref<2xf16>) : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  %c = plan.alloc temporary : memref<3xf32>
  %v = plan.view %c : memref<3xf32> to memref<2xf32, strided<[2]>>
  // expected-error @+1 {{expects a dense bias, but got 'memref<2xf32, strided<[2]>>'}}
  plan.gemm %x * %w -> %y bias(%v : memref<2xf32, strided<[2]>>) : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  %c = plan.alloc temporary : memref<3xf32>
  // expected-error @+1 {{expects column_sum of shape 2, but got 'memref<3xf32>'}}
  plan.gemm %x * %w -> %y column_sum(%c : memref<3xf32>) : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  // expected-error @+1 {{expects aux for the epilogue gelu_grad}}
  plan.gemm %x * %w -> %y epilogue gelu_grad : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  %u = plan.alloc temporary : memref<8x2xf32>
  // expected-error @+1 {{expects an epilogue that has an aux, but got none}}
  plan.gemm %x * %w -> %y aux(%u : memref<8x2xf32>) : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  %b = plan.alloc temporary : memref<2xf32>
  // expected-error @+1 {{expects aux of shape 8x2, but got 'memref<2xf32>'}}
  plan.gemm %x * %w -> %y epilogue gelu aux(%b : memref<2xf32>) : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
}

// -----

// Tables.
plan.program "eval" @eval {
  %i = plan.alloc temporary : memref<8xi32>
  %y = plan.alloc temporary : memref<8x4xf32>
  %t1 = plan.alloc temporary : memref<10xf32>
  // expected-error @+1 {{expects a table of rank 2, but got 'memref<10xf32>'}}
  plan.embedding %t1[%i] -> %y : memref<10xf32>[memref<8xi32>] -> memref<8x4xf32>
}

// -----

plan.program "eval" @eval {
  %t = plan.alloc temporary : memref<10x4xf32>
  %i = plan.alloc temporary : memref<8xi32>
  %u = plan.alloc temporary : memref<10x4xf32>
  // expected-error @+1 {{expects target of shape 8x4, but got 'memref<10x4xf32>'}}
  plan.embedding %t[%i] -> %u : memref<10x4xf32>[memref<8xi32>] -> memref<10x4xf32>
}

// -----

plan.program "eval" @eval {
  %t = plan.alloc temporary : memref<10x4xf32>
  %i = plan.alloc temporary : memref<8xi32>
  %y2 = plan.alloc temporary : memref<8x4xf16>
  // expected-error @+1 {{expects target of 'f32', but got 'f16'}}
  plan.embedding %t[%i] -> %y2 : memref<10x4xf32>[memref<8xi32>] -> memref<8x4xf16>
}

// -----

plan.program "eval" @eval {
  %t = plan.alloc temporary : memref<10x4xf32>
  %i = plan.alloc temporary : memref<8xi32>
  %t1 = plan.alloc temporary : memref<10xf32>
  // expected-error @+1 {{expects grad of shape 8x4, but got 'memref<10xf32>'}}
  plan.embedding_grad %t1[%i] -> %t : memref<10xf32>[memref<8xi32>] -> memref<10x4xf32>
}

// -----

plan.program "eval" @eval {
  %i = plan.alloc temporary : memref<8xi32>
  %y = plan.alloc temporary : memref<8x4xf32>
  %u = plan.alloc temporary : memref<10x4xf16>
  // expected-error @+1 {{expects target of 'f32' or f32, but got 'f16'}}
  plan.embedding_grad %y[%i] -> %u : memref<8x4xf32>[memref<8xi32>] -> memref<10x4xf16>
}

// -----

plan.program "eval" @eval {
  %t = plan.alloc temporary : memref<4x2xf32>
  %i = plan.input "ids" : memref<4xi32>
  %u = plan.view %i : memref<4xi32> to memref<2xi32, strided<[2]>>
  %z = plan.alloc temporary : memref<2x2xf32>
  // expected-error @+1 {{expects dense buffers, but got 'memref<2xi32, strided<[2]>>'}}
  plan.embedding %t[%u] -> %z : memref<4x2xf32>[memref<2xi32, strided<[2]>>] -> memref<2x2xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  %c = plan.alloc temporary : memref<4xf32>
  %s = plan.view %c : memref<4xf32> to memref<2xf32, strided<[2]>>
  // expected-error @+1 {{expects a dense column_sum, but got 'memref<2xf32, strided<[2]>>'}}
  plan.gemm %x * %w -> %y column_sum(%s : memref<2xf32, strided<[2]>>) : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  %c = plan.alloc temporary : memref<8x4xf32>
  %s = plan.view %c : memref<8x4xf32> to memref<8x2xf32, strided<[4, 1]>>
  // expected-error @+1 {{expects a dense aux, but got 'memref<8x2xf32, strided<[4, 1]>>'}}
  plan.gemm %x * %w -> %y epilogue gelu aux(%s : memref<8x2xf32, strided<[4, 1]>>) : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
}

// -----

// Groups of operands by their sizes, where the written form has one each.
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<2x2xf32>
  %y = plan.alloc temporary : memref<2x2xf32>
  // expected-error @+1 {{expects one operand in group 0, but got 2}}
  "plan.gemm"(%x, %x, %y) <{operandSegmentSizes = array<i32: 2, 0, 1, 0, 0, 0, 0, 0, 0, 0>}> : (memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>) -> ()
}

// -----

plan.program "eval" @eval {
  // expected-error @+1 {{expects i8 for a workspace, but got workspace : 'memref<2x2xf32>'}}
  %x = plan.alloc workspace : memref<2x2xf32>
}

// -----

plan.program "eval" @eval {
  // expected-error @+1 {{expects a workspace for i8, but got temporary : 'memref<64xi8>'}}
  %x = plan.alloc temporary : memref<64xi8>
}

// -----

// A workspace is for one command at a time, and not one of its operands.
plan.program "eval" @eval {
  %ids = plan.input "ids" : memref<2xi32>
  %y = plan.alloc temporary : memref<2x2xf32>
  %ws = plan.alloc workspace : memref<64xi8>
  // expected-error @+1 {{operand #1 must be memref of 32-bit float or 16-bit float or bfloat16 type values, but got 'memref<64xi8>'}}
  "plan.gemm"(%y, %ws, %y) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0>}> : (memref<2x2xf32>, memref<64xi8>, memref<2x2xf32>) -> ()
}

// -----

plan.program "eval" @eval {
  // expected-error @+1 {{expects sizes of at least 1, but got 'memref<0xi8>'}}
  %x = plan.alloc workspace : memref<0xi8>
}

// -----

plan.program "eval" @p {
  %x = plan.input "x" : memref<4xf32>
  %y = plan.alloc temporary : memref<4xf32>
  // expected-error @+1 {{'plan.copy' op expects a stream from 0 to 63, but got -1}}
  plan.copy %x to %y {stream = -1} : memref<4xf32> to memref<4xf32>
}

// -----

plan.program "eval" @p {
  %x = plan.input "x" : memref<4xf32>
  %y = plan.alloc temporary : memref<4xf32>
  // expected-error @+1 {{'plan.copy' op expects a stream from 0 to 63, but got 64}}
  plan.copy %x to %y {stream = 64} : memref<4xf32> to memref<4xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.input "x" : memref<8xf32>
  %y = plan.alloc temporary : memref<8xf32>
  // expected-error @+1 {{expects flops of at least 0, but got -5}}
  plan.copy %x to %y {flops = -5 : i64} : memref<8xf32> to memref<8xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.input "x" : memref<8xf32>
  %y = plan.alloc temporary : memref<8xf32>
  // expected-error @+1 {{expects a finite est_us of at least 0, but got 0x7FF8000000000000 : f64}}
  plan.copy %x to %y {est_us = 0x7FF8000000000000 : f64} : memref<8xf32> to memref<8xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  %c = plan.alloc temporary : memref<4xf32>
  // expected-error @+1 {{expects lhs_sum of shape 8, but got 'memref<4xf32>'}}
  plan.gemm %x * %w -> %y lhs_sum(%c : memref<4xf32>) : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  %c = plan.alloc temporary : memref<4xf32>
  %s = plan.view %c : memref<4xf32> to memref<2xf32, strided<[2]>>
  // expected-error @+1 {{expects a dense rhs_sum, but got 'memref<2xf32, strided<[2]>>'}}
  plan.gemm %x * %w -> %y rhs_sum(%s : memref<2xf32, strided<[2]>>) : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<2x8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<2x8x2xf32>
  %c = plan.alloc temporary : memref<2xf32>
  // expected-error @+1 {{expects factors of rank 2 with rhs_sum, but got 'memref<2x8x4xf32>' and 'memref<4x2xf32>'}}
  plan.gemm %x * %w -> %y rhs_sum(%c : memref<2xf32>) : memref<2x8x4xf32> * memref<4x2xf32> -> memref<2x8x2xf32>
}
