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

// Logits of bf16 have the range of f32 and are subtracted first: only minus
// infinity is below the maximum of no elements.
// CHECK-LABEL: gpu.func @k_bf16(
// CHECK: arith.constant -3.40282347E+38 : f32
// CHECK: %[[PASS:.*]]:2 = scf.for {{.*}} iter_args(%[[MOST:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}) -> (f32, f32)
// CHECK: %[[NEXT:.*]] = arith.maximumf %[[MOST]],
// CHECK: %[[D:.*]] = arith.subf %{{.*}}, %[[NEXT]] : f32
// CHECK-NEXT: %[[EXPONENT:.*]] = arith.mulf %[[D]], %{{.*}} : f32
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[EXPONENT]])
weft.kernel @k_bf16(%x: tensor<16x8192xbf16>) -> tensor<16x1xf32> rows [16, 8192] over [1] inplace [[]] {
  %w = weft.cast %x : tensor<16x8192xbf16> to tensor<16x8192xf32>
  %max = weft.reduce max %w dims [1] {keep_dims} : tensor<16x8192xf32>
  %d = weft.sub %w, %max : tensor<16x8192xf32>, tensor<16x1xf32>
  %e = weft.exp %d : tensor<16x8192xf32>
  %sum = weft.reduce sum %e dims [1] {keep_dims} : tensor<16x8192xf32>
  weft.yield %sum : tensor<16x1xf32>
}

// Logits of f32 are subtracted first, so that e^(max - max) is 1. 40 squares are
// compared once each with those of the other pass.
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
  %p0 = weft.mul %x, %x : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p1 = weft.mul %p0, %p0 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p2 = weft.mul %p1, %p1 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p3 = weft.mul %p2, %p2 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p4 = weft.mul %p3, %p3 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p5 = weft.mul %p4, %p4 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p6 = weft.mul %p5, %p5 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p7 = weft.mul %p6, %p6 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p8 = weft.mul %p7, %p7 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p9 = weft.mul %p8, %p8 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p10 = weft.mul %p9, %p9 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p11 = weft.mul %p10, %p10 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p12 = weft.mul %p11, %p11 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p13 = weft.mul %p12, %p12 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p14 = weft.mul %p13, %p13 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p15 = weft.mul %p14, %p14 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p16 = weft.mul %p15, %p15 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p17 = weft.mul %p16, %p16 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p18 = weft.mul %p17, %p17 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p19 = weft.mul %p18, %p18 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p20 = weft.mul %p19, %p19 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p21 = weft.mul %p20, %p20 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p22 = weft.mul %p21, %p21 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p23 = weft.mul %p22, %p22 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p24 = weft.mul %p23, %p23 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p25 = weft.mul %p24, %p24 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p26 = weft.mul %p25, %p25 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p27 = weft.mul %p26, %p26 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p28 = weft.mul %p27, %p27 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p29 = weft.mul %p28, %p28 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p30 = weft.mul %p29, %p29 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p31 = weft.mul %p30, %p30 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p32 = weft.mul %p31, %p31 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p33 = weft.mul %p32, %p32 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p34 = weft.mul %p33, %p33 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p35 = weft.mul %p34, %p34 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p36 = weft.mul %p35, %p35 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p37 = weft.mul %p36, %p36 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p38 = weft.mul %p37, %p37 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %p39 = weft.mul %p38, %p38 : tensor<16x8192xf32>, tensor<16x8192xf32>
  %max = weft.reduce max %p39 dims [1] {keep_dims} : tensor<16x8192xf32>
  %d = weft.sub %p39, %max : tensor<16x8192xf32>, tensor<16x1xf32>
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
