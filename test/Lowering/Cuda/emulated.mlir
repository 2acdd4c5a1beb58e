// RUN: rm -rf %t && %python %S/Inputs/emulate.py %s %t | FileCheck %s
// Kernels for a device, run on this machine: as the CPU's, and with the same bits
// for wide and for single accesses.

// CHECK-COUNT-21: {{^k_.*: equal$}}
// CHECK-NOT: {{.}}
module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.kernel @k_flat_odd(%x: tensor<7x143xf32>, %y: tensor<7x143xf32>) -> tensor<7x143xf32> {
  %z = weft.mul %x, %y : tensor<7x143xf32>, tensor<7x143xf32>
  weft.yield %z : tensor<7x143xf32>
}
weft.kernel @k_flat3(%x: tensor<3xf32>) -> tensor<3xf32> {
  %z = weft.neg %x : tensor<3xf32>
  weft.yield %z : tensor<3xf32>
}
weft.kernel @k_bias_odd(%x: tensor<13x31xf32>, %b: tensor<31xf32>) -> tensor<13x31xf32> {
  %z = weft.add %x, %b : tensor<13x31xf32>, tensor<31xf32>
  weft.yield %z : tensor<13x31xf32>
}
weft.kernel @k_bias_odd_low(%x: tensor<13x30xbf16>, %b: tensor<30xbf16>) -> tensor<13x30xbf16> {
  %z = weft.add %x, %b : tensor<13x30xbf16>, tensor<30xbf16>
  weft.yield %z : tensor<13x30xbf16>
}
weft.kernel @k_cmp(%x: tensor<1000xf32>, %y: tensor<1000xf32>) -> (tensor<1000xi1>, tensor<1000xf32>) {
  %z = weft.compare lt %x, %y : tensor<1000xf32>, tensor<1000xf32>
  %w = weft.select %z, %x, %y : tensor<1000xi1>, tensor<1000xf32>, tensor<1000xf32>
  weft.yield %z, %w : tensor<1000xi1>, tensor<1000xf32>
}
weft.kernel @k_sum1000(%x: tensor<5x1000xf32>) -> tensor<5xf32> {
  %y = weft.reduce sum %x dims [1] : tensor<5x1000xf32>
  weft.yield %y : tensor<5xf32>
}
weft.kernel @k_sum999(%x: tensor<5x999xf32>) -> tensor<5xf32> {
  %y = weft.reduce sum %x dims [1] : tensor<5x999xf32>
  weft.yield %y : tensor<5xf32>
}
weft.kernel @k_sum5(%x: tensor<50x5xf32>) -> tensor<50xf32> {
  %y = weft.reduce sum %x dims [1] : tensor<50x5xf32>
  weft.yield %y : tensor<50xf32>
}
weft.kernel @k_max2(%x: tensor<50x2xf32>) -> tensor<50xf32> {
  %y = weft.reduce max %x dims [1] : tensor<50x2xf32>
  weft.yield %y : tensor<50xf32>
}
weft.kernel @k_norm5003(%x: tensor<3x5003xf32>) -> tensor<3x5003xf32> {
  %m = weft.reduce max %x dims [1] {keep_dims} : tensor<3x5003xf32>
  %d = weft.sub %x, %m : tensor<3x5003xf32>, tensor<3x1xf32>
  %e = weft.abs %d : tensor<3x5003xf32>
  %s = weft.reduce sum %e dims [1] {keep_dims} : tensor<3x5003xf32>
  %y = weft.div %e, %s : tensor<3x5003xf32>, tensor<3x1xf32>
  weft.yield %y : tensor<3x5003xf32>
}
weft.kernel @k_norm1030(%x: tensor<3x1030xbf16>) -> tensor<3x1030xbf16> {
  %m = weft.reduce max %x dims [1] {keep_dims} : tensor<3x1030xbf16>
  %d = weft.sub %x, %m : tensor<3x1030xbf16>, tensor<3x1xbf16>
  %e = weft.abs %d : tensor<3x1030xbf16>
  %s = weft.reduce sum %e dims [1] {keep_dims} : tensor<3x1030xbf16>
  %y = weft.div %e, %s : tensor<3x1030xbf16>, tensor<3x1xbf16>
  weft.yield %y : tensor<3x1030xbf16>
}
weft.kernel @k_norm_vocab(%x: tensor<2x50257xf32>) -> (tensor<2x50257xf32>, tensor<2xf32>) {
  %m = weft.reduce max %x dims [1] {keep_dims} : tensor<2x50257xf32>
  %d = weft.sub %x, %m : tensor<2x50257xf32>, tensor<2x1xf32>
  %e = weft.abs %d : tensor<2x50257xf32>
  %s = weft.reduce sum %e dims [1] {keep_dims} : tensor<2x50257xf32>
  %y = weft.div %e, %s : tensor<2x50257xf32>, tensor<2x1xf32>
  %t = weft.reshape %s : tensor<2x1xf32> to tensor<2xf32>
  %u = weft.sqrt %t : tensor<2xf32>
  weft.yield %y, %u : tensor<2x50257xf32>, tensor<2xf32>
}
weft.kernel @k_all(%x: tensor<100003xf32>) -> tensor<f32> {
  %y = weft.reduce mean %x dims [0] : tensor<100003xf32>
  weft.yield %y : tensor<f32>
}
weft.kernel @k_mid(%x: tensor<6x9x10xf32>, %b: tensor<10xf32>) -> tensor<6xf32> {
  %z = weft.mul %x, %b : tensor<6x9x10xf32>, tensor<10xf32>
  %y = weft.reduce sum %z dims [1, 2] : tensor<6x9x10xf32>
  weft.yield %y : tensor<6xf32>
}
weft.kernel @k_mid_long(%x: tensor<2x300x130xf32>, %b: tensor<130xf32>) -> (tensor<2xf32>, tensor<2x300x130xf32>) {
  %z = weft.mul %x, %b : tensor<2x300x130xf32>, tensor<130xf32>
  %y = weft.reduce sum %z dims [1, 2] : tensor<2x300x130xf32>
  weft.yield %y, %z : tensor<2xf32>, tensor<2x300x130xf32>
}
weft.kernel @k_col(%x: tensor<77x45xf32>) -> tensor<45xf32> {
  %y = weft.reduce sum %x dims [0] : tensor<77x45xf32>
  weft.yield %y : tensor<45xf32>
}
weft.kernel @k_col_long(%x: tensor<5000x33xf32>, %y: tensor<5000x33xf32>) -> (tensor<33xf32>, tensor<33xf32>, tensor<5000x33xf32>) {
  %z = weft.mul %x, %y : tensor<5000x33xf32>, tensor<5000x33xf32>
  %a = weft.reduce sum %z dims [0] : tensor<5000x33xf32>
  %b = weft.reduce max %x dims [0] : tensor<5000x33xf32>
  weft.yield %a, %b, %z : tensor<33xf32>, tensor<33xf32>, tensor<5000x33xf32>
}
weft.kernel @k_col_outer(%x: tensor<3x600x40xf32>) -> tensor<3x40xf32> {
  %y = weft.reduce mean %x dims [1] : tensor<3x600x40xf32>
  weft.yield %y : tensor<3x40xf32>
}
weft.kernel @k_partial(%x: tensor<9x50xf32>, %s: tensor<9x1xf32>) -> (tensor<9x50xf32>, tensor<9x1xf32>) {
  %t = weft.abs %s : tensor<9x1xf32>
  %y = weft.mul %x, %t : tensor<9x50xf32>, tensor<9x1xf32>
  weft.yield %y, %t : tensor<9x50xf32>, tensor<9x1xf32>
}
weft.kernel @k_transpose(%x: tensor<8x12xf32>, %y: tensor<12x8xf32>) -> tensor<12x8xf32> {
  %t = weft.transpose %x [1, 0] : tensor<8x12xf32>
  %z = weft.add %t, %y : tensor<12x8xf32>, tensor<12x8xf32>
  weft.yield %z : tensor<12x8xf32>
}
weft.kernel @k_f64(%x: tensor<4x3000xf64>) -> tensor<4xf64> {
  %y = weft.reduce sum %x dims [1] : tensor<4x3000xf64>
  weft.yield %y : tensor<4xf64>
}
}
