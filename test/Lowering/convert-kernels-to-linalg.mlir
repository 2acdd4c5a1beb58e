// RUN: weft-opt %s --weft-convert-kernels-to-linalg | FileCheck %s
// RUN: weft-opt %s --weft-convert-kernels-to-linalg | weft-opt | FileCheck %s
// Kernels on memrefs: one linalg.generic per phase over the space.

// CHECK-DAG: #[[ID:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[NONE:.*]] = affine_map<(d0, d1) -> ()>
// CHECK-DAG: #[[FLIP:.*]] = affine_map<(d0, d1, d2) -> (d1, d0, d2)>

// Elementwise, with a broadcast vector and number.
// CHECK-LABEL: func.func @k_elementwise(
// CHECK-SAME: %[[X:.*]]: memref<8x5xf32>, %[[V:.*]]: memref<5xf32>, %[[S:.*]]: memref<f32>, %[[OUT:.*]]: memref<8x5xf32>)
// CHECK-SAME: weft.inplace = {{\[}}array<i64{{.*}}>{{\]}}, weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.over = array<i64>, weft.sizes = array<i64: 8, 5>
// CHECK-NEXT: linalg.generic {indexing_maps = [#[[ALL]], #[[COLUMN]], #[[NONE]], #[[ALL]]], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME: ins(%[[X]], %[[V]], %[[S]] : {{.*}}) outs(%[[OUT]]
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[A]], %[[B]] : f32
// CHECK-NEXT: %[[E:.*]] = math.exp %[[SUM]] : f32
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[E]], %[[C]] : f32
// CHECK-NEXT: linalg.yield %[[P]]
// CHECK: return
weft.kernel @k_elementwise(%x: tensor<8x5xf32>, %v: tensor<5xf32>, %s: tensor<f32>) -> tensor<8x5xf32> elementwise [8, 5] inplace [[]] {
  %a = weft.add %x, %v : tensor<8x5xf32>, tensor<5xf32>
  %b = weft.exp %a : tensor<8x5xf32>
  %c = weft.mul %b, %s : tensor<8x5xf32>, tensor<f32>
  weft.yield %c : tensor<8x5xf32>
}

