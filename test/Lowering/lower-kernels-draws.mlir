// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-kernels | FileCheck %s
// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-to-cpu | FileCheck %s --check-prefix=PRODUCTS
// Random numbers are drawn by functions that all kernels share: for four chunks at once,
// from the number of the first block on, or for the lanes of one.

// CHECK-LABEL: llvm.func @k_drop
// CHECK: %[[NUMBERS:.*]] = llvm.alloca %{{.*}} x f32 {alignment = 64 : i64}
// CHECK: %[[GROUP:.*]] = arith.constant 64 : i64
// CHECK: scf.for {{.*}} step %[[GROUP]]
// CHECK: llvm.call @draw_uniform_group(%[[NUMBERS]], %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i64, i64, i64) -> ()
// CHECK: scf.for
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[NUMBERS]]
// CHECK: %[[DRAWN:.*]] = llvm.load %[[PLACE]] {alignment = 64 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK: arith.mulf %{{.*}}, %[[DRAWN]] : vector<16xf32>
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
// CHECK: llvm.call @draw_uniform_lanes(%{{.*}}, %{{.*}}, %{{.*}}) : (vector<16xi64>, vector<16xi64>, vector<16xi64>) -> vector<16xf32>
// CHECK: llvm.return
weft.kernel @k_odd(%x: tensor<33xf32>, %seed: tensor<1xi64>, %stream: tensor<1xi64>, %first: tensor<1xi64>) -> tensor<8x3x33xf32> elementwise [8, 3, 33] inplace [[]] {
  %r = weft.iota [0] : tensor<8x3x33xi64>
  %row = weft.add %first, %r : tensor<1xi64>, tensor<8x3x33xi64>
  %e = weft.iota [1, 2] : tensor<8x3x33xi64>
  %u = weft.philox uniform %seed, %stream, %row, %e : tensor<1xi64>, tensor<1xi64>, tensor<8x3x33xi64>, tensor<8x3x33xi64>
  %p = weft.mul %x, %u : tensor<33xf32>, tensor<8x3x33xf32>
  weft.yield %p : tensor<8x3x33xf32>
}

// A second kernel calls the same function; normal numbers have their own. What is left
// of a dimension begins a group of its own.
// CHECK-LABEL: llvm.func @k_again
// CHECK: llvm.call @draw_uniform_group
// CHECK: llvm.call @draw_normal_group
// CHECK: scf.if
// CHECK: llvm.call @draw_uniform_group
// CHECK: llvm.return
weft.kernel @k_again(%seed: tensor<i64>, %stream: tensor<i64>) -> tensor<67xf32> elementwise [67] inplace [[]] {
  %z = weft.constant dense<0> : tensor<i64>
  %e = weft.iota [0] : tensor<67xi64>
  %u = weft.philox uniform %seed, %stream, %z, %e : tensor<i64>, tensor<i64>, tensor<i64>, tensor<67xi64>
  %n = weft.philox normal %seed, %stream, %z, %e : tensor<i64>, tensor<i64>, tensor<i64>, tensor<67xi64>
  %s = weft.add %u, %n : tensor<67xf32>, tensor<67xf32>
  weft.yield %s : tensor<67xf32>
}

// The lanes of a block's vector are in an order that two interleavings undo; the rounds
// are a loop.
// CHECK: llvm.func internal @draw_uniform_group(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64)
// CHECK: dense<[0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]> : vector<16xi64>
// CHECK: scf.for
// CHECK-COUNT-2: arith.muli {{.*}} : vector<16xi64>
// CHECK-NOT: arith.muli
// CHECK: vector.shuffle {{.*}} [0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29] : vector<16xf32>, vector<16xf32>
// CHECK: vector.shuffle {{.*}} [0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29] : vector<16xf32>, vector<16xf32>
// CHECK: llvm.func internal @draw_uniform_lanes
// CHECK: llvm.func internal @draw_normal_group
// CHECK-COUNT-2: math.sqrt
// CHECK-NOT: math.sqrt
// CHECK-NOT: llvm.func

// Both halves of a product of 32 bits come out of even and odd lanes.
// PRODUCTS: llvm.func internal @draw_uniform_group
// PRODUCTS-NOT: llvm.mul {{.*}} : vector<16xi64>
// PRODUCTS: llvm.mul {{.*}} : vector<8xi64>
