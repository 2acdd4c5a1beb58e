// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-to-cuda -o %t.mlir
// RUN: env WEFT_CUDA_HOME=%t.none weft compile %t.mlir --from=lower-to-cuda --emit=ptx -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx
// RUN: grep -cE "mul\.(wide\.u32|lo\.s64)" %t.ptx | FileCheck %s --check-prefix=COUNT
// The four elements of a thread draw one block of Philox numbers: ten rounds of two
// products, and four of the key.

// CHECK: ld.global.v4.b32
// CHECK: st.global.v4.b32
// COUNT: {{^}}2{{[0-9]$}}
module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.kernel @k_drop(%x: tensor<8x3x64xf32>, %seed: tensor<1xi64>, %stream: tensor<1xi64>, %first: tensor<1xi64>) -> tensor<8x3x64xf32> elementwise [8, 192] inplace [[]] {
  %r = weft.iota [0] : tensor<8x3x64xi64>
  %row = weft.add %first, %r : tensor<1xi64>, tensor<8x3x64xi64>
  %e = weft.iota [1, 2] : tensor<8x3x64xi64>
  %u = weft.philox uniform %seed, %stream, %row, %e : tensor<1xi64>, tensor<1xi64>, tensor<8x3x64xi64>, tensor<8x3x64xi64>
  %p = weft.mul %x, %u : tensor<8x3x64xf32>, tensor<8x3x64xf32>
  weft.yield %p : tensor<8x3x64xf32>
}
}
