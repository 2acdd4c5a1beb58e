// A gelu that stands apart is none of the product before it, where its library has one; the
// attribute goes with the choice.
// RUN: weft-opt --weft-select-kernels="library=cuda" %s | FileCheck %s --implicit-check-not=weft.apart
// RUN: weft-opt --weft-select-kernels=library=cuda --remarks-filter=fusion %s -o %t 2>&1 | FileCheck %s --check-prefix=WHY

// WHY: is not part of the product before it: one that is computed again would be none
// CHECK: weft.matmul
// CHECK-NEXT: weft.gelu
// CHECK-NEXT: weft.gemm {{.*}} epilogue gelu
weft.program @eval(%x: tensor<8x8xf32> {weft.input = "x"}, %w: tensor<8x8xf32> {weft.input = "w"})
    -> (tensor<8x8xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %p = weft.matmul %x, %w : tensor<8x8xf32>, tensor<8x8xf32>
  %g = weft.gelu %p {approximate = #weft.gelu_kind<tanh>, weft.apart} : tensor<8x8xf32>
  %q = weft.matmul %g, %w : tensor<8x8xf32>, tensor<8x8xf32>
  %y = weft.gelu %q {approximate = #weft.gelu_kind<tanh>} : tensor<8x8xf32>
  weft.return %y : tensor<8x8xf32>
}
