// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-kernels | FileCheck %s
// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-to-cpu | FileCheck %s --check-prefix=PRODUCTS
// A block of four random numbers is drawn once for its four elements: in a group of
// four chunks, vectors have a lane per block, and each chunk takes its lanes of them.

// CHECK-LABEL: llvm.func @k_drop
// CHECK: %[[GROUP:.*]] = arith.constant 64 : i64
// CHECK: scf.for {{.*}} step %[[GROUP]]
// CHECK-COUNT-19: arith.muli {{.*}} : vector<16xi64>
// CHECK-NOT: arith.muli {{.*}} : vector<16xi64>
// CHECK: vector.shuffle %{{.*}} [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3] : vector<16xi32>, vector<16xi32>
// CHECK-NOT: arith.muli {{.*}} : vector<16xi64>
// CHECK: vector.shuffle %{{.*}} [4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7] : vector<16xi32>, vector<16xi32>
// CHECK-NOT: arith.muli {{.*}} : vector<16xi64>
// CHECK: vector.shuffle %{{.*}} [8, 8, 8, 8, 9, 9, 9, 9, 10, 10, 10, 10, 11, 11, 11, 11] : vector<16xi32>, vector<16xi32>
// CHECK-NOT: arith.muli {{.*}} : vector<16xi64>
// CHECK: vector.shuffle %{{.*}} [12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15, 15] : vector<16xi32>, vector<16xi32>
// CHECK-NOT: arith.muli {{.*}} : vector<16xi64>
// CHECK: scf.for

// Both halves of a product of 32 bits come out of even and odd lanes.
// PRODUCTS-LABEL: llvm.func @k_drop
// PRODUCTS-NOT: llvm.mul {{.*}} : vector<16xi64>
// PRODUCTS: llvm.mul {{.*}} : vector<8xi64>
weft.kernel @k_drop(%x: tensor<8x192xf32>, %seed: tensor<1xi64>, %stream: tensor<1xi64>, %first: tensor<1xi64>) -> tensor<8x192xf32> elementwise [8, 192] inplace [[]] {
  %r = weft.iota [0] : tensor<8x192xi64>
  %row = weft.add %first, %r : tensor<1xi64>, tensor<8x192xi64>
  %e = weft.iota [1] : tensor<8x192xi64>
  %u = weft.philox uniform %seed, %stream, %row, %e : tensor<1xi64>, tensor<1xi64>, tensor<8x192xi64>, tensor<8x192xi64>
  %p = weft.mul %x, %u : tensor<8x192xf32>, tensor<8x192xf32>
  weft.yield %p : tensor<8x192xf32>
}

// Parts of rows that blocks do not divide: each element draws its own.
// CHECK-LABEL: llvm.func @k_odd
// CHECK-NOT: vector.shuffle
// CHECK: llvm.return
// PRODUCTS-LABEL: llvm.func @k_odd
weft.kernel @k_odd(%x: tensor<33xf32>, %seed: tensor<1xi64>, %stream: tensor<1xi64>, %first: tensor<1xi64>) -> tensor<8x3x33xf32> elementwise [8, 3, 33] inplace [[]] {
  %r = weft.iota [0] : tensor<8x3x33xi64>
  %row = weft.add %first, %r : tensor<1xi64>, tensor<8x3x33xi64>
  %e = weft.iota [1, 2] : tensor<8x3x33xi64>
  %u = weft.philox uniform %seed, %stream, %row, %e : tensor<1xi64>, tensor<1xi64>, tensor<8x3x33xi64>, tensor<8x3x33xi64>
  %p = weft.mul %x, %u : tensor<33xf32>, tensor<8x3x33xf32>
  weft.yield %p : tensor<8x3x33xf32>
}
