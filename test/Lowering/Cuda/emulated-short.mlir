// RUN: not %python %S/Inputs/emulate.py %s %t.read 0 k_neg.0 2>&1 | FileCheck %s --check-prefix=READ
// RUN: not %python %S/Inputs/emulate.py %s %t.sum 0 k_sum.0 2>&1 | FileCheck %s --check-prefix=SUM
// REQUIRES: full, told-accesses
// A kernel of the tests that reads behind a buffer is an error, even if its result is the same.

// READ: emulation: error: kernel k_neg: thread {{[0-9]+}} of block 0 reads what nobody has written: byte 568 of an allocation of 632 bytes
// SUM: k_neg: equal
// SUM: emulation: error: kernel k_sum: thread {{[0-9]+}} of block {{[0-9]+}} reads what nobody has written: byte 3428 of an allocation of 3492 bytes
module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.kernel @k_neg(%x: tensor<143xf32>) -> tensor<143xf32> elementwise [143] inplace [[]] {
  %z = weft.neg %x : tensor<143xf32>
  weft.yield %z : tensor<143xf32>
}
weft.kernel @k_sum(%x: tensor<6x143xf32>) -> tensor<6x1xf32> rows [6, 143] over [1] inplace [[]] {
  %s = weft.reduce sum %x dims [1] {keep_dims} : tensor<6x143xf32>
  weft.yield %s : tensor<6x1xf32>
}
}
