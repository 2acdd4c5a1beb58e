// RUN: sed s/CHIP/sm_80/ %s > %t.80.mlir
// RUN: weft-opt %t.80.mlir --weft-convert-kernels-to-linalg --weft-lower-to-cuda -o %t.80 && weft compile %t.80 --from=lower-to-cuda --emit=ptx | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: sed s/CHIP/sm_90/ %s > %t.90.mlir
// RUN: weft-opt %t.90.mlir --weft-convert-kernels-to-linalg --weft-lower-to-cuda -o %t.90 && weft compile %t.90 --from=lower-to-cuda --emit=ptx | FileCheck %s --check-prefixes=CHECK,SM90
// Half types take 16 bytes at once, and pairs of elements: sums and products of
// them have the bits of f32 that is rounded, so they are computed as they are.
module attributes {weft.options = {target = "cuda:CHIP"}} {

// CHECK-LABEL: .entry k_f16(
// CHECK-COUNT-3: ld.global.v4.b32
// CHECK-COUNT-4: mul.rn.f16x2
// CHECK-COUNT-4: add.rn.f16x2
// CHECK: st.global.v4.b32
// CHECK: ret;
weft.kernel @k_f16(%x: tensor<512x64xf16>, %y: tensor<512x64xf16>, %z: tensor<512x64xf16>) -> tensor<512x64xf16> elementwise [32768] inplace [[]] {
  %p = weft.mul %x, %y : tensor<512x64xf16>, tensor<512x64xf16>
  %s = weft.add %p, %z : tensor<512x64xf16>, tensor<512x64xf16>
  weft.yield %s : tensor<512x64xf16>
}

// sm_80 has no sum of bf16 values: one that multiplies by 1 first.
// CHECK-LABEL: .entry k_bf16(
// CHECK-COUNT-3: ld.global.v4.b32
// SM80-COUNT-8: fma.rn.bf16x2
// SM90-COUNT-4: mul.rn.bf16x2
// SM90-COUNT-4: add.rn.bf16x2
// CHECK: st.global.v4.b32
// CHECK: ret;
weft.kernel @k_bf16(%x: tensor<512x64xbf16>, %y: tensor<512x64xbf16>, %z: tensor<512x64xbf16>) -> tensor<512x64xbf16> elementwise [32768] inplace [[]] {
  %p = weft.mul %x, %y : tensor<512x64xbf16>, tensor<512x64xbf16>
  %s = weft.add %p, %z : tensor<512x64xbf16>, tensor<512x64xbf16>
  weft.yield %s : tensor<512x64xbf16>
}

// A division has no such instruction: f32, rounded two at a time.
// CHECK-LABEL: .entry k_quotient(
// CHECK-COUNT-2: ld.global.v4.b32
// CHECK: div.rn.f32
// CHECK-COUNT-4: cvt.rn.f16x2.f32
// CHECK: st.global.v4.b32
// CHECK: ret;
weft.kernel @k_quotient(%x: tensor<512x64xf16>, %y: tensor<512x64xf16>) -> tensor<512x64xf16> elementwise [32768] inplace [[]] {
  %q = weft.div %x, %y : tensor<512x64xf16>, tensor<512x64xf16>
  weft.yield %q : tensor<512x64xf16>
}

// Between two casts that the model asks for nothing is rounded twice or not at all.
// CHECK-LABEL: .entry k_wide(
// CHECK-COUNT-2: ld.global.v4.b32
// CHECK-NOT: f16x2
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: cvt.rn.f16x2.f32
// CHECK: st.global.v4.b32
// CHECK: ret;
weft.kernel @k_wide(%x: tensor<512x64xf16>, %y: tensor<512x64xf16>) -> tensor<512x64xf16> elementwise [32768] inplace [[]] {
  %a = weft.cast %x : tensor<512x64xf16> to tensor<512x64xf32>
  %b = weft.cast %y : tensor<512x64xf16> to tensor<512x64xf32>
  %p = weft.mul %a, %b : tensor<512x64xf32>, tensor<512x64xf32>
  %s = weft.add %p, %b : tensor<512x64xf32>, tensor<512x64xf32>
  %r = weft.cast %s : tensor<512x64xf32> to tensor<512x64xf16>
  weft.yield %r : tensor<512x64xf16>
}

// Rows that are no multiple of 16 bytes: the accesses that the stride allows.
// CHECK-LABEL: .entry k_offset(
// CHECK-NOT: ld.global.v
// CHECK-COUNT-8: ld.global.b32
// CHECK-COUNT-4: mul.rn.f16x2
// CHECK: st.global.v4.b32
// CHECK: ret;
weft.kernel @k_offset(%x: tensor<512x66xf16>, %y: tensor<512x66xf16>) -> tensor<512x64xf16> elementwise [512, 64] inplace [[]] {
  %a = weft.slice %x offsets [0, 2] sizes [512, 64] strides [1, 1] : tensor<512x66xf16>
  %b = weft.slice %y offsets [0, 2] sizes [512, 64] strides [1, 1] : tensor<512x66xf16>
  %p = weft.mul %a, %b : tensor<512x64xf16>, tensor<512x64xf16>
  weft.yield %p : tensor<512x64xf16>
}
}
