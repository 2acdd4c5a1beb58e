// RUN: weft-opt %s --weft-partition | FileCheck %s
// RUN: weft-opt %s --weft-partition -o %t.mlir
// RUN: weft-interp --compare %s %t.mlir --mode=f32 --tolerance=0 | FileCheck %s --check-prefix=SAME
// SAME: init: 0 of {{[0-9]+}} tensors differ

// A rank draws initial values of its own slices alone, whatever parameters lie in
// them: normal and uniform numbers, constants, and zeros in the gap.

// CHECK: dist.mesh
dist.mesh @mesh("replica" = 2, "shard" = 3)
weft.param @w.flat : tensor<24xf32> {dist.layout = #dist.layout<sharded on "shard">,
    segments = [#weft.segment<@a [2, 3] at 0 to 6>, #weft.segment<@b [4] at 8 to 12>, #weft.segment<@c [5] at 12 to 17>]}
weft.state @w.flat.m : tensor<24xf32> {dist.layout = #dist.layout<sharded on "shard">, kind = #weft.state_kind<optimizer>, param = @w.flat, slot = "m",
    segments = [#weft.segment<@a [2, 3] at 0 to 6>, #weft.segment<@b [4] at 8 to 12>, #weft.segment<@c [5] at 12 to 17>]}
weft.state @w.flat.f16 : tensor<24xf16> {dist.layout = #dist.layout<sharded on "shard">, kind = #weft.state_kind<working>, param = @w.flat, slot = "f16",
    segments = [#weft.segment<@a [2, 3] at 0 to 6>, #weft.segment<@b [4] at 8 to 12>, #weft.segment<@c [5] at 12 to 17>]}
weft.param @v.flat : tensor<6xf32> {dist.layout = #dist.layout<sharded on "shard">, segments = [#weft.segment<@v [6] at 0 to 6>]}

// CHECK-LABEL: weft.program @init
// CHECK: %[[R:.*]] = dist.rank on @mesh["shard"] : tensor<i64>
// CHECK: %[[W:.*]] = weft.random_slice %{{.*}}, %[[R]] [#weft.draw<"a", <normal, 0.000000e+00, 2.000000e-02>, at 0 to 6>, #weft.draw<"", <constant, 1.000000e+00>, at 8 to 12>, #weft.draw<"c", <uniform, -5.000000e-01, 5.000000e-01>, at 12 to 17>] : tensor<8xf32>
// CHECK-DAG: %[[ZERO:.*]] = weft.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK-DAG: %[[LOW:.*]] = weft.cast %[[W]] : tensor<8xf32> to tensor<8xf16>
// Values that are not drawn for each parameter are computed in full.
// CHECK: %[[OWN:.*]] = dist.own_slice
// CHECK: weft.return writes @w.flat = %[[W]] : tensor<8xf32>, @w.flat.m = %[[ZERO]] : tensor<8xf32>, @w.flat.f16 = %[[LOW]] : tensor<8xf16>, @v.flat = %[[OWN]] : tensor<2xf32>
weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
  %a = weft.random_normal %seed {key = "a", mean = 0.0 : f64, std = 0.02 : f64} : tensor<2x3xf32>
  %a1 = weft.reshape %a : tensor<2x3xf32> to tensor<6xf32>
  %gap = weft.constant dense<0.0> : tensor<2xf32>
  %b = weft.constant dense<1.0> : tensor<4xf32>
  %c = weft.random_uniform %seed {key = "c", low = -0.5 : f64, high = 0.5 : f64} : tensor<5xf32>
  %end = weft.constant dense<0.0> : tensor<7xf32>
  %w = weft.concat %a1, %gap, %b, %c, %end {dim = 0 : i64} : tensor<6xf32>, tensor<2xf32>, tensor<4xf32>, tensor<5xf32>, tensor<7xf32>
  %m = weft.constant dense<0.0> : tensor<24xf32>
  %l = weft.cast %w : tensor<24xf32> to tensor<24xf16>
  %d = weft.random_normal %seed {key = "v", mean = 0.0 : f64, std = 1.0 : f64} : tensor<6xf32>
  %v = weft.abs %d : tensor<6xf32>
  weft.return writes @w.flat = %w : tensor<24xf32>, @w.flat.m = %m : tensor<24xf32>, @w.flat.f16 = %l : tensor<24xf16>, @v.flat = %v : tensor<6xf32>
}
