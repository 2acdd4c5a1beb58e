// REQUIRES: full
// RUN: rm -rf %t && mkdir %t
// RUN: weft-opt %s --weft-split-sums -o %t/split.mlir
// RUN: FileCheck %s --check-prefix=SPLIT --input-file=%t/split.mlir
// RUN: weft-interp --compare %s %t/split.mlir --tolerance=1e-5 | FileCheck %s --check-prefix=INTERP
// RUN: %python %S/Inputs/emulate.py %t/split.mlir %t/run 1 | FileCheck %s
// Reductions in two stages: as the interpreter's in one, and each stage to the bit
// for wide and single accesses. No size is a multiple of a chunk, a warp or a tile.

// SPLIT: weft.reduce sum %{{.*}} dims [1] : tensor<6x256x67xf32>
// SPLIT: weft.reduce sum %{{.*}} dims [2] : tensor<4x3x257x45xf32>
// SPLIT: weft.reduce sum %{{.*}} dims [3] : tensor<3x5x7x1031xf32>
// SPLIT: weft.reduce max %{{.*}} dims [1] : tensor<9x259x33xf32>
// SPLIT: weft.reduce sum %{{.*}} dims [1] : tensor<6x263x67xf32>
// SPLIT: weft.reduce sum %{{.*}} dims [0] : tensor<5x67xf32>
// SPLIT: weft.reduce sum %{{.*}} dims [1] : tensor<64x1024xf32>
// INTERP-COUNT-6: {{^(columns|product|everything|largest|uneven|mean): 0 of [12] tensors differ}}
// CHECK-COUNT-13: {{^k_.*: equal$}}
// CHECK-NEXT: {{^[0-9]+ results of 13 kernels as the interpreter computes them$}}
// CHECK-NOT: {{.}}
module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.program @columns(%x: tensor<1536x67xf32> {weft.input = "x"}) -> (tensor<67xf32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.reduce sum %x dims [0] : tensor<1536x67xf32>
  weft.return %s : tensor<67xf32>
}
weft.program @product(%x: tensor<4x771x45xbf16> {weft.input = "x"}, %y: tensor<4x771x45xbf16> {weft.input = "y"})
    -> (tensor<4x771x45xbf16> {weft.output = "p"}, tensor<45xbf16> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %p = weft.mul %x, %y : tensor<4x771x45xbf16>, tensor<4x771x45xbf16>
  %s = weft.reduce sum %p dims [0, 1] : tensor<4x771x45xbf16>
  weft.return %p, %s : tensor<4x771x45xbf16>, tensor<45xbf16>
}
weft.program @everything(%x: tensor<3x5x7217xf32> {weft.input = "x"}) -> (tensor<f32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.reduce sum %x dims [0, 1, 2] : tensor<3x5x7217xf32>
  weft.return %s : tensor<f32>
}
weft.program @largest(%x: tensor<2331x33xf16> {weft.input = "x"}) -> (tensor<33xf16> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.reduce max %x dims [0] : tensor<2331x33xf16>
  weft.return %s : tensor<33xf16>
}
weft.program @uneven(%x: tensor<1583x67xf16> {weft.input = "x"}) -> (tensor<67xf16> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.reduce sum %x dims [0] : tensor<1583x67xf16>
  weft.return %s : tensor<67xf16>
}
weft.program @mean(%x: tensor<65543xf32> {weft.input = "x"}) -> (tensor<f32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.reduce mean %x dims [0] : tensor<65543xf32>
  weft.return %s : tensor<f32>
}
}
