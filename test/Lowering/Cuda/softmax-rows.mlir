// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-kernels-to-gpu=alignment=256 | FileCheck %s
// A block finds the maximum and the sum of exponentials of a long row in one
// pass, and writes results over the row in a second one.

// Two chunks are loaded before the first is used. Exponents are to base 2, and
// those of f16 logits are one fused multiply-add.
// CHECK-LABEL: gpu.func @k_loss(
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 16, 1, 1>
// The element at the index of the row is read where it lies.
// CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> f16
// CHECK: %[[PASS:.*]]:2 = scf.for {{.*}} iter_args(%[[MOST:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}) -> (f32, f32)
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<8xf16>
// CHECK: %[[NEXT:.*]] = arith.maximumf %[[MOST]],
// CHECK: %[[BASE:.*]] = arith.mulf %[[NEXT]],
// CHECK: %[[EXPONENT:.*]] = llvm.intr.fma(%{{.*}}, %{{.*}}, %[[BASE]])
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[EXPONENT]])
// CHECK-COUNT-16: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK-NOT: math.exp
// CHECK: %[[TOTAL:.*]] = llvm.intr.fma(%[[SUM]],
// CHECK: scf.yield %[[NEXT]], %[[TOTAL]] : f32, f32
// CHECK: gpu.barrier
// One thread computes the element at the index before any is written.
// CHECK: %[[HIT:.*]] = scf.if %[[OWNS:.*]] -> (f16)
// CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> f16
// A row that does not count takes another way.
// CHECK: scf.if %{{.*}} {
// CHECK: scf.for
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<8xf16>
// CHECK-NOT: llvm.load
// CHECK-COUNT-2: llvm.store {{.*}} : vector<8xf16>
// CHECK: } else {
// CHECK: scf.if %[[OWNS]] {
// CHECK: llvm.store %[[HIT]], %{{.*}} : f16
weft.kernel @k_loss(%x: tensor<16x8192xf16>, %t: tensor<16x1xi32>, %g: tensor<16x1xf32>, %counts: tensor<16x1xi1>) -> (tensor<16x1xf32>, tensor<16x8192xf16>) rows [16, 8192] over [1] inplace [[], [0]] {
  %w = weft.cast %x : tensor<16x8192xf16> to tensor<16x8192xf32>
  %max = weft.reduce max %w dims [1] {keep_dims} : tensor<16x8192xf32>
  %classes = weft.iota [1] : tensor<16x8192xi32>
  %hits = weft.compare eq %classes, %t : tensor<16x8192xi32>, tensor<16x1xi32>
  %least = weft.constant dense<0xFF800000> : tensor<f32>
  %zero = weft.constant dense<0.0> : tensor<f32>
  %own = weft.select %hits, %w, %least : tensor<16x8192xi1>, tensor<16x8192xf32>, tensor<f32>
  %logit = weft.reduce max %own dims [1] {keep_dims} : tensor<16x8192xf32>
  %d = weft.sub %w, %max : tensor<16x8192xf32>, tensor<16x1xf32>
  %e = weft.exp %d : tensor<16x8192xf32>
  %sum = weft.reduce sum %e dims [1] {keep_dims} : tensor<16x8192xf32>
  %log = weft.log %sum : tensor<16x1xf32>
  %lse = weft.add %max, %log : tensor<16x1xf32>, tensor<16x1xf32>
  %loss = weft.sub %lse, %logit : tensor<16x1xf32>, tensor<16x1xf32>
  %c = weft.sub %w, %lse : tensor<16x8192xf32>, tensor<16x1xf32>
  %p = weft.exp %c : tensor<16x8192xf32>
  %y = weft.mul %p, %g : tensor<16x8192xf32>, tensor<16x1xf32>
  %s = weft.select %hits, %g, %zero : tensor<16x8192xi1>, tensor<16x1xf32>, tensor<f32>
  %z = weft.sub %y, %s : tensor<16x8192xf32>, tensor<16x8192xf32>
  %n = weft.select %counts, %z, %zero : tensor<16x1xi1>, tensor<16x8192xf32>, tensor<f32>
  %r = weft.cast %n : tensor<16x8192xf32> to tensor<16x8192xf16>
  weft.yield %loss, %r : tensor<16x1xf32>, tensor<16x8192xf16>
}

// Logits of f32 are subtracted first, so that e^(max - max) is 1.
// CHECK-LABEL: gpu.func @k_exact(
// CHECK: arith.constant -3.40282347E+38 : f32
// CHECK: %[[PASS:.*]]:2 = scf.for {{.*}} iter_args(%[[MOST:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}) -> (f32, f32)
// CHECK: %[[NEXT:.*]] = arith.maximumf %[[MOST]],
// CHECK: %[[D:.*]] = arith.subf %{{.*}}, %[[NEXT]] : f32
// CHECK-NEXT: %[[EXPONENT:.*]] = arith.mulf %[[D]], %{{.*}} : f32
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[EXPONENT]])
// CHECK: %[[D:.*]] = arith.subf %[[MOST]], %[[NEXT]] : f32
// CHECK-NOT: llvm.intr.fma
// CHECK: %[[TOTAL:.*]] = llvm.intr.fma(%[[SUM]],
// CHECK: scf.yield %[[NEXT]], %[[TOTAL]] : f32, f32
weft.kernel @k_exact(%x: tensor<16x8192xf32>) -> tensor<16x1xf32> rows [16, 8192] over [1] inplace [[]] {
  %max = weft.reduce max %x dims [1] {keep_dims} : tensor<16x8192xf32>
  %d = weft.sub %x, %max : tensor<16x8192xf32>, tensor<16x1xf32>
  %e = weft.exp %d : tensor<16x8192xf32>
  %sum = weft.reduce sum %e dims [1] {keep_dims} : tensor<16x8192xf32>
  weft.yield %sum : tensor<16x1xf32>
}

// A maximum of other elements is another pass, with the functions of libdevice;
// so is the sum in f64.
// CHECK-LABEL: gpu.func @k_other(
// CHECK-NOT: ex2.approx
// CHECK: math.exp
// CHECK-LABEL: gpu.func @k_wide(
// CHECK-NOT: ex2.approx
// CHECK: math.exp
weft.kernel @k_other(%x: tensor<16x8192xf32>, %y: tensor<16x8192xf32>) -> tensor<16x1xf32> rows [16, 8192] over [1] inplace [[]] {
  %max = weft.reduce max %x dims [1] {keep_dims} : tensor<16x8192xf32>
  %d = weft.sub %y, %max : tensor<16x8192xf32>, tensor<16x1xf32>
  %e = weft.exp %d : tensor<16x8192xf32>
  %sum = weft.reduce sum %e dims [1] {keep_dims} : tensor<16x8192xf32>
  weft.yield %sum : tensor<16x1xf32>
}
weft.kernel @k_wide(%x: tensor<16x8192xf64>) -> tensor<16x1xf64> rows [16, 8192] over [1] inplace [[]] {
  %max = weft.reduce max %x dims [1] {keep_dims} : tensor<16x8192xf64>
  %d = weft.sub %x, %max : tensor<16x8192xf64>, tensor<16x1xf64>
  %e = weft.exp %d : tensor<16x8192xf64>
  %sum = weft.reduce sum %e dims [1] {keep_dims} : tensor<16x8192xf64>
  weft.yield %sum : tensor<16x1xf64>
}
