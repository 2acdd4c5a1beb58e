// RUN: weft-opt %s --weft-pad-rows --weft-widen-products="rows=8 share=0" --remarks-filter=fusion --split-input-file --verify-diagnostics=only-expected -o /dev/null
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: weft-opt %t/chain.mlir --weft-pad-rows --weft-widen-products="rows=8 share=0" -o %t/chain.wide.mlir && weft-interp --compare %t/chain.mlir %t/chain.wide.mlir --tolerance=0
// RUN: weft-opt %t/types.mlir --weft-pad-rows --weft-widen-products="rows=8 share=0" -o %t/types.wide.mlir && weft-interp --compare %t/types.mlir %t/types.wide.mlir --tolerance=0
// RUN: weft-opt %t/dims.mlir --weft-pad-rows --weft-widen-products="rows=8 share=0" -o %t/dims.wide.mlir && weft-interp --compare %t/dims.mlir %t/dims.wide.mlir --tolerance=0
// RUN: weft-opt %t/placed.mlir --weft-pad-rows --weft-plan-memory -o %t/placed.memory.mlir && weft-opt %t/placed.memory.mlir --weft-pad-rows --weft-widen-products="rows=8 share=0" -o %t/placed.again.mlir && cmp %t/placed.memory.mlir %t/placed.again.mlir
// Products that fill one buffer and sum over another; factors of another type than
// what they fill; more dimensions than a copy has; places that are given.

//--- chain.mlir
plan.program "micro" @micro {
  %x = plan.input "x" : memref<8x33xf32>
  %w = plan.input "w" : memref<31x33xf32>
  // expected-remark @below {{products run over the padding of rows of 31: one fills it, and 1 sum over it}}
  %h = plan.alloc temporary : memref<8x31xf32>
  // expected-remark @below {{products run over the padding of rows of 33: one fills it, and 0 sum over it}}
  %y = plan.alloc temporary : memref<8x33xf32>
  // expected-remark @below {{products run over the padding of rows of 31: one fills it, and 0 sum over it}}
  %d = plan.alloc temporary : memref<8x31xf32>
  %c = plan.alloc temporary : memref<8x31xf32>
  plan.gemm %x * %w transposed -> %h : memref<8x33xf32> * memref<31x33xf32> -> memref<8x31xf32>
  plan.gemm %h * %w -> %y : memref<8x31xf32> * memref<31x33xf32> -> memref<8x33xf32>
  plan.gemm %y * %w transposed -> %d : memref<8x33xf32> * memref<31x33xf32> -> memref<8x31xf32>
  plan.copy %d to %c : memref<8x31xf32> to memref<8x31xf32>
  plan.output "c" %c : memref<8x31xf32>
}

//--- types.mlir
// -----
plan.program "micro" @micro {
  %x = plan.input "x" : memref<8x4xf16>
  %w = plan.input "w" : memref<31x4xf16>
  %c = plan.alloc temporary : memref<8x32xf32>
  %part = plan.view %c : memref<8x32xf32> to memref<8x31xf32, strided<[32, 1]>>
  %row = plan.view %c : memref<8x32xf32> to memref<8x1xf32, strided<[32, 1], offset: 31>>
  // expected-remark @below {{products run over the padding of rows of 31}}
  %z = plan.alloc temporary : memref<8x31xf32>
  %first = plan.view %z : memref<8x31xf32> to memref<8x1xf32, strided<[31, 1]>>
  plan.gemm %x * %w transposed -> %z : memref<8x4xf16> * memref<31x4xf16> -> memref<8x31xf32>
  plan.copy %z to %part : memref<8x31xf32> to memref<8x31xf32, strided<[32, 1]>>
  plan.copy %first to %row : memref<8x1xf32, strided<[31, 1]>> to memref<8x1xf32, strided<[32, 1], offset: 31>>
  plan.output "c" %c : memref<8x32xf32>
}

//--- dims.mlir
// -----
plan.program "micro" @micro {
  %x = plan.input "x" : memref<1x1x1x1x1x1x2x4x4xf32>
  %w = plan.input "w" : memref<31x4xf32>
  // expected-remark @below {{products run over the padding of rows of 31: one fills it, and 1 sum over it}}
  %z = plan.alloc temporary : memref<1x1x1x1x1x1x2x4x31xf32>
  %y = plan.alloc temporary : memref<1x1x1x1x1x1x2x4x4xf32>
  plan.gemm %x * %w transposed -> %z : memref<1x1x1x1x1x1x2x4x4xf32> * memref<31x4xf32> -> memref<1x1x1x1x1x1x2x4x31xf32>
  plan.gemm %z * %w -> %y : memref<1x1x1x1x1x1x2x4x31xf32> * memref<31x4xf32> -> memref<1x1x1x1x1x1x2x4x4xf32>
  plan.output "y" %y : memref<1x1x1x1x1x1x2x4x4xf32>
}

//--- placed.mlir
// -----
plan.program "micro" @micro {
  %x = plan.input "x" : memref<8x4xf32>
  %w = plan.input "w" : memref<31x4xf32>
  // expected-remark @below {{products run over the padding of rows of 31: one fills it, and 1 sum over it}}
  %z = plan.alloc temporary : memref<8x31xf32>
  %y = plan.alloc temporary : memref<8x4xf32>
  plan.gemm %x * %w transposed -> %z : memref<8x4xf32> * memref<31x4xf32> -> memref<8x31xf32>
  plan.gemm %z * %w -> %y : memref<8x31xf32> * memref<31x4xf32> -> memref<8x4xf32>
  plan.output "y" %y : memref<8x4xf32>
}
