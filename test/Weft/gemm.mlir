// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt %s --mlir-print-op-generic | weft-opt | FileCheck %s
// Every form of a product with what stands around it.

// CHECK-LABEL: weft.program @forms
weft.program @forms(%x: tensor<2x8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"},
                    %v: tensor<3x4xf32> {weft.input = "v"}, %b: tensor<3xf32> {weft.input = "b"},
                    %h: tensor<8x4xbf16> {weft.input = "h"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: weft.gemm %{{.*}} * %{{.*}} : tensor<2x8x4xf32> * tensor<4x3xf32> -> tensor<2x8x3xf32>
  %p = weft.gemm %x * %w : tensor<2x8x4xf32> * tensor<4x3xf32> -> tensor<2x8x3xf32>
  // CHECK: weft.gemm %{{.*}} * %{{.*}} bias(%{{.*}} : tensor<3xf32>) epilogue relu {weft.scope = "h.0"} : tensor<2x8x4xf32> * tensor<4x3xf32> -> tensor<2x8x3xf32>
  %r = weft.gemm %x * %w bias(%b : tensor<3xf32>) epilogue relu {weft.scope = "h.0"} : tensor<2x8x4xf32> * tensor<4x3xf32> -> tensor<2x8x3xf32>
  // CHECK: %{{.*}}, %[[SUM:.*]] = weft.gemm %{{.*}} * %{{.*}} transposed bias(%{{.*}} : tensor<3xf32>) epilogue gelu : tensor<2x8x4xf32> * tensor<3x4xf32> -> tensor<2x8x3xf32> sum(tensor<2x8x3xf32>)
  %g, %sum = weft.gemm %x * %v transposed bias(%b : tensor<3xf32>) epilogue gelu : tensor<2x8x4xf32> * tensor<3x4xf32> -> tensor<2x8x3xf32> sum(tensor<2x8x3xf32>)
  // CHECK: weft.gemm %{{.*}} * %{{.*}} epilogue gelu_grad aux(%[[SUM]] : tensor<2x8x3xf32>) : tensor<2x8x4xf32> * tensor<4x3xf32> -> tensor<2x8x3xf32>
  %gg = weft.gemm %x * %w epilogue gelu_grad aux(%sum : tensor<2x8x3xf32>) : tensor<2x8x4xf32> * tensor<4x3xf32> -> tensor<2x8x3xf32>
  // CHECK: %{{.*}}, %{{.*}} = weft.gemm %{{.*}} * %{{.*}} epilogue relu_grad aux(%[[SUM]] : tensor<2x8x3xf32>) : tensor<2x8x4xf32> * tensor<4x3xf32> -> tensor<2x8x3xf32> column_sum(tensor<3xf32>)
  %rg, %db = weft.gemm %x * %w epilogue relu_grad aux(%sum : tensor<2x8x3xf32>) : tensor<2x8x4xf32> * tensor<4x3xf32> -> tensor<2x8x3xf32> column_sum(tensor<3xf32>)
  // An f32 sum, and sums of rows, beside a bf16 result.
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = weft.gemm %{{.*}} transposed * %{{.*}} epilogue relu : tensor<8x4xbf16> * tensor<8x4xbf16> -> tensor<4x4xbf16> sum(tensor<4x4xf32>) column_sum(tensor<4xf32>)
  %l:3 = weft.gemm %h transposed * %h epilogue relu : tensor<8x4xbf16> * tensor<8x4xbf16> -> tensor<4x4xbf16> sum(tensor<4x4xf32>) column_sum(tensor<4xf32>)
  // CHECK: weft.gemm %{{.*}} transposed * %{{.*}} epilogue gelu_grad aux(%{{.*}} : tensor<4x4xf32>) {out = f32} : tensor<8x4xbf16> * tensor<8x4xbf16> -> tensor<4x4xf32>
  %o = weft.gemm %h transposed * %h epilogue gelu_grad aux(%l#1 : tensor<4x4xf32>) {out = f32} : tensor<8x4xbf16> * tensor<8x4xbf16> -> tensor<4x4xf32>
  // Sums of the factors over the inner dimension, of one or of both.
  // CHECK: %{{.*}}, %{{.*}} = weft.gemm %{{.*}} transposed * %{{.*}} {out = f32} : tensor<8x4xbf16> * tensor<8x4xbf16> -> tensor<4x4xf32> rhs_sum(tensor<4xf32>)
  %dw, %dwb = weft.gemm %h transposed * %h {out = f32} : tensor<8x4xbf16> * tensor<8x4xbf16> -> tensor<4x4xf32> rhs_sum(tensor<4xf32>)
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = weft.gemm %{{.*}} * %{{.*}} transposed : tensor<3x4xf32> * tensor<3x4xf32> -> tensor<3x3xf32> column_sum(tensor<3xf32>) lhs_sum(tensor<3xf32>) rhs_sum(tensor<3xf32>)
  %f:4 = weft.gemm %v * %v transposed : tensor<3x4xf32> * tensor<3x4xf32> -> tensor<3x3xf32> column_sum(tensor<3xf32>) lhs_sum(tensor<3xf32>) rhs_sum(tensor<3xf32>)
  weft.return
}
