// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-kernels-to-gpu --canonicalize --cse | FileCheck %s
// Functions that may be approximate are ex2 and rcp; others are functions of
// libdevice.

// GELU: x / (1 + 2^(-2 u log2 e)) with u = c (x + b x^3). -2.30 is -2 c log2 e,
// -0.103 is b times that.
// CHECK-LABEL: gpu.func @k_gelu
// CHECK: %[[X:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK-NOT: math.
// CHECK: %[[S:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK: %[[L:.*]] = math.fma %[[S]], %[[B:cst.*]], %[[A:cst.*]] : f32
// CHECK: %[[U:.*]] = arith.mulf %[[X]], %[[L]]
// CHECK: %[[P:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[U]])
// CHECK: %[[Q:.*]] = arith.addf %[[P]], %{{.*}} : f32
// CHECK: %[[R:.*]] = nvvm.rcp.approx.ftz.f %[[Q]] : f32
// CHECK: %[[Y:.*]] = arith.mulf %[[X]], %[[R]]
// CHECK: arith.truncf %[[Y]] : f32 to f16
weft.kernel @k_gelu(%x: tensor<2xf16>) -> tensor<2xf16> elementwise [2] inplace [[0]] {
  %w = weft.cast %x : tensor<2xf16> to tensor<2xf32>
  %0 = weft.mul %w, %w : tensor<2xf32>, tensor<2xf32>
  %1 = weft.mul %0, %w : tensor<2xf32>, tensor<2xf32>
  %b = weft.constant dense<0.044715> : tensor<f32>
  %2 = weft.mul %1, %b : tensor<2xf32>, tensor<f32>
  %3 = weft.add %w, %2 : tensor<2xf32>, tensor<2xf32>
  %c = weft.constant dense<0.797884583> : tensor<f32>
  %4 = weft.mul %3, %c : tensor<2xf32>, tensor<f32>
  %t = weft.tanh %4 {afn} : tensor<2xf32>
  %half = weft.constant dense<0.5> : tensor<f32>
  %h = weft.mul %w, %half : tensor<2xf32>, tensor<f32>
  %one = weft.constant dense<1.0> : tensor<f32>
  %a = weft.add %t, %one : tensor<2xf32>, tensor<f32>
  %y = weft.mul %h, %a : tensor<2xf32>, tensor<2xf32>
  %r = weft.cast %y : tensor<2xf32> to tensor<2xf16>
  weft.yield %r : tensor<2xf16>
}

// The slope of GELU with w = du/dx: r + x (2 w) r (1 - r).
// CHECK-LABEL: gpu.func @k_slope
// CHECK: %[[X:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[R:.*]] = nvvm.rcp.approx.ftz.f
// CHECK: %[[W:.*]] = math.fma
// CHECK: %[[C:.*]] = arith.subf %{{.*}}, %[[R]]
// CHECK: %[[D:.*]] = arith.mulf %[[R]], %[[C]]
// CHECK: %[[E:.*]] = arith.mulf %[[D]], %[[W]]
// CHECK: math.fma %[[X]], %[[E]], %[[R]]
// CHECK-NOT: math.tanh
// CHECK: gpu.return
weft.kernel @k_slope(%x: tensor<2xbf16>) -> tensor<2xf32> elementwise [2] inplace [[]] {
  %w = weft.cast %x : tensor<2xbf16> to tensor<2xf32>
  %t = weft.tanh %w {afn} : tensor<2xf32>
  %one = weft.constant dense<1.0> : tensor<f32>
  %v = weft.add %t, %one : tensor<2xf32>, tensor<f32>
  %s = weft.mul %t, %t : tensor<2xf32>, tensor<2xf32>
  %y = weft.sub %one, %s : tensor<f32>, tensor<2xf32>
  %a = weft.constant dense<0.25> : tensor<f32>
  %m = weft.mul %w, %a : tensor<2xf32>, tensor<f32>
  %u = weft.add %m, %one : tensor<2xf32>, tensor<f32>
  %z = weft.mul %y, %u : tensor<2xf32>, tensor<2xf32>
  %p = weft.mul %w, %z : tensor<2xf32>, tensor<2xf32>
  %q = weft.add %v, %p : tensor<2xf32>, tensor<2xf32>
  %half = weft.constant dense<0.5> : tensor<f32>
  %h = weft.mul %q, %half : tensor<2xf32>, tensor<f32>
  weft.yield %h : tensor<2xf32>
}

