// RUN: weft-opt %s --weft-convert-kernels-to-linalg | FileCheck %s --check-prefix=STRICT
// RUN: weft-opt %s --weft-convert-kernels-to-linalg="fast=true" | FileCheck %s --check-prefix=FAST
// RUN: weft-opt %s --weft-convert-kernels-to-linalg="fast=true" --weft-lower-kernels | FileCheck %s --check-prefix=CODE
// 16-bit floats are rounded after each op, or where the kernel ends.

// STRICT-LABEL: func.func @k_chain
// STRICT: arith.extf
// STRICT: arith.addf {{.*}} : f32
// STRICT-NEXT: %[[A:.*]] = arith.truncf {{.*}} : f32 to bf16
// STRICT-NEXT: arith.extf %[[A]] : bf16 to f32
// STRICT: math.exp
// STRICT: arith.truncf
// FAST-LABEL: func.func @k_chain
// FAST: %[[A:.*]] = arith.addf {{.*}} : f32
// FAST-NEXT: %[[E:.*]] = math.exp %[[A]] : f32
// FAST-NEXT: %[[R:.*]] = arith.truncf %[[E]] : f32 to bf16
// FAST-NEXT: linalg.yield %[[R]] : bf16
weft.kernel @k_chain(%x: tensor<8xbf16>, %y: tensor<8xbf16>) -> tensor<8xbf16> elementwise [8] inplace [[]] {
  %a = weft.add %x, %y : tensor<8xbf16>, tensor<8xbf16>
  %b = weft.exp %a : tensor<8xbf16>
  weft.yield %b : tensor<8xbf16>
}

// Casts inside do not round either; a sum that stays inside is f32, and so is
// what a later phase reads.
// STRICT-LABEL: func.func @k_row
// STRICT: memref.alloca() : memref<8x{{.*}}xf16>
// FAST-LABEL: func.func @k_row
// FAST-NOT: memref.alloca() : memref<{{.*}}xf16>
// FAST: linalg.generic
// FAST: math.exp
// FAST-NOT: arith.truncf
// FAST: linalg.yield
// FAST: linalg.generic
// FAST: %[[Q:.*]] = arith.divf {{.*}} : f32
// FAST-NEXT: %[[R:.*]] = arith.truncf %[[Q]] : f32 to f16
// FAST-NEXT: linalg.yield %[[R]] : f16
weft.kernel @k_row(%x: tensor<8x64xf32>) -> tensor<8x64xf16> rows [8, 64] over [1] inplace [[]] {
  %h = weft.cast %x : tensor<8x64xf32> to tensor<8x64xf16>
  %e = weft.exp %h : tensor<8x64xf16>
  %s = weft.reduce sum %e dims [1] {keep_dims} : tensor<8x64xf16>
  %q = weft.div %e, %s : tensor<8x64xf16>, tensor<8x1xf16>
  weft.yield %q : tensor<8x64xf16>
}

// Numbers of other types are untouched.
// FAST-LABEL: func.func @k_integers
// FAST: arith.extf {{.*}} : f16 to f32
// FAST-NEXT: arith.fptosi {{.*}} : f32 to i32
weft.kernel @k_integers(%x: tensor<8xf16>) -> tensor<8xi32> elementwise [8] inplace [[]] {
  %i = weft.cast %x : tensor<8xf16> to tensor<8xi32>
  weft.yield %i : tensor<8xi32>
}

// As many of 16 bits as a kernel keeps are twice the bytes.
// CODE-LABEL: llvm.func @k_wide
// CODE: %[[SIZE:.*]] = arith.constant 60000 : i64
// CODE-NEXT: llvm.alloca %[[SIZE]] x f32
weft.kernel @k_wide(%x: tensor<2x60000xbf16>) -> tensor<2x60000xbf16> rows [2, 60000] over [1] inplace [[]] {
  %e = weft.exp %x : tensor<2x60000xbf16>
  %s = weft.reduce sum %e dims [1] {keep_dims} : tensor<2x60000xbf16>
  %q = weft.div %e, %s : tensor<2x60000xbf16>, tensor<2x1xbf16>
  weft.yield %q : tensor<2x60000xbf16>
}
