// RUN: weft-opt %s --weft-lower-kernels-to-gpu --split-input-file --verify-diagnostics
// Functions that are not the linalg form of a kernel; Lowering/lower-kernels-errors.mlir has the others.

// expected-error @+1 {{expects weft.kernel_kind, weft.sizes and weft.over, as weft-convert-kernels-to-linalg writes them}}
func.func @k_plain(%x: memref<8xf32>) {
  return
}
