// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-to-cuda -o %t.mlir
// RUN: env WEFT_CUDA_HOME=%t.none weft compile %t.mlir --from=lower-to-cuda --emit=ptx | FileCheck %s --implicit-check-not=fma --implicit-check-not=.ftz --implicit-check-not=.approx --implicit-check-not=atom --implicit-check-not=.local
// RUN: sed 's/sm_90/sm_80/' %t.mlir > %t.80.mlir
// RUN: weft compile %t.80.mlir --from=lower-to-cuda --emit=ptx | FileCheck %s --check-prefix=SM80
// RUN: sed 's/sm_90/sm_100/' %t.mlir > %t.100.mlir
// RUN: weft compile %t.100.mlir --from=lower-to-cuda --emit=ptx | FileCheck %s --check-prefix=SM100
// RUN: weft compile %t.mlir --from=lower-to-cuda --emit=ptx -o %t.ptx
// RUN: weft compile %t.mlir --from=lower-to-cuda --emit=ptx > %t.out
// RUN: sed '$d' %t.ptx | cmp - %t.out
// The kernels as PTX, made without a CUDA toolkit: products and sums are
// rounded one by one, quotients and roots are exact, nothing is contracted.

module attributes {weft.options = {target = "cuda:sm_90"}} {

// CHECK: .version 8.0
// CHECK: .target sm_90
// SM80: .target sm_80
// SM100: .target sm_100

// CHECK: .entry k_flat(
// CHECK: .maxntid 256, 1, 1
// CHECK-COUNT-2: ld.global.v4.b32
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: st.global.v4.b32
weft.kernel @k_flat(%x: tensor<1024xf32>, %y: tensor<1024xf32>) -> tensor<1024xf32> elementwise [1024] inplace [[]] {
  %p = weft.mul %x, %y : tensor<1024xf32>, tensor<1024xf32>
  %z = weft.add %p, %y : tensor<1024xf32>, tensor<1024xf32>
  weft.yield %z : tensor<1024xf32>
}

// CHECK: .entry k_low(
// CHECK: ld.global.v4.b32
// CHECK: div.rn.f32
// CHECK: cvt.rn.bf16
// CHECK: st.global.v4.b32
weft.kernel @k_low(%x: tensor<4096xbf16>, %y: tensor<4096xbf16>) -> tensor<4096xbf16> elementwise [4096] inplace [[]] {
  %z = weft.div %x, %y : tensor<4096xbf16>, tensor<4096xbf16>
  weft.yield %z : tensor<4096xbf16>
}

// CHECK: .entry k_norm(
// CHECK: .maxntid 32, 8, 1
// CHECK: ld.global.v4.b32
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK: sqrt.rn.f32
// CHECK-NOT: bar.warp.sync
// CHECK: st.global.b32
weft.kernel @k_norm(%x: tensor<16x256xf32>) -> tensor<16xf32> rows [16, 256] over [1] inplace [[]] {
  %s = weft.mul %x, %x : tensor<16x256xf32>, tensor<16x256xf32>
  %t = weft.reduce sum %s dims [1] : tensor<16x256xf32>
  %y = weft.sqrt %t : tensor<16xf32>
  weft.yield %y : tensor<16xf32>
}

// A result over what all threads of the row read: they meet before it is written.
// CHECK: .entry k_over(
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK: ld.global.b32
// CHECK: bar.warp.sync -1
// CHECK: st.global.b32
weft.kernel @k_over(%x: tensor<16x256xf32>, %b: tensor<16xf32>) -> tensor<16xf32> rows [16, 256] over [1] inplace [[1]] {
  %t = weft.reduce sum %x dims [1] : tensor<16x256xf32>
  %y = weft.sub %t, %b : tensor<16xf32>, tensor<16xf32>
  weft.yield %y : tensor<16xf32>
}

// CHECK: .entry k_long(
// CHECK: .maxntid 256, 1, 1
// CHECK: max.NaN.f32
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK: st.shared.b32
// CHECK: bar.sync 0
// CHECK: ld.shared
weft.kernel @k_long(%x: tensor<4x4096xf32>) -> tensor<4xf32> rows [4, 4096] over [1] inplace [[]] {
  %y = weft.reduce max %x dims [1] : tensor<4x4096xf32>
  weft.yield %y : tensor<4xf32>
}

// CHECK: .entry k_columns(
// CHECK: .maxntid 32, 8, 1
// CHECK: add.rn.f32
// CHECK: st.shared.b32
// CHECK: bar.sync 0
// CHECK: st.global.b32
weft.kernel @k_columns(%x: tensor<64x64xf32>) -> tensor<64xf32> columns [64, 64] over [0] inplace [[]] {
  %y = weft.reduce sum %x dims [0] : tensor<64x64xf32>
  weft.yield %y : tensor<64xf32>
}
}
