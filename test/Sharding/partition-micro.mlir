// RUN: weft-opt %s --weft-partition | FileCheck %s --check-prefixes=CHECK,LAST,AGAIN
// RUN: weft-opt %s --weft-partition=reshard=false | FileCheck %s --check-prefixes=CHECK,LAST,ONCE
// RUN: weft-opt %s --weft-partition=sync=each | FileCheck %s --check-prefixes=CHECK,EACH
// RUN: weft-opt %s --weft-partition=accumulates=false | FileCheck %s --check-prefixes=CHECK,EACH
// RUN: not weft-opt %s --weft-partition=sync=never 2>&1 | FileCheck %s --check-prefix=NEVER
// NEVER: for the --sync option: Cannot find option named 'never'!

// Which micro-steps gather parameters, and which reduce gradients: two ranks, a
// parameter and its gradient in halves.

dist.mesh @mesh("dp" = 2)
weft.param @w.flat : tensor<16xf32> {dist.layout = #dist.layout<sharded on "dp">,
    segments = [#weft.segment<@w [3, 4] at 0 to 12>]}
// CHECK: weft.state @w.flat.grad : tensor<8xf32> {{.*}}kind = #weft.state_kind<gradient>{{.*}}slices = 2
// LAST-NEXT: weft.state @w.flat.grad.sum : tensor<16xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<accumulator>, param = @w.flat, segments = [#weft.segment<@w [3, 4] at 0 to 12>], slot = "grad.sum"}
// EACH-NOT: accumulator
weft.state @w.flat.grad : tensor<16xf32> {dist.layout = #dist.layout<sharded on "dp">, kind = #weft.state_kind<gradient>, param = @w.flat, slot = "grad",
    segments = [#weft.segment<@w [3, 4] at 0 to 12>]}

// The only micro-step of a step, or the last one: its sum is reduced.
// CHECK-LABEL: weft.program @micro(
// LAST: %[[OLD:.*]] = weft.read @w.flat.grad.sum : tensor<16xf32>
// LAST: dist.all_gather
// LAST: %[[SUM:.*]] = weft.accumulate %[[OLD]]
// LAST: %[[MEAN:.*]] = dist.reduce_scatter %[[SUM]] on @mesh
// LAST: weft.return {{.*}} writes @w.flat.grad = %[[MEAN]] : tensor<8xf32>, @w.flat.grad.sum = %[[SUM]] : tensor<16xf32>
// Each of them: its mean is added to the mean of the earlier ones.
// EACH: %[[OLD:.*]] = weft.read @w.flat.grad : tensor<8xf32>
// EACH: %[[MEAN:.*]] = dist.reduce_scatter
// EACH: %[[ALL:.*]] = weft.accumulate %[[OLD]], %[[MEAN]]
// EACH: weft.return {{.*}} writes @w.flat.grad = %[[ALL]] : tensor<8xf32>
// EACH-NOT: weft.program @micro

// Those before the last one keep their sum, and tell nobody.
// LAST-LABEL: weft.program @micro_keep(
// LAST: weft.read @w.flat.grad.sum
// LAST: dist.all_gather
// LAST: %[[KEPT:.*]] = weft.accumulate
// LAST-NOT: dist.reduce_scatter
// LAST: weft.return {{.*}} writes @w.flat.grad.sum = %[[KEPT]] : tensor<16xf32>
// AGAIN-NOT: weft.program @micro

// Behind the first one nobody gathers.
// ONCE-LABEL: weft.program @micro_later_keep(
// ONCE-NOT: dist.
// ONCE: weft.return {{.*}} writes @w.flat.grad.sum
// ONCE-LABEL: weft.program @micro_later(
// ONCE-NOT: dist.all_gather
// ONCE: dist.reduce_scatter
// ONCE: weft.return {{.*}} writes @w.flat.grad =
weft.program @micro(%x: tensor<2x3xf32> {weft.input = "x"}, %add: tensor<f32> {weft.input = "accumulate"}) -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %old = weft.read @w.flat.grad : tensor<16xf32>
  %f = weft.read @w.flat : tensor<16xf32>
  %p = weft.slice %f offsets [0] sizes [12] strides [1] : tensor<16xf32>
  %w = weft.reshape %p : tensor<12xf32> to tensor<3x4xf32>
  %y = weft.matmul %x, %w : tensor<2x3xf32>, tensor<3x4xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<2x4xf32>
  %g = weft.mul %f, %f : tensor<16xf32>, tensor<16xf32>
  %sum = weft.accumulate %old, %g, %add : tensor<16xf32>
  weft.return %loss : tensor<f32> writes @w.flat.grad = %sum : tensor<16xf32>
}

// The update has the mean.
// CHECK-LABEL: weft.program @apply
// CHECK-NOT: dist.reduce_scatter
// CHECK: weft.read @w.flat.grad : tensor<8xf32>
weft.program @apply(%lr: tensor<f64> {weft.input = "lr"}, %wd: tensor<f64> {weft.input = "weight_decay"},
    %c: tensor<f32> {weft.input = "c"}, %bad: tensor<i1> {weft.input = "bad"}, %s: tensor<i64> {weft.input = "s"}, %mu: tensor<f64> {weft.input = "momentum"}, %m: tensor<16xf32> {weft.input = "m"}) attributes {kind = #weft.kind<apply>} {
  %w = weft.read @w.flat : tensor<16xf32>
  %g = weft.read @w.flat.grad : tensor<16xf32>
  %w1, %m1 = weft.sgd(%w, %m, %g, %c, %bad, %s, %lr, %wd, %mu) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<16xf32>, tensor<16xf32>)
  weft.return writes @w.flat = %w1 : tensor<16xf32>
}
