// REQUIRES: full
// RUN: rm -rf %t && %python %S/Inputs/emulate.py %s %t 1 | FileCheck %s
// Sums over rows in kernels of rows, for rows of a warp and of a block: groups
// that the warps of a block do not divide, rows that no chunk divides, and
// groups of several dimensions.

// CHECK-COUNT-5: {{^k_.*: equal$}}
// CHECK-NEXT: {{^13 results of 5 kernels as the interpreter computes them$}}
// CHECK-NOT: {{.}}
module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.kernel @k_warp(%x: tensor<52x143xf16>, %w: tensor<143xf32>) -> (tensor<52x143xf32>, tensor<4x143xf32>, tensor<4x143xf32>) rows [4, 13, 143] over [2] sums [1] inplace [[], [], []] {
  %c = weft.cast %x : tensor<52x143xf16> to tensor<52x143xf32>
  %m = weft.reduce mean %c dims [1] {keep_dims} : tensor<52x143xf32>
  %d = weft.sub %c, %m : tensor<52x143xf32>, tensor<52x1xf32>
  %p = weft.mul %d, %w : tensor<52x143xf32>, tensor<143xf32>
  %g = weft.reshape %p : tensor<52x143xf32> to tensor<4x13x143xf32>
  %s = weft.reduce sum %g dims [1] : tensor<4x13x143xf32>
  %h = weft.reshape %x : tensor<52x143xf16> to tensor<4x13x143xf16>
  %i = weft.cast %h : tensor<4x13x143xf16> to tensor<4x13x143xf32>
  %t = weft.reduce sum %i dims [1] : tensor<4x13x143xf32>
  weft.yield %p, %s, %t : tensor<52x143xf32>, tensor<4x143xf32>, tensor<4x143xf32>
}
weft.kernel @k_few(%x: tensor<6x36xf32>) -> (tensor<6x36xf32>, tensor<6x1xf32>, tensor<2x36xf32>) rows [2, 3, 36] over [2] sums [1] inplace [[0], [], []] {
  %m = weft.reduce max %x dims [1] {keep_dims} : tensor<6x36xf32>
  %d = weft.sub %x, %m : tensor<6x36xf32>, tensor<6x1xf32>
  %g = weft.reshape %d : tensor<6x36xf32> to tensor<2x3x36xf32>
  %s = weft.reduce sum %g dims [1] : tensor<2x3x36xf32>
  weft.yield %d, %m, %s : tensor<6x36xf32>, tensor<6x1xf32>, tensor<2x36xf32>
}
// The rows of the batch and of positions are not one dimension.
weft.kernel @k_positions(%x: tensor<2x2x4x1000xbf16>, %p: tensor<4x1000xf32>) -> (tensor<2x2x4x1000xf32>, tensor<2x1000xf32>) rows [2, 2, 4, 1000] over [3] sums [1, 2] inplace [[], []] {
  %c = weft.cast %x : tensor<2x2x4x1000xbf16> to tensor<2x2x4x1000xf32>
  %a = weft.add %c, %p : tensor<2x2x4x1000xf32>, tensor<4x1000xf32>
  %m = weft.reduce mean %a dims [3] {keep_dims} : tensor<2x2x4x1000xf32>
  %d = weft.mul %a, %m : tensor<2x2x4x1000xf32>, tensor<2x2x4x1xf32>
  %s = weft.reduce sum %d dims [1, 2] : tensor<2x2x4x1000xf32>
  weft.yield %d, %s : tensor<2x2x4x1000xf32>, tensor<2x1000xf32>
}
weft.kernel @k_block(%x: tensor<6x1430xf16>, %w: tensor<1430xf32>) -> (tensor<6x1430xf16>, tensor<2x1430xf32>, tensor<2x1430xf32>) rows [2, 3, 1430] over [2] sums [1] inplace [[0], [], []] {
  %c = weft.cast %x : tensor<6x1430xf16> to tensor<6x1430xf32>
  %m = weft.reduce mean %c dims [1] {keep_dims} : tensor<6x1430xf32>
  %d = weft.sub %c, %m : tensor<6x1430xf32>, tensor<6x1xf32>
  %p = weft.mul %d, %w : tensor<6x1430xf32>, tensor<1430xf32>
  %y = weft.cast %p : tensor<6x1430xf32> to tensor<6x1430xf16>
  %g = weft.reshape %p : tensor<6x1430xf32> to tensor<2x3x1430xf32>
  %s = weft.reduce sum %g dims [1] : tensor<2x3x1430xf32>
  %h = weft.reshape %d : tensor<6x1430xf32> to tensor<2x3x1430xf32>
  %t = weft.reduce sum %h dims [1] : tensor<2x3x1430xf32>
  weft.yield %y, %s, %t : tensor<6x1430xf16>, tensor<2x1430xf32>, tensor<2x1430xf32>
}
// The sum is rounded once, behind the rows.
weft.kernel @k_rounded(%x: tensor<64x260xbf16>) -> (tensor<64x260xbf16>, tensor<260xbf16>) rows [64, 260] over [1] sums [0] inplace [[0], []] {
  %m = weft.reduce max %x dims [1] {keep_dims} : tensor<64x260xbf16>
  %d = weft.sub %x, %m : tensor<64x260xbf16>, tensor<64x1xbf16>
  %s = weft.reduce sum %d dims [0] : tensor<64x260xbf16>
  weft.yield %d, %s : tensor<64x260xbf16>, tensor<260xbf16>
}
}
