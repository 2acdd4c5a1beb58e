// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-to-cuda -o %t.mlir
// RUN: env WEFT_CUDA_HOME=%t.none %python %S/../../Pipeline/expect-exit.py 9 -- weft compile %t.mlir --from=lower-to-cuda --emit=ptx 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: rm -rf %t.bad && mkdir -p %t.bad/nvvm/libdevice && echo no > %t.bad/nvvm/libdevice/libdevice.10.bc
// RUN: env WEFT_CUDA_HOME=%t.bad %python %S/../../Pipeline/expect-exit.py 9 -- weft compile %t.mlir --from=lower-to-cuda --emit=ptx 2>&1 | FileCheck %s --check-prefix=BAD
// Elementary functions come from libdevice: without one, an error says so.

// NONE: weft: error: expects nvvm/libdevice/libdevice.10.bc of a CUDA toolkit, but found none in {{.*}}.none
// NONE-NEXT: hint: install the CUDA toolkit, or set WEFT_CUDA_HOME to its folder
// BAD: weft: error: {{.*}}libdevice.10.bc: cannot read: expected top-level entity

module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.kernel @k_exp(%x: tensor<64xf32>) -> tensor<64xf32> elementwise [64] inplace [[]] {
  %y = weft.exp %x : tensor<64xf32>
  weft.yield %y : tensor<64xf32>
}
}
