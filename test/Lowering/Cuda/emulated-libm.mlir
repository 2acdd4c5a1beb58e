// RUN: rm -rf %t && mkdir -p %t/none
// RUN: env WEFT_CUDA_HOME=%t/none %python %S/Inputs/emulate.py %s %t/run | FileCheck %s
// RUN: FileCheck %s --check-prefix=CODE --input-file=%t/run/wide.device.ll
// Kernels for a device run on this machine without a toolkit too: their elementary
// functions then come from libm.

// CHECK-COUNT-4: {{^k_.*: equal$}}
// CHECK-NEXT: {{^4 results of 4 kernels as the interpreter computes them$}}
// CHECK-NOT: {{.}}
// CODE-NOT: @__nv_
// CODE: call float @expf(
// CODE-NOT: @__nv_
module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.kernel @k_exp(%x: tensor<143xf32>) -> tensor<143xf32> elementwise [143] inplace [[]] {
  %y = weft.exp %x : tensor<143xf32>
  weft.yield %y : tensor<143xf32>
}
weft.kernel @k_erf(%x: tensor<143xf32>) -> tensor<143xf32> elementwise [143] inplace [[]] {
  %y = weft.erf %x : tensor<143xf32>
  weft.yield %y : tensor<143xf32>
}
weft.kernel @k_pow(%x: tensor<143xf64>, %y: tensor<143xf64>) -> tensor<143xf64> elementwise [143] inplace [[]] {
  %a = weft.abs %x : tensor<143xf64>
  %z = weft.pow %a, %y : tensor<143xf64>, tensor<143xf64>
  weft.yield %z : tensor<143xf64>
}
weft.kernel @k_tanh_sum(%x: tensor<3x1031xbf16>) -> tensor<3x1xf32> rows [3, 1031] over [1] inplace [[]] {
  %a = weft.cast %x : tensor<3x1031xbf16> to tensor<3x1031xf32>
  %e = weft.tanh %a : tensor<3x1031xf32>
  %s = weft.reduce sum %e dims [1] {keep_dims} : tensor<3x1031xf32>
  %l = weft.abs %s : tensor<3x1xf32>
  weft.yield %l : tensor<3x1xf32>
}
}
