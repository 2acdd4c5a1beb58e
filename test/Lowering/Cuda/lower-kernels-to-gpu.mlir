// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-kernels-to-gpu | FileCheck %s
// A kernel becomes a function of one thread of a grid that its shape fixes.

// CHECK: gpu.module @kernels

// 16 bytes of the widest type for each thread; 10 chunks do not fill a block.
// CHECK-LABEL: gpu.func @k_flat(%arg0: !llvm.ptr<1>, %arg1: !llvm.ptr<1>) kernel
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>
// CHECK: arith.cmpi slt, %{{.*}}, %c10_i32
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-4: math.exp %{{.*}} : f32
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK: gpu.return
weft.kernel @k_flat(%x: tensor<8x5xf32>) -> tensor<8x5xf32> elementwise [40] inplace [[]] {
  %y = weft.exp %x : tensor<8x5xf32>
  weft.yield %y : tensor<8x5xf32>
}

// The remainder is processed one element at a time.
// CHECK-LABEL: gpu.func @k_odd
// CHECK: scf.if
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: else
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK: gpu.return
weft.kernel @k_odd(%x: tensor<1001xf32>) -> tensor<1001xf32> elementwise [1001] inplace [[]] {
  %y = weft.neg %x : tensor<1001xf32>
  weft.yield %y : tensor<1001xf32>
}

// Eight elements of a 16-bit type; booleans are bytes.
// CHECK-LABEL: gpu.func @k_low
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: llvm.store %{{.*}} {alignment = 8 : i64} : vector<8xi8>, !llvm.ptr<1>
// CHECK: gpu.return
weft.kernel @k_low(%x: tensor<4096xbf16>, %y: tensor<4096xbf16>) -> tensor<4096xi1> elementwise [4096] inplace [[]] {
  %z = weft.compare lt %x, %y : tensor<4096xbf16>, tensor<4096xbf16>
  weft.yield %z : tensor<4096xi1>
}

// Each row has the same bias: it is read with the row.
// CHECK-LABEL: gpu.func @k_bias
// CHECK-DAG: arith.divui %{{.*}}, %c16_i32
// CHECK-DAG: arith.remui %{{.*}}, %c16_i32
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: gpu.return
weft.kernel @k_bias(%x: tensor<32x64xf32>, %b: tensor<64xf32>) -> tensor<32x64xf32> elementwise [32, 64] inplace [[]] {
  %y = weft.add %x, %b : tensor<32x64xf32>, tensor<64xf32>
  weft.yield %y : tensor<32x64xf32>
}

// A short row: a warp, whose threads exchange their sums. One writes the result,
// which lies over nothing that the others read.
// CHECK-LABEL: gpu.func @k_rows
// CHECK-SAME: known_block_size = array<i32: 32, 8, 1>, known_grid_size = array<i32: 2, 1, 1>
// CHECK: %[[ROW:.*]] = arith.addi
// CHECK: scf.if
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (f32, f32, f32, f32)
// CHECK: llvm.loop_annotation
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle
// CHECK-NOT: nvvm.bar.warp.sync
// CHECK: scf.if
// CHECK: llvm.store
// CHECK: gpu.return
weft.kernel @k_rows(%x: tensor<9x256xf32>) -> tensor<9xf32> rows [9, 256] over [1] inplace [[]] {
  %y = weft.reduce sum %x dims [1] : tensor<9x256xf32>
  weft.yield %y : tensor<9xf32>
}

// A result that may lie over what all threads of the row read: they meet before.
// CHECK-LABEL: gpu.func @k_rows_inplace
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// CHECK: nvvm.bar.warp.sync
// CHECK: scf.if
// CHECK: llvm.store
// CHECK: gpu.return
weft.kernel @k_rows_inplace(%x: tensor<8x256xf32>, %b: tensor<8xf32>) -> tensor<8xf32> rows [8, 256] over [1] inplace [[1]] {
  %s = weft.reduce sum %x dims [1] : tensor<8x256xf32>
  %y = weft.add %s, %b : tensor<8xf32>, tensor<8xf32>
  weft.yield %y : tensor<8xf32>
}

// The same, where the kernel does not say that it may: an edited one.
// CHECK-LABEL: gpu.func @k_rows_apart
// CHECK-NOT: nvvm.bar.warp.sync
// CHECK: gpu.return
weft.kernel @k_rows_apart(%x: tensor<8x256xf32>, %b: tensor<8xf32>) -> tensor<8xf32> rows [8, 256] over [1] inplace [[]] {
  %s = weft.reduce sum %x dims [1] : tensor<8x256xf32>
  %y = weft.add %s, %b : tensor<8xf32>, tensor<8xf32>
  weft.yield %y : tensor<8xf32>
}

// Read before the warps of a long row have met for their sum: that is enough.
// CHECK-LABEL: gpu.func @k_long_inplace
// CHECK-COUNT-1: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
weft.kernel @k_long_inplace(%x: tensor<4x4096xf32>, %b: tensor<4x1xf32>) -> tensor<4x1xf32> rows [4, 4096] over [1] inplace [[1]] {
  %d = weft.sub %x, %b : tensor<4x4096xf32>, tensor<4x1xf32>
  %y = weft.reduce sum %d dims [1] {keep_dims} : tensor<4x4096xf32>
  weft.yield %y : tensor<4x1xf32>
}

