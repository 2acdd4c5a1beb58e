// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-to-cpu | FileCheck %s
// The loops that add up a row or the columns of a tile are unrolled by four, no others.

// CHECK-DAG: #[[UNROLL:.*]] = #llvm.loop_unroll<count = 4 : i32>
// CHECK-DAG: #[[LOOP:.*]] = #llvm.loop_annotation<unroll = #[[UNROLL]]>

// CHECK-LABEL: llvm.func @k_sum
// CHECK: llvm.br {{.*}} {loop_annotation = #[[LOOP]]}
weft.kernel @k_sum(%x: tensor<64x384xf32>) -> tensor<64xf32> rows [64, 384] over [1] inplace [[]] {
  %s = weft.reduce sum %x dims [1] : tensor<64x384xf32>
  weft.yield %s : tensor<64xf32>
}

// CHECK-LABEL: llvm.func @k_columns
// CHECK-COUNT-1: loop_annotation = #[[LOOP]]
// CHECK-NOT: loop_annotation
weft.kernel @k_columns(%x: tensor<64x384xf32>) -> tensor<384xf32> columns [64, 384] over [0] inplace [[]] {
  %s = weft.reduce sum %x dims [0] : tensor<64x384xf32>
  weft.yield %s : tensor<384xf32>
}

// CHECK-LABEL: llvm.func @k_exp
// CHECK-NOT: loop_annotation
weft.kernel @k_exp(%x: tensor<64x384xf32>) -> tensor<64x384xf32> elementwise [24576] inplace [[]] {
  %y = weft.exp %x : tensor<64x384xf32>
  weft.yield %y : tensor<64x384xf32>
}