// A sigmoid.
// CHECK-LABEL: gpu.func @k_gates
// CHECK-NOT: math.
// CHECK-NOT: arith.divf
// CHECK: gpu.return
weft.kernel @k_gates(%x: tensor<2xf16>) -> tensor<2xf16> elementwise [2] inplace [[0]] {
  %w = weft.cast %x : tensor<2xf16> to tensor<2xf32>
  %n = weft.neg %w : tensor<2xf32>
  %e = weft.exp %n {afn} : tensor<2xf32>
  %one = weft.constant dense<1.0> : tensor<f32>
  %d = weft.add %e, %one : tensor<2xf32>, tensor<f32>
  %z = weft.div %one, %d : tensor<f32>, tensor<2xf32>
  %s = weft.mul %w, %z : tensor<2xf32>, tensor<2xf32>
  %r = weft.cast %s : tensor<2xf32> to tensor<2xf16>
  weft.yield %r : tensor<2xf16>
}

// tanh by itself: 2 r - 1 would be wrong for small arguments.
// libdevice's fast function is off by 2^-11, so the flag is dropped.
// CHECK-LABEL: gpu.func @k_tanh
// CHECK: math.tanh %{{[^ ]+}} : f32
// CHECK-NOT: nvvm.rcp
// CHECK: gpu.return
weft.kernel @k_tanh(%x: tensor<2xbf16>) -> tensor<2xf32> elementwise [2] inplace [[]] {
  %w = weft.cast %x : tensor<2xbf16> to tensor<2xf32>
  %t = weft.tanh %w {afn} : tensor<2xf32>
  %one = weft.constant dense<1.0> : tensor<f32>
  %v = weft.add %t, %one : tensor<2xf32>, tensor<f32>
  %p = weft.mul %t, %v : tensor<2xf32>, tensor<2xf32>
  weft.yield %p : tensor<2xf32>
}

// Joined, the two constants would be infinite, and e^(0 x) not 1 but NaN.
// CHECK-LABEL: gpu.func @k_mask
// CHECK-NOT: 0xFF800000
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK-NOT: 0xFF800000
// CHECK: gpu.return
weft.kernel @k_mask(%x: tensor<2xbf16>) -> tensor<2xf32> elementwise [2] inplace [[]] {
  %w = weft.cast %x : tensor<2xbf16> to tensor<2xf32>
  %c = weft.constant dense<-3.0e38> : tensor<f32>
  %m = weft.mul %w, %c : tensor<2xf32>, tensor<f32>
  %e = weft.exp %m {afn} : tensor<2xf32>
  weft.yield %e : tensor<2xf32>
}

// Any quotient but a sigmoid's stays: a divisor may be subnormal, and a large
// numerator may meet a reciprocal below 2^-126.
// CHECK-LABEL: gpu.func @k_quotient
// CHECK: arith.divf
// CHECK: arith.divf
weft.kernel @k_quotient(%x: tensor<2xbf16>, %z: tensor<2xbf16>) -> tensor<2xf32> elementwise [2] inplace [[]] {
  %w = weft.cast %x : tensor<2xbf16> to tensor<2xf32>
  %v = weft.cast %z : tensor<2xbf16> to tensor<2xf32>
  %s = weft.div %w, %v : tensor<2xf32>, tensor<2xf32>
  %e = weft.exp %w {afn} : tensor<2xf32>
  %one = weft.constant dense<1.0> : tensor<f32>
  %d = weft.add %e, %one : tensor<2xf32>, tensor<f32>
  %q = weft.div %s, %d : tensor<2xf32>, tensor<2xf32>
  weft.yield %q : tensor<2xf32>
}

// Functions without the flag keep all their places, a sigmoid's quotient too.
// CHECK-LABEL: gpu.func @k_wide
// CHECK: math.tanh
// CHECK: math.exp
// CHECK: arith.divf
weft.kernel @k_wide(%x: tensor<2xf16>, %z: tensor<2xf32>) -> tensor<2xf32> elementwise [2] inplace [[1]] {
  %w = weft.cast %x : tensor<2xf16> to tensor<2xf32>
  %s = weft.add %w, %z : tensor<2xf32>, tensor<2xf32>
  %t = weft.tanh %s : tensor<2xf32>
  %e = weft.exp %z : tensor<2xf32>
  %one = weft.constant dense<1.0> : tensor<f32>
  %d = weft.add %e, %one : tensor<2xf32>, tensor<f32>
  %y = weft.div %t, %d : tensor<2xf32>, tensor<2xf32>
  weft.yield %y : tensor<2xf32>
}
