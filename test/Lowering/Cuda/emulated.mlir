// RUN: rm -rf %t && %python %S/Inputs/emulate.py %s %t 1 | FileCheck %s
// RUN: %python -c "file = open('%t/written/k_flat3.1', 'r+b'); file.seek(7); byte = file.read(1)[0]; file.seek(7); file.write(bytes([byte ^ 1]))"
// RUN: not %python %S/Inputs/interpreter.py %s %t/written | FileCheck %s --check-prefix=WRONG
// WRONG: {{^k_flat3: argument 1 is [0-9.e+-]+ away from the interpreter's$}}
// WRONG-NOT: {{.}}
// Kernels for a device, run on this machine: as the CPU's, and with the same bits
// for wide and for single accesses, wherever their buffers lie.

// CHECK-COUNT-24: {{^k_.*: equal$}}
// CHECK-NEXT: {{^30 results of 24 kernels as the interpreter computes them$}}
// CHECK-NOT: {{.}}
module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.kernel @k_flat_odd(%x: tensor<7x143xf32>, %y: tensor<7x143xf32>) -> tensor<7x143xf32> elementwise [1001] inplace [[]] {
  %z = weft.mul %x, %y : tensor<7x143xf32>, tensor<7x143xf32>
  weft.yield %z : tensor<7x143xf32>
}
weft.kernel @k_flat3(%x: tensor<3xf32>) -> tensor<3xf32> elementwise [3] inplace [[]] {
  %z = weft.neg %x : tensor<3xf32>
  weft.yield %z : tensor<3xf32>
}
weft.kernel @k_bias_odd(%x: tensor<13x31xf32>, %b: tensor<31xf32>) -> tensor<13x31xf32> elementwise [13, 31] inplace [[]] {
  %z = weft.add %x, %b : tensor<13x31xf32>, tensor<31xf32>
  weft.yield %z : tensor<13x31xf32>
}
weft.kernel @k_bias_odd_low(%x: tensor<13x30xbf16>, %b: tensor<30xbf16>) -> tensor<13x30xbf16> elementwise [13, 30] inplace [[]] {
  %z = weft.add %x, %b : tensor<13x30xbf16>, tensor<30xbf16>
  weft.yield %z : tensor<13x30xbf16>
}
weft.kernel @k_cmp(%x: tensor<1000xf32>, %y: tensor<1000xf32>) -> (tensor<1000xi1>, tensor<1000xf32>) elementwise [1000] inplace [[], []] {
  %z = weft.compare lt %x, %y : tensor<1000xf32>, tensor<1000xf32>
  %w = weft.select %z, %x, %y : tensor<1000xi1>, tensor<1000xf32>, tensor<1000xf32>
  weft.yield %z, %w : tensor<1000xi1>, tensor<1000xf32>
}
weft.kernel @k_sum1000(%x: tensor<5x1000xf32>) -> tensor<5xf32> rows [5, 1000] over [1] inplace [[]] {
  %y = weft.reduce sum %x dims [1] : tensor<5x1000xf32>
  weft.yield %y : tensor<5xf32>
}
weft.kernel @k_sum999(%x: tensor<5x999xf32>) -> tensor<5xf32> rows [5, 999] over [1] inplace [[]] {
  %y = weft.reduce sum %x dims [1] : tensor<5x999xf32>
  weft.yield %y : tensor<5xf32>
}
weft.kernel @k_sum5(%x: tensor<50x5xf32>) -> tensor<50xf32> rows [50, 5] over [1] inplace [[]] {
  %y = weft.reduce sum %x dims [1] : tensor<50x5xf32>
  weft.yield %y : tensor<50xf32>
}
weft.kernel @k_max2(%x: tensor<50x2xf32>) -> tensor<50xf32> rows [50, 2] over [1] inplace [[]] {
  %y = weft.reduce max %x dims [1] : tensor<50x2xf32>
  weft.yield %y : tensor<50xf32>
}
weft.kernel @k_norm5003(%x: tensor<3x5003xf32>) -> tensor<3x5003xf32> rows [3, 5003] over [1] inplace [[]] {
  %m = weft.reduce max %x dims [1] {keep_dims} : tensor<3x5003xf32>
  %d = weft.sub %x, %m : tensor<3x5003xf32>, tensor<3x1xf32>
  %e = weft.abs %d : tensor<3x5003xf32>
  %s = weft.reduce sum %e dims [1] {keep_dims} : tensor<3x5003xf32>
  %y = weft.div %e, %s : tensor<3x5003xf32>, tensor<3x1xf32>
  weft.yield %y : tensor<3x5003xf32>
}
weft.kernel @k_norm1030(%x: tensor<3x1030xbf16>) -> tensor<3x1030xbf16> rows [3, 1030] over [1] inplace [[]] {
  %m = weft.reduce max %x dims [1] {keep_dims} : tensor<3x1030xbf16>
  %d = weft.sub %x, %m : tensor<3x1030xbf16>, tensor<3x1xbf16>
  %e = weft.abs %d : tensor<3x1030xbf16>
  %s = weft.reduce sum %e dims [1] {keep_dims} : tensor<3x1030xbf16>
  %y = weft.div %e, %s : tensor<3x1030xbf16>, tensor<3x1xbf16>
  weft.yield %y : tensor<3x1030xbf16>
}
weft.kernel @k_norm_vocab(%x: tensor<2x50257xf32>) -> (tensor<2x50257xf32>, tensor<2xf32>) rows [2, 50257] over [1] inplace [[], []] {
  %m = weft.reduce max %x dims [1] {keep_dims} : tensor<2x50257xf32>
  %d = weft.sub %x, %m : tensor<2x50257xf32>, tensor<2x1xf32>
  %e = weft.abs %d : tensor<2x50257xf32>
  %s = weft.reduce sum %e dims [1] {keep_dims} : tensor<2x50257xf32>
  %y = weft.div %e, %s : tensor<2x50257xf32>, tensor<2x1xf32>
  %t = weft.reshape %s : tensor<2x1xf32> to tensor<2xf32>
  %u = weft.sqrt %t : tensor<2xf32>
  weft.yield %y, %u : tensor<2x50257xf32>, tensor<2xf32>
}
weft.kernel @k_flat_f16(%x: tensor<7x143xf16>, %y: tensor<143xf16>) -> tensor<7x143xf16> elementwise [7, 143] inplace [[]] {
  %z = weft.mul %x, %y : tensor<7x143xf16>, tensor<143xf16>
  %w = weft.add %z, %x : tensor<7x143xf16>, tensor<7x143xf16>
  weft.yield %w : tensor<7x143xf16>
}
weft.kernel @k_norm_f16(%x: tensor<9x250xf16>) -> tensor<9x250xf16> rows [9, 250] over [1] inplace [[]] {
  %m = weft.reduce max %x dims [1] {keep_dims} : tensor<9x250xf16>
  %d = weft.sub %x, %m : tensor<9x250xf16>, tensor<9x1xf16>
  weft.yield %d : tensor<9x250xf16>
}
weft.kernel @k_col_bf16(%x: tensor<77x46xbf16>) -> tensor<46xbf16> columns [77, 46] over [0] inplace [[]] {
  %y = weft.reduce max %x dims [0] : tensor<77x46xbf16>
  weft.yield %y : tensor<46xbf16>
}
weft.kernel @k_all(%x: tensor<100003xf32>) -> tensor<f32> rows [100003] over [0] inplace [[]] {
  %y = weft.reduce mean %x dims [0] : tensor<100003xf32>
  weft.yield %y : tensor<f32>
}
weft.kernel @k_mid(%x: tensor<9x6x10xf32>, %b: tensor<10xf32>) -> tensor<6xf32> rows [9, 6, 10] over [0, 2] inplace [[]] {
  %z = weft.mul %x, %b : tensor<9x6x10xf32>, tensor<10xf32>
  %y = weft.reduce sum %z dims [0, 2] : tensor<9x6x10xf32>
  weft.yield %y : tensor<6xf32>
}
weft.kernel @k_mid_long(%x: tensor<300x2x130xf32>, %b: tensor<130xf32>) -> (tensor<2xf32>, tensor<300x2x130xf32>) rows [300, 2, 130] over [0, 2] inplace [[], []] {
  %z = weft.mul %x, %b : tensor<300x2x130xf32>, tensor<130xf32>
  %y = weft.reduce sum %z dims [0, 2] : tensor<300x2x130xf32>
  weft.yield %y, %z : tensor<2xf32>, tensor<300x2x130xf32>
}
weft.kernel @k_col(%x: tensor<77x45xf32>) -> tensor<45xf32> columns [77, 45] over [0] inplace [[]] {
  %y = weft.reduce sum %x dims [0] : tensor<77x45xf32>
  weft.yield %y : tensor<45xf32>
}
weft.kernel @k_col_long(%x: tensor<5000x33xf32>, %y: tensor<5000x33xf32>) -> (tensor<33xf32>, tensor<33xf32>, tensor<5000x33xf32>) columns [5000, 33] over [0] inplace [[], [], []] {
  %z = weft.mul %x, %y : tensor<5000x33xf32>, tensor<5000x33xf32>
  %a = weft.reduce sum %z dims [0] : tensor<5000x33xf32>
  %b = weft.reduce max %x dims [0] : tensor<5000x33xf32>
  weft.yield %a, %b, %z : tensor<33xf32>, tensor<33xf32>, tensor<5000x33xf32>
}
weft.kernel @k_col_outer(%x: tensor<3x600x40xf32>) -> tensor<3x40xf32> columns [3, 600, 40] over [1] inplace [[]] {
  %y = weft.reduce mean %x dims [1] : tensor<3x600x40xf32>
  weft.yield %y : tensor<3x40xf32>
}
weft.kernel @k_partial(%x: tensor<9x50xf32>, %s: tensor<9x1xf32>) -> (tensor<9x50xf32>, tensor<9x1xf32>) rows [9, 50] over [1] inplace [[], []] {
  %t = weft.abs %s : tensor<9x1xf32>
  %y = weft.mul %x, %t : tensor<9x50xf32>, tensor<9x1xf32>
  weft.yield %y, %t : tensor<9x50xf32>, tensor<9x1xf32>
}
weft.kernel @k_transpose(%x: tensor<8x12xf32>, %y: tensor<12x8xf32>) -> tensor<12x8xf32> elementwise [12, 8] inplace [[]] {
  %t = weft.transpose %x [1, 0] : tensor<8x12xf32>
  %z = weft.add %t, %y : tensor<12x8xf32>, tensor<12x8xf32>
  weft.yield %z : tensor<12x8xf32>
}
weft.kernel @k_f64(%x: tensor<4x3000xf64>) -> tensor<4xf64> rows [4, 3000] over [1] inplace [[]] {
  %y = weft.reduce sum %x dims [1] : tensor<4x3000xf64>
  weft.yield %y : tensor<4xf64>
}
}
