// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-kernels --cse | FileCheck %s
// The element of a row whose number is given is read where it lies: no total of all
// lanes, and nothing where no element has that number.

// CHECK-LABEL: llvm.func @k_pick
// CHECK: %[[WIDE:.*]] = arith.extsi %{{.*}} : i32 to i64
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[WIDE]], %{{.*}} : i64
// CHECK: arith.select %[[EXISTS]], %[[WIDE]], %{{.*}} : i64
// CHECK: %[[BITS:.*]] = llvm.load {{.*}} -> i16
// CHECK: %[[LOGIT:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[MAX:.*]] = arith.maximumf %{{.*}}, %[[LOGIT]] : f32
// CHECK: arith.select %[[EXISTS]], %[[MAX]], %{{.*}} : f32
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK-NOT: scf.for
// CHECK: llvm.return
weft.kernel @k_pick(%x: tensor<8x700xbf16>, %targets: tensor<8x1xi32>) -> (tensor<8x1xf32>, tensor<8x1xf32>) rows [8, 700] over [1] inplace [[], []] {
  %w = weft.cast %x : tensor<8x700xbf16> to tensor<8x700xf32>
  %m = weft.reduce max %w dims [1] {keep_dims} : tensor<8x700xf32>
  %classes = weft.iota [1] : tensor<8x700xi32>
  %hits = weft.compare eq %classes, %targets : tensor<8x700xi32>, tensor<8x1xi32>
  %least = weft.constant dense<0xFF800000> : tensor<f32>
  %s = weft.select %hits, %w, %least : tensor<8x700xi1>, tensor<8x700xf32>, tensor<f32>
  %logit = weft.reduce max %s dims [1] {keep_dims} : tensor<8x700xf32>
  weft.yield %m, %logit : tensor<8x1xf32>, tensor<8x1xf32>
}

// It is read before the pass over the row overwrites its operand.
// CHECK-LABEL: llvm.func @k_in_place
// CHECK: %[[LOGIT:.*]] = llvm.load {{.*}} -> f32
// CHECK: math.absf %[[LOGIT]] : f32
// CHECK: llvm.store {{.*}} : vector<16xf32>
// CHECK: llvm.return
weft.kernel @k_in_place(%x: tensor<8x64xf32>, %targets: tensor<8x1xi32>) -> (tensor<8x64xf32>, tensor<8x1xf32>) rows [8, 64] over [1] inplace [[0], []] {
  %y = weft.abs %x : tensor<8x64xf32>
  %classes = weft.iota [1] : tensor<8x64xi32>
  %hits = weft.compare eq %classes, %targets : tensor<8x64xi32>, tensor<8x1xi32>
  %least = weft.constant dense<0xFF800000> : tensor<f32>
  %s = weft.select %hits, %y, %least : tensor<8x64xi1>, tensor<8x64xf32>, tensor<f32>
  %logit = weft.reduce max %s dims [1] {keep_dims} : tensor<8x64xf32>
  weft.yield %y, %logit : tensor<8x64xf32>, tensor<8x1xf32>
}

// A choice by another value, or of an operand that the total ignores, is a total.
// CHECK-LABEL: llvm.func @k_total
// CHECK-COUNT-4: vector.shuffle
// CHECK: llvm.return
weft.kernel @k_total(%x: tensor<8x64xf32>, %targets: tensor<8x1xi32>) -> tensor<8x1xf32> rows [8, 64] over [1] inplace [[]] {
  %classes = weft.iota [1] : tensor<8x64xi32>
  %hits = weft.compare eq %classes, %targets : tensor<8x64xi32>, tensor<8x1xi32>
  %zero = weft.constant dense<0.0> : tensor<f32>
  %s = weft.select %hits, %x, %zero : tensor<8x64xi1>, tensor<8x64xf32>, tensor<f32>
  %y = weft.reduce max %s dims [1] {keep_dims} : tensor<8x64xf32>
  weft.yield %y : tensor<8x1xf32>
}
