// Kernels of rows that also add up the rows: the linalg form, and the code of a
// device. A block has a group of rows, a warp every eighth row of it.
// RUN: weft-opt %s -o %t.mlir
// RUN: weft-opt %t.mlir --weft-convert-kernels-to-linalg -o %t.linalg.mlir
// RUN: FileCheck %s --input-file=%t.linalg.mlir
// RUN: weft-opt %t.linalg.mlir --weft-lower-kernels-to-gpu | FileCheck %s --check-prefix=GPU
// RUN: not weft-opt %t.linalg.mlir --weft-lower-kernels 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: {{.*}}does not support sums over rows in a kernel of rows on the CPU yet; use a kernel of columns for them

// CHECK: func.func @k_rows({{.*}}%[[Y:[a-z0-9]+]]: memref<64x36xf32>, %[[S:[a-z0-9]+]]: memref<4x36xf32>)
// CHECK-SAME: weft.over = array<i64: 2>, weft.sizes = array<i64: 4, 16, 36>, weft.sums = array<i64: 1>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: %[[T:.*]] = memref.alloca() : memref<4x36xf32>
// CHECK: linalg.fill {{.*}} outs(%[[T]] : memref<4x36xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]{{.*}} outs(%[[T]], %{{.*}} : memref<4x36xf32>, memref<4x16x36xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]{{.*}} ins(%[[T]] : memref<4x36xf32>) outs(%[[S]] : memref<4x36xf32>)

// GPU: gpu.func @k_rows({{.*}}) workgroup(%{{.*}} : memref<8x4x9xf32, #gpu.address_space<workgroup>>)
// GPU-SAME: known_block_size = array<i32: 32, 8, 1>, known_grid_size = array<i32: 4, 1, 1>
// GPU: memref.alloca() : memref<4xf32>
// GPU: scf.for %{{.*}} = %{{.*}} to %c2_i32{{.*}} step
// GPU: gpu.shuffle
// GPU: gpu.barrier
weft.kernel @k_rows(%x: tensor<64x36xf32>) -> (tensor<64x36xf32>, tensor<4x36xf32>) rows [4, 16, 36] over [2] sums [1] inplace [[0], []] {
  %m = weft.reduce mean %x dims [1] {keep_dims} : tensor<64x36xf32>
  %d = weft.sub %x, %m : tensor<64x36xf32>, tensor<64x1xf32>
  %g = weft.reshape %d : tensor<64x36xf32> to tensor<4x16x36xf32>
  %s = weft.reduce sum %g dims [1] : tensor<4x16x36xf32>
  weft.yield %d, %s : tensor<64x36xf32>, tensor<4x36xf32>
}
