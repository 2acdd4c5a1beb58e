// RUN: weft-opt %s --weft-partition="reduce-dtype=bf16 gather-dtype=f16" | FileCheck %s

// Gradients are rounded before their sum, trained parameters before they are
// gathered; values that are no wider are sent unchanged. So is a frozen
// parameter, which stages 1 and 2 replicate.

dist.mesh @mesh("dp" = 2)
weft.param @w.flat : tensor<4xf32> {dist.layout = #dist.layout<sharded on "dp">, segments = [#weft.segment<@w [4] at 0 to 4>]}
weft.param @v.flat : tensor<4xf16> {dist.layout = #dist.layout<sharded on "dp">, trainable = false, segments = [#weft.segment<@v [4] at 0 to 4>]}
weft.param @u.flat : tensor<4xf32> {dist.layout = #dist.layout<sharded on "dp">, trainable = false, segments = [#weft.segment<@u [4] at 0 to 4>]}
weft.state @w.flat.grad : tensor<4xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @w.flat, slot = "grad", segments = [#weft.segment<@w [4] at 0 to 4>]}

// CHECK-LABEL: weft.program @eval
// CHECK-DAG: %[[W:.*]] = weft.read @w.flat : tensor<2xf32>
// CHECK-DAG: %[[V:.*]] = weft.read @v.flat : tensor<2xf16>
// CHECK-DAG: %[[U:.*]] = weft.read @u.flat : tensor<2xf32>
// CHECK: %[[LOW:.*]] = weft.cast %[[W]] {weft.scope = "fc"} : tensor<2xf32> to tensor<2xf16>
// CHECK-NEXT: %[[ALL:.*]] = dist.all_gather %[[LOW]] on @mesh {weft.scope = "fc"} : tensor<2xf16> to tensor<4xf16>
// CHECK-NEXT: %[[WHOLE:.*]] = weft.cast %[[ALL]] {weft.scope = "fc"} : tensor<4xf16> to tensor<4xf32>
// CHECK-NEXT: weft.reduce sum %[[WHOLE]]
// CHECK: dist.all_gather %[[V]] on @mesh : tensor<2xf16> to tensor<4xf16>
// CHECK-NOT: weft.cast
// CHECK: dist.all_gather %[[U]] on @mesh : tensor<2xf32> to tensor<4xf32>
// CHECK-NOT: weft.cast
weft.program @eval() -> (tensor<f32> {weft.output = "loss"}, tensor<f16> {weft.output = "low"}, tensor<f32> {weft.output = "frozen"}) attributes {kind = #weft.kind<eval>} {
  %w = weft.read @w.flat : tensor<4xf32>
  %v = weft.read @v.flat : tensor<4xf16>
  %u = weft.read @u.flat : tensor<4xf32>
  %a = weft.reduce sum %w dims [0] {weft.scope = "fc"} : tensor<4xf32>
  %b = weft.reduce sum %v dims [0] : tensor<4xf16>
  %c = weft.reduce sum %u dims [0] : tensor<4xf32>
  weft.return %a, %b, %c : tensor<f32>, tensor<f16>, tensor<f32>
}

// CHECK-LABEL: weft.program @apply
// CHECK: %[[G:.*]] = weft.read @w.flat.grad : tensor<4xf32>
// CHECK-NEXT: %[[ROUNDED:.*]] = weft.cast %[[G]] : tensor<4xf32> to tensor<4xbf16>
// CHECK-NEXT: %[[SUM:.*]] = dist.reduce_scatter %[[ROUNDED]] on @mesh {{.*}} : tensor<4xbf16> to tensor<2xbf16>
// CHECK-NEXT: %[[MEAN:.*]] = weft.cast %[[SUM]] : tensor<2xbf16> to tensor<2xf32>
// CHECK: weft.norm_and_check %[[MEAN]]
weft.program @apply() -> (tensor<f64> {weft.output = "grad_norm"}) attributes {kind = #weft.kind<apply>} {
  %g = weft.read @w.flat.grad : tensor<4xf32>
  %n, %b = weft.norm_and_check %g {p = 2.0 : f64} : tensor<4xf32>
  weft.return %n : tensor<f64>
}