// A mean over rows and what follows from it: the total and the statistic of
// each row are temporaries between the phases.
// CHECK-LABEL: func.func @k_row(
// CHECK-SAME: %[[X:.*]]: memref<8x64xf32>, %[[OUT:.*]]: memref<8x64xf32>)
// CHECK-SAME: weft.kernel_kind = #weft.kernel_kind<rows>
// CHECK: %[[TOTAL:.*]] = memref.alloca() : memref<8xf32>
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: linalg.fill ins(%[[ZERO]] : f32) outs(%[[TOTAL]] : memref<8xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[ALL]], #[[ROW]]], iterator_types = ["parallel", "reduction"]} ins(%[[X]] {{.*}}) outs(%[[TOTAL]]
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[OLD:.*]]: f32):
// CHECK-NEXT: arith.addf %[[OLD]], %[[IN]] : f32
// CHECK: %[[MEAN:.*]] = memref.alloca() : memref<8xf32>
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ID]]], iterator_types = ["parallel"]} ins(%[[TOTAL]] {{.*}}) outs(%[[MEAN]]
// CHECK: arith.divf %{{.*}}, %{{.*}} : f32
// CHECK: linalg.generic {indexing_maps = [#[[ALL]], #[[ROW]], #[[ALL]]], iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[MEAN]] {{.*}}) outs(%[[OUT]]
// CHECK: arith.subf
weft.kernel @k_row(%x: tensor<8x64xf32>) -> tensor<8x64xf32> rows [8, 64] over [1] inplace [[]] {
  %m = weft.reduce mean %x dims [1] {keep_dims} : tensor<8x64xf32>
  %y = weft.sub %x, %m : tensor<8x64xf32>, tensor<8x1xf32>
  weft.yield %y : tensor<8x64xf32>
}

// A sum over the rows.
// CHECK-LABEL: func.func @k_column(
// CHECK-SAME: %[[X:.*]]: memref<64x32xf32>, %[[OUT:.*]]: memref<32xf32>)
// CHECK-SAME: weft.kernel_kind = #weft.kernel_kind<columns>, weft.over = array<i64: 0>
// CHECK: %[[TOTAL:.*]] = memref.alloca() : memref<32xf32>
// CHECK: linalg.fill
// CHECK: linalg.generic {indexing_maps = [#[[ALL]], #[[COLUMN]]], iterator_types = ["reduction", "parallel"]} ins(%[[X]] {{.*}}) outs(%[[TOTAL]]
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ID]]], iterator_types = ["parallel"]} ins(%[[TOTAL]] {{.*}}) outs(%[[OUT]]
weft.kernel @k_column(%x: tensor<64x32xf32>) -> tensor<32xf32> columns [64, 32] over [0] inplace [[]] {
  %y = weft.reduce sum %x dims [0] : tensor<64x32xf32>
  weft.yield %y : tensor<32xf32>
}

// A slice is the offset of a memref, a transpose the order of a map.
// CHECK-LABEL: func.func @k_mapped(
// CHECK-SAME: %[[X:.*]]: memref<4x6x8xf32>, %[[OUT:.*]]: memref<2x4x8xf32>)
// CHECK: %[[PART:.*]] = memref.reinterpret_cast %[[X]] to offset: [24], sizes: [4, 2, 8], strides: [48, 8, 1]
// CHECK: linalg.generic {indexing_maps = [#[[FLIP]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[PART]] {{.*}}) outs(%[[OUT]]
// CHECK: arith.negf
weft.kernel @k_mapped(%x: tensor<4x6x8xf32>) -> tensor<2x4x8xf32> elementwise [2, 4, 8] inplace [[]] {
  %a = weft.slice %x offsets [0, 3, 0] sizes [4, 2, 8] strides [1, 1, 1] : tensor<4x6x8xf32>
  %b = weft.transpose %a [1, 0, 2] : tensor<4x2x8xf32>
  %c = weft.neg %b : tensor<2x4x8xf32>
  weft.yield %c : tensor<2x4x8xf32>
}

// A value that is costly and needed again is kept.
// CHECK-LABEL: func.func @k_softmax(
// CHECK: %[[KEPT:.*]] = memref.alloca() : memref<8x64xf32>
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %[[KEPT]] :
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ins(%[[KEPT]], %{{.*}} : {{.*}})
// CHECK-NOT: math.exp
// CHECK: return
weft.kernel @k_softmax(%x: tensor<8x64xf32>) -> tensor<8x64xf32> rows [8, 64] over [1] inplace [[]] {
  %m = weft.reduce max %x dims [1] {keep_dims} : tensor<8x64xf32>
  %d = weft.sub %x, %m : tensor<8x64xf32>, tensor<8x1xf32>
  %e = weft.exp %d : tensor<8x64xf32>
  %s = weft.reduce sum %e dims [1] {keep_dims} : tensor<8x64xf32>
  %y = weft.div %e, %s : tensor<8x64xf32>, tensor<8x1xf32>
  weft.yield %y : tensor<8x64xf32>
}

// No operand follows the rows of a broadcast vector: an input that the body
// does not read gives their number.
// CHECK-LABEL: func.func @k_broadcast(
// CHECK-SAME: %[[V:.*]]: memref<8xf32>, %[[OUT:.*]]: memref<8xf32>)
// CHECK: %[[ROWS:.*]] = memref.reinterpret_cast %[[OUT]] to offset: [0], sizes: [4], strides: [0]
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%[[V]], %[[ROWS]] :
weft.kernel @k_broadcast(%v: tensor<8xf32>) -> tensor<8xf32> columns [4, 8] over [0] inplace [[]] {
  %x = weft.broadcast %v : tensor<8xf32> to tensor<4x8xf32>
  %s = weft.reduce sum %x dims [0] : tensor<4x8xf32>
  weft.yield %s : tensor<8xf32>
}
