// REQUIRES: full
// RUN: rm -rf %t && %python %S/Inputs/emulate.py %s %t 1 | FileCheck %s
// Random numbers of a device equal the CPU's, however many elements a thread computes.

// CHECK-COUNT-7: {{^k_.*: equal$}}
// CHECK-NEXT: {{^9 results of 7 kernels as the interpreter computes them$}}
// CHECK-NOT: {{.}}
module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.kernel @k_exact_uniform(%seed: tensor<1xi64>, %stream: tensor<1xi64>) -> tensor<37x64xf32> elementwise [2368] inplace [[]] {
  %zero = weft.constant dense<0> : tensor<i64>
  %i = weft.iota [0, 1] : tensor<37x64xi64>
  %z = weft.philox uniform %seed, %stream, %zero, %i : tensor<1xi64>, tensor<1xi64>, tensor<i64>, tensor<37x64xi64>
  weft.yield %z : tensor<37x64xf32>
}
weft.kernel @k_exact_normal_odd(%seed: tensor<1xi64>, %stream: tensor<1xi64>) -> tensor<1003xf32> elementwise [1003] inplace [[]] {
  %zero = weft.constant dense<0> : tensor<i64>
  %i = weft.iota [0] : tensor<1003xi64>
  %z = weft.philox normal %seed, %stream, %zero, %i : tensor<1xi64>, tensor<1xi64>, tensor<i64>, tensor<1003xi64>
  weft.yield %z : tensor<1003xf32>
}
// Rows of a tensor of three dimensions, odd and even ones.
weft.kernel @k_exact_rows_odd(%x: tensor<5x3x7xf32>, %seed: tensor<1xi64>, %stream: tensor<1xi64>, %first: tensor<1xi64>) -> tensor<5x3x7xf32> elementwise [5, 21] inplace [[]] {
  %r = weft.iota [0] : tensor<5x1x1xi64>
  %row = weft.add %first, %r : tensor<1xi64>, tensor<5x1x1xi64>
  %e = weft.iota [1, 2] : tensor<1x3x7xi64>
  %u = weft.philox uniform %seed, %stream, %row, %e : tensor<1xi64>, tensor<1xi64>, tensor<5x1x1xi64>, tensor<1x3x7xi64>
  %z = weft.mul %x, %u : tensor<5x3x7xf32>, tensor<5x3x7xf32>
  weft.yield %z : tensor<5x3x7xf32>
}
weft.kernel @k_exact_rows_low(%x: tensor<5x6x32xbf16>, %seed: tensor<1xi64>, %stream: tensor<1xi64>, %first: tensor<1xi64>) -> tensor<5x6x32xbf16> elementwise [5, 192] inplace [[]] {
  %r = weft.iota [0] : tensor<5x1x1xi64>
  %row = weft.add %first, %r : tensor<1xi64>, tensor<5x1x1xi64>
  %e = weft.iota [1, 2] : tensor<1x6x32xi64>
  %u = weft.philox uniform %seed, %stream, %row, %e : tensor<1xi64>, tensor<1xi64>, tensor<5x1x1xi64>, tensor<1x6x32xi64>
  %half = weft.constant dense<0.5> : tensor<f32>
  %keep = weft.compare ge %u, %half : tensor<5x6x32xf32>, tensor<f32>
  %zero = weft.constant dense<0.0> : tensor<bf16>
  %z = weft.select %keep, %x, %zero : tensor<5x6x32xi1>, tensor<5x6x32xbf16>, tensor<bf16>
  weft.yield %z : tensor<5x6x32xbf16>
}
// In a kernel that reduces, along with its rows and its columns.
weft.kernel @k_random_sum(%x: tensor<9x1030xf32>, %seed: tensor<1xi64>, %stream: tensor<1xi64>) -> (tensor<9xf32>, tensor<9x1030xf32>) rows [9, 1030] over [1] inplace [[], []] {
  %r = weft.iota [0] : tensor<9x1xi64>
  %e = weft.iota [1] : tensor<1x1030xi64>
  %u = weft.philox uniform %seed, %stream, %r, %e : tensor<1xi64>, tensor<1xi64>, tensor<9x1xi64>, tensor<1x1030xi64>
  %p = weft.mul %x, %u : tensor<9x1030xf32>, tensor<9x1030xf32>
  %y = weft.reduce sum %p dims [1] : tensor<9x1030xf32>
  weft.yield %y, %p : tensor<9xf32>, tensor<9x1030xf32>
}
weft.kernel @k_random_columns(%x: tensor<70x45xf32>, %seed: tensor<1xi64>, %stream: tensor<1xi64>) -> tensor<45xf32> columns [70, 45] over [0] inplace [[]] {
  %r = weft.iota [0] : tensor<70x1xi64>
  %e = weft.iota [1] : tensor<1x45xi64>
  %u = weft.philox uniform %seed, %stream, %r, %e : tensor<1xi64>, tensor<1xi64>, tensor<70x1xi64>, tensor<1x45xi64>
  %p = weft.mul %x, %u : tensor<70x45xf32>, tensor<70x45xf32>
  %y = weft.reduce sum %p dims [0] : tensor<70x45xf32>
  weft.yield %y : tensor<45xf32>
}
// Numbers of elements by themselves, and across a transposed operand.
weft.kernel @k_exact_iota(%x: tensor<8x12xf32>, %y: tensor<12x8xf32>) -> (tensor<12x8xf32>, tensor<12x8xf32>) elementwise [12, 8] inplace [[], []] {
  %t = weft.transpose %x [1, 0] : tensor<8x12xf32>
  %z = weft.add %t, %y : tensor<12x8xf32>, tensor<12x8xf32>
  %i = weft.iota [0] : tensor<12x8xi32>
  %j = weft.iota [0, 1] : tensor<12x8xi64>
  %f = weft.cast %i : tensor<12x8xi32> to tensor<12x8xf32>
  %g = weft.cast %j : tensor<12x8xi64> to tensor<12x8xf32>
  %a = weft.mul %z, %f : tensor<12x8xf32>, tensor<12x8xf32>
  weft.yield %a, %g : tensor<12x8xf32>, tensor<12x8xf32>
}
}
