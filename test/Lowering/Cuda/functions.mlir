// REQUIRES: cuda-toolkit
// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-to-cuda -o %t.mlir
// RUN: weft compile %t.mlir --from=lower-to-cuda --emit=ptx -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx --implicit-check-not=.extern --implicit-check-not=call.uni
// RUN: %ptxas -arch=sm_90 %t.ptx -o %t.cubin
// Every elementary function that kernels use becomes code, in f32 and in f64.

// CHECK-DAG: .entry k_functions(
// CHECK-DAG: .entry k_f64(
module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.kernel @k_functions(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> elementwise [64] inplace [[]] {
  %a = weft.exp %x : tensor<64xf32>
  %b = weft.log %a : tensor<64xf32>
  %c = weft.log1p %b : tensor<64xf32>
  %d = weft.tanh %c : tensor<64xf32>
  %e = weft.erf %d : tensor<64xf32>
  %f = weft.sin %e : tensor<64xf32>
  %g = weft.cos %f : tensor<64xf32>
  %h = weft.sqrt %g : tensor<64xf32>
  %i = weft.rsqrt %h : tensor<64xf32>
  %j = weft.abs %i : tensor<64xf32>
  %k = weft.pow %j, %y : tensor<64xf32>, tensor<64xf32>
  weft.yield %k : tensor<64xf32>
}
weft.kernel @k_f64(%x: tensor<64xf64>, %y: tensor<64xf64>) -> tensor<64xf64> elementwise [64] inplace [[]] {
  %a = weft.exp %x : tensor<64xf64>
  %b = weft.log1p %a : tensor<64xf64>
  %c = weft.tanh %b : tensor<64xf64>
  %d = weft.erf %c : tensor<64xf64>
  %e = weft.pow %d, %y : tensor<64xf64>, tensor<64xf64>
  weft.yield %e : tensor<64xf64>
}
}
