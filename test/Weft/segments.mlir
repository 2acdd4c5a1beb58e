// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt %s --mlir-print-op-generic | weft-opt | FileCheck %s
// Flat states say what lies in them, and print so that it parses back.

// Gaps before, between and behind segments; a scalar; another name in weight files.
// CHECK: weft.param @flat : tensor<64xf32> {segments = [#weft.segment<@fc.weight [4, 5] at 4 to 24>, #weft.segment<@fc.bias [4] at 32 to 36 source "layers.0.bias">, #weft.segment<@scale [] at 36 to 37>]}
weft.param @flat : tensor<64xf32> {segments = [#weft.segment<@fc.weight [4, 5] at 4 to 24>, #weft.segment<@fc.bias [4] at 32 to 36 source "layers.0.bias">, #weft.segment<@scale [] at 36 to 37>]}
// CHECK: weft.state @flat.grad : tensor<64xf32> {kind = #weft.state_kind<gradient>, param = @flat, segments = [#weft.segment<@fc.weight [4, 5] at 4 to 24>, #weft.segment<@fc.bias [4] at 32 to 36>, #weft.segment<@scale [] at 36 to 37>], slot = "grad"}
weft.state @flat.grad : tensor<64xf32> {kind = #weft.state_kind<gradient>, param = @flat, slot = "grad", segments = [#weft.segment<@fc.weight [4, 5] at 4 to 24>, #weft.segment<@fc.bias [4] at 32 to 36>, #weft.segment<@scale [] at 36 to 37>], slices = 1}

// A shard of 8 elements of 32: segments count the elements of all shards, and one may lie
// in several. A parameter may be declared where only its moments are flat.
// CHECK: weft.param @w : tensor<4x5xf32>
weft.param @w : tensor<4x5xf32>
// CHECK: weft.state @shard.exp_avg : tensor<8xf32> {kind = #weft.state_kind<optimizer>, segments = [#weft.segment<@w [4, 5] at 0 to 20>], slices = 4 : i64, slot = "exp_avg"}
weft.state @shard.exp_avg : tensor<8xf32> {kind = #weft.state_kind<optimizer>, slot = "exp_avg", slices = 4, segments = [#weft.segment<@w [4, 5] at 0 to 20>]}
