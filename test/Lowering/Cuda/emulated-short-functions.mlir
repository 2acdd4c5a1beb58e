// RUN: %python %S/Inputs/emulate.py %s %t 1 | FileCheck %s
// Approximate functions (approximate-math.mlir) as the
// interpreter's in f32 results: within 2e-6 of the largest.

// CHECK-COUNT-4: {{^k_.*: equal$}}
// CHECK-NEXT: {{^4 results of 4 kernels as the interpreter computes them$}}
// CHECK-NOT: {{.}}
module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.kernel @k_exp(%x: tensor<143xf16>) -> tensor<143xf32> elementwise [143] inplace [[]] {
  %w = weft.cast %x : tensor<143xf16> to tensor<143xf32>
  %y = weft.exp %w {afn} : tensor<143xf32>
  weft.yield %y : tensor<143xf32>
}
weft.kernel @k_gate(%x: tensor<143xbf16>) -> tensor<143xf32> elementwise [143] inplace [[]] {
  %w = weft.cast %x : tensor<143xbf16> to tensor<143xf32>
  %n = weft.neg %w : tensor<143xf32>
  %e = weft.exp %n {afn} : tensor<143xf32>
  %one = weft.constant dense<1.0> : tensor<f32>
  %d = weft.add %e, %one : tensor<143xf32>, tensor<f32>
  %z = weft.div %one, %d : tensor<f32>, tensor<143xf32>
  %y = weft.mul %w, %z : tensor<143xf32>, tensor<143xf32>
  weft.yield %y : tensor<143xf32>
}
weft.kernel @k_gelu(%x: tensor<143xf16>) -> tensor<143xf32> elementwise [143] inplace [[]] {
  %w = weft.cast %x : tensor<143xf16> to tensor<143xf32>
  %0 = weft.mul %w, %w : tensor<143xf32>, tensor<143xf32>
  %1 = weft.mul %0, %w : tensor<143xf32>, tensor<143xf32>
  %b = weft.constant dense<0.044715> : tensor<f32>
  %2 = weft.mul %1, %b : tensor<143xf32>, tensor<f32>
  %3 = weft.add %w, %2 : tensor<143xf32>, tensor<143xf32>
  %c = weft.constant dense<0.797884583> : tensor<f32>
  %4 = weft.mul %3, %c : tensor<143xf32>, tensor<f32>
  %t = weft.tanh %4 {afn} : tensor<143xf32>
  %half = weft.constant dense<0.5> : tensor<f32>
  %h = weft.mul %w, %half : tensor<143xf32>, tensor<f32>
  %one = weft.constant dense<1.0> : tensor<f32>
  %a = weft.add %t, %one : tensor<143xf32>, tensor<f32>
  %y = weft.mul %h, %a : tensor<143xf32>, tensor<143xf32>
  weft.yield %y : tensor<143xf32>
}
weft.kernel @k_slope(%x: tensor<143xbf16>) -> tensor<143xf32> elementwise [143] inplace [[]] {
  %w = weft.cast %x : tensor<143xbf16> to tensor<143xf32>
  %t = weft.tanh %w {afn} : tensor<143xf32>
  %one = weft.constant dense<1.0> : tensor<f32>
  %v = weft.add %t, %one : tensor<143xf32>, tensor<f32>
  %s = weft.mul %t, %t : tensor<143xf32>, tensor<143xf32>
  %r = weft.sub %one, %s : tensor<f32>, tensor<143xf32>
  %z = weft.mul %r, %one : tensor<143xf32>, tensor<f32>
  %p = weft.mul %w, %z : tensor<143xf32>, tensor<143xf32>
  %q = weft.add %v, %p : tensor<143xf32>, tensor<143xf32>
  %half = weft.constant dense<0.5> : tensor<f32>
  %h = weft.mul %q, %half : tensor<143xf32>, tensor<f32>
  weft.yield %h : tensor<143xf32>
}
}
