// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-kernels-to-gpu | FileCheck %s
// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-kernels-to-gpu --remarks-filter=fusion -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:

// Inputs that several passes over a row read are loaded by the first pass, which
// leaves their elements in arrays of the thread.

module {

// The mean of a sum, and the distance from it: both summands are loaded once.
// REMARK: remark: {{.*}}input 1 of @k_center stays in 4 registers of a thread between passes over a row
// REMARK: remark: {{.*}}input 0 of @k_center stays in 8 registers
// CHECK-LABEL: gpu.func @k_center
// CHECK-DAG: %[[X:.*]] = memref.alloca() : memref<8xf32>
// CHECK-DAG: %[[Y:.*]] = memref.alloca() : memref<8xf16>
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<4xf16>
// CHECK-COUNT-4: memref.store %{{.*}}, %[[Y]]
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK-COUNT-4: memref.store %{{.*}}, %[[X]]
// CHECK: gpu.shuffle xor
// CHECK: scf.for
// CHECK-NOT: llvm.load
// CHECK-COUNT-4: memref.load %[[Y]]
// CHECK-COUNT-4: memref.load %[[X]]
// CHECK: llvm.store {{.*}} : vector<4xf32>
// CHECK: gpu.return
weft.kernel @k_center(%x: tensor<8x256xf32>, %y: tensor<8x256xf16>) -> tensor<8x256xf32> rows [8, 256] over [1] inplace [[]] {
  %w = weft.cast %y : tensor<8x256xf16> to tensor<8x256xf32>
  %z = weft.add %x, %w : tensor<8x256xf32>, tensor<8x256xf32>
  %m = weft.reduce sum %z dims [1] {keep_dims} : tensor<8x256xf32>
  %d = weft.sub %z, %m : tensor<8x256xf32>, tensor<8x1xf32>
  weft.yield %d : tensor<8x256xf32>
}

// Rows that are no whole chunks: elements one by one, from the same arrays. The
// arrays are at the start of the function though a warp may have no row.
// REMARK: remark: {{.*}}input 0 of @k_odd stays in 8 registers
// CHECK-LABEL: gpu.func @k_odd
// CHECK: %[[X:.*]] = memref.alloca() : memref<8xf32>
// CHECK: scf.if
// CHECK: llvm.load {{.*}} -> f32
// CHECK: memref.store %{{.*}}, %[[X]]
// CHECK: gpu.shuffle xor
// CHECK-NOT: llvm.load
// CHECK: memref.load %[[X]]
// CHECK: gpu.return
weft.kernel @k_odd(%x: tensor<9x143xf32>) -> tensor<9x143xf32> rows [9, 143] over [1] inplace [[]] {
  %m = weft.reduce sum %x dims [1] {keep_dims} : tensor<9x143xf32>
  %d = weft.sub %x, %m : tensor<9x143xf32>, tensor<9x1xf32>
  weft.yield %d : tensor<9x143xf32>
}

// Sums over rows take the registers: each pass loads.
// REMARK: remark: {{.*}}input 0 of @k_sums is loaded in each pass over a row: sums over rows take the registers
// CHECK-LABEL: gpu.func @k_sums
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<4xf32>
// CHECK: gpu.return
weft.kernel @k_sums(%x: tensor<32x256xf32>) -> (tensor<32x256xf32>, tensor<2x256xf32>) rows [2, 16, 256] over [2] sums [1] inplace [[], []] {
  %m = weft.reduce sum %x dims [1] {keep_dims} : tensor<32x256xf32>
  %d = weft.sub %x, %m : tensor<32x256xf32>, tensor<32x1xf32>
  %g = weft.reshape %d : tensor<32x256xf32> to tensor<2x16x256xf32>
  %s = weft.reduce sum %g dims [1] : tensor<2x16x256xf32>
  weft.yield %d, %s : tensor<32x256xf32>, tensor<2x256xf32>
}

// Three inputs of 32 elements would be 96 registers: the third one is loaded again.
// REMARK: remark: {{.*}}input {{[0-2]}} of @k_many stays in 32 registers
// REMARK: remark: {{.*}}input {{[0-2]}} of @k_many stays in 32 registers
// REMARK: remark: {{.*}}input {{[0-2]}} of @k_many is loaded in each pass over a row: it would take 32 registers of a thread, but 0 of 64 are left
// CHECK-LABEL: gpu.func @k_many
// CHECK-COUNT-2: memref.alloca() : memref<32xf32>
// CHECK-NOT: memref.alloca
// CHECK-COUNT-3: llvm.load {{.*}} -> vector<4xf32>
// CHECK: gpu.shuffle xor
// CHECK-COUNT-1: llvm.load {{.*}} -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK: gpu.return
weft.kernel @k_many(%x: tensor<8x1024xf32>, %y: tensor<8x1024xf32>, %z: tensor<8x1024xf32>) -> tensor<8x1024xf32> rows [8, 1024] over [1] inplace [[]] {
  %a = weft.add %x, %y : tensor<8x1024xf32>, tensor<8x1024xf32>
  %b = weft.add %a, %z : tensor<8x1024xf32>, tensor<8x1024xf32>
  %m = weft.reduce sum %b dims [1] {keep_dims} : tensor<8x1024xf32>
  %d = weft.sub %b, %m : tensor<8x1024xf32>, tensor<8x1xf32>
  weft.yield %d : tensor<8x1024xf32>
}

// A temporary of the row takes 32 registers: one of two inputs is kept.
// REMARK: remark: {{.*}}input {{[01]}} of @k_temporary stays in 32 registers
// REMARK: remark: {{.*}}input {{[01]}} of @k_temporary is loaded in each pass over a row: it would take 32 registers of a thread, but 0 of 64 are left
// CHECK-LABEL: gpu.func @k_temporary
// CHECK-COUNT-2: memref.alloca() : memref<32xf32>
// CHECK-NOT: memref.alloca
// CHECK: gpu.return
weft.kernel @k_temporary(%x: tensor<8x1024xf32>, %y: tensor<8x1024xf32>) -> tensor<8x1024xf32> rows [8, 1024] over [1] inplace [[]] {
  %a = weft.add %x, %y : tensor<8x1024xf32>, tensor<8x1024xf32>
  %m = weft.reduce max %a dims [1] {keep_dims} : tensor<8x1024xf32>
  %d = weft.sub %a, %m : tensor<8x1024xf32>, tensor<8x1xf32>
  %e = weft.exp %d : tensor<8x1024xf32>
  %s = weft.reduce sum %e dims [1] {keep_dims} : tensor<8x1024xf32>
  %n = weft.div %e, %s : tensor<8x1024xf32>, tensor<8x1xf32>
  weft.yield %n : tensor<8x1024xf32>
}

// A loop of more than 8 steps is not written out: the row would lie in memory.
// REMARK: remark: {{.*}}input 0 of @k_long is loaded in each pass over a row: a loop of more than 8 steps is not unrolled
// CHECK-LABEL: gpu.func @k_long
// CHECK-NOT: memref.alloca
// CHECK: gpu.return
weft.kernel @k_long(%x: tensor<2x20000xf32>) -> tensor<2x20000xf32> rows [2, 20000] over [1] inplace [[]] {
  %m = weft.reduce sum %x dims [1] {keep_dims} : tensor<2x20000xf32>
  %d = weft.sub %x, %m : tensor<2x20000xf32>, tensor<2x1xf32>
  weft.yield %d : tensor<2x20000xf32>
}

}