// Read behind it: they meet again.
// CHECK-LABEL: gpu.func @k_long_late
// CHECK-COUNT-2: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
weft.kernel @k_long_late(%x: tensor<4x4096xf32>, %b: tensor<4xf32>) -> tensor<4xf32> rows [4, 4096] over [1] inplace [[1]] {
  %s = weft.reduce sum %x dims [1] : tensor<4x4096xf32>
  %y = weft.add %s, %b : tensor<4xf32>, tensor<4xf32>
  weft.yield %y : tensor<4xf32>
}

// A long row: a block, whose warps meet in its memory.
// CHECK-LABEL: gpu.func @k_long_rows
// CHECK-SAME: workgroup(%[[SHARED:.*]] : memref<8xf32, #gpu.address_space<workgroup>>)
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 4, 1, 1>
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: memref.store %{{.*}}, %[[SHARED]]
// CHECK: gpu.barrier
// CHECK-COUNT-8: memref.load %[[SHARED]]
// CHECK: gpu.return
weft.kernel @k_long_rows(%x: tensor<4x4096xf32>) -> tensor<4xf32> rows [4, 4096] over [1] inplace [[]] {
  %y = weft.reduce max %x dims [1] : tensor<4x4096xf32>
  weft.yield %y : tensor<4xf32>
}

// Sums of more than 16 steps add up in f64.
// CHECK-LABEL: gpu.func @k_longest_rows
// CHECK-SAME: workgroup(%{{.*}} : memref<16xf64,
// CHECK: scf.for {{.*}} -> (f64)
// CHECK: scf.for {{.*}} -> (f32, f32, f32, f32)
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK: gpu.shuffle xor %{{.*}} : f64
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: gpu.return
weft.kernel @k_longest_rows(%x: tensor<1x100000xf32>) -> tensor<1xf32> rows [100000] over [0] inplace [[]] {
  %y = weft.reduce sum %x dims [1] : tensor<1x100000xf32>
  weft.yield %y : tensor<1xf32>
}

// A costly value that a later pass needs stays with the thread: one exp.
// CHECK-LABEL: gpu.func @k_softmax
// CHECK: memref.alloca() : memref<4xf32>
// CHECK: math.exp
// CHECK: memref.store
// CHECK: memref.load
// CHECK: gpu.return
weft.kernel @k_softmax(%x: tensor<8x64xf32>) -> tensor<8x64xf32> rows [8, 64] over [1] inplace [[]] {
  %m = weft.reduce max %x dims [1] {keep_dims} : tensor<8x64xf32>
  %d = weft.sub %x, %m : tensor<8x64xf32>, tensor<8x1xf32>
  %e = weft.exp %d : tensor<8x64xf32>
  %s = weft.reduce sum %e dims [1] {keep_dims} : tensor<8x64xf32>
  %y = weft.div %e, %s : tensor<8x64xf32>, tensor<8x1xf32>
  weft.yield %y : tensor<8x64xf32>
}

// A sum over rows: 32 columns of a block, each with eight threads.
// CHECK-LABEL: gpu.func @k_columns
// CHECK-SAME: workgroup(%[[TILE:.*]] : memref<8x1x32xf32, #gpu.address_space<workgroup>>)
// CHECK-SAME: known_block_size = array<i32: 32, 8, 1>, known_grid_size = array<i32: 2, 1, 1>
// CHECK: scf.if {{.*}} -> (f32)
// CHECK: memref.store %{{.*}}, %[[TILE]]
// CHECK: gpu.barrier
// CHECK-COUNT-8: memref.load %[[TILE]]
// CHECK: scf.if
// CHECK: llvm.store
// CHECK: gpu.return
weft.kernel @k_columns(%x: tensor<64x40xf32>) -> tensor<40xf32> columns [64, 40] over [0] inplace [[]] {
  %y = weft.reduce sum %x dims [0] : tensor<64x40xf32>
  weft.yield %y : tensor<40xf32>
}

// Sums over rows of f16, with enough blocks: a thread has eight columns, one
// access of 16 bytes, and adds them up apart.
// CHECK-LABEL: gpu.func @k_wide_columns
// CHECK-SAME: workgroup(%[[TILE:.*]] : memref<8x8x32xf32, #gpu.address_space<workgroup>>)
// CHECK-SAME: known_block_size = array<i32: 32, 8, 1>, known_grid_size = array<i32: 256, 1, 1>
// CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> vector<8xf16>
// CHECK: llvm.store {{.*}} : vector<8xf16>
// CHECK-COUNT-8: memref.store %{{.*}}, %[[TILE]]
// CHECK: gpu.barrier
// CHECK-COUNT-64: memref.load %[[TILE]]
// CHECK: llvm.store {{.*}} : vector<4xf32>
// CHECK: gpu.return
weft.kernel @k_wide_columns(%x: tensor<64x16x1024xf16>) -> (tensor<64x16x1024xf16>, tensor<64x1024xf32>) columns [64, 16, 1024] over [1] inplace [[0], []] {
  %n = weft.neg %x : tensor<64x16x1024xf16>
  %c = weft.cast %n : tensor<64x16x1024xf16> to tensor<64x16x1024xf32>
  %y = weft.reduce sum %c dims [1] : tensor<64x16x1024xf32>
  weft.yield %n, %y : tensor<64x16x1024xf16>, tensor<64x1024xf32>
}
