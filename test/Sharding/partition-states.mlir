// RUN: weft-opt %s --weft-partition | FileCheck %s --check-prefixes=CHECK,AGAIN
// RUN: weft-opt %s --weft-partition=reshard=false | FileCheck %s --check-prefixes=CHECK,ONCE
// RUN: weft-opt %s --weft-partition="reshard=false accumulates=false" | FileCheck %s --check-prefix=ALONE
// ALONE-NOT: gathered
// ALONE-NOT: micro_later

// Two ranks that hold halves of a parameter, its moment and a low copy of it; a
// program that wants another low copy whole makes it of them.

dist.mesh @mesh("dp" = 2)
// CHECK: weft.param @w.flat : tensor<8xf32> {{.*}}slices = 2
weft.param @w.flat : tensor<16xf32> {dist.layout = #dist.layout<sharded on "dp">,
    segments = [#weft.segment<@w [3, 4] at 0 to 12>]}
// CHECK: weft.state @w.flat.grad : tensor<16xf32>
weft.state @w.flat.grad : tensor<16xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @w.flat, slot = "grad",
    segments = [#weft.segment<@w [3, 4] at 0 to 12>]}
// CHECK: weft.state @w.flat.momentum_buffer : tensor<8xf32> {{.*}}slices = 2
weft.state @w.flat.momentum_buffer : tensor<16xf32> {dist.layout = #dist.layout<sharded on "dp">, kind = #weft.state_kind<optimizer>, param = @w.flat, slot = "momentum_buffer",
    segments = [#weft.segment<@w [3, 4] at 0 to 12>]}
// CHECK: weft.state @w.flat.f16 : tensor<8xf16> {{.*}}slices = 2
weft.state @w.flat.f16 : tensor<16xf16> {dist.layout = #dist.layout<sharded on "dp">, kind = #weft.state_kind<working>, param = @w.flat, slot = "f16",
    segments = [#weft.segment<@w [3, 4] at 0 to 12>]}
// ONCE: weft.state @w.flat.f16.gathered : tensor<16xf16> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<working>, param = @w.flat, {{.*}}slot = "f16.gathered"}
// AGAIN-NOT: gathered
// CHECK-NOT: @w.flat.bf16
weft.state @w.flat.bf16 : tensor<16xbf16> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<working>, param = @w.flat, slot = "bf16",
    segments = [#weft.segment<@w [3, 4] at 0 to 12>]}

// Zeros are made as long as they have to be.
// CHECK-LABEL: weft.program @init
// CHECK: %[[R:.*]] = dist.rank on @mesh : tensor<i64>
// CHECK: %[[OWN:.*]] = weft.random_slice %{{.*}}, %[[R]] [{{.*}}] : tensor<8xf32>
// CHECK: %[[ZERO:.*]] = weft.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK: weft.return writes @w.flat = %[[OWN]] : tensor<8xf32>, @w.flat.momentum_buffer = %[[ZERO]]
weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
  %r = weft.random_normal %seed {key = "w", mean = 0.0 : f64, std = 0.02 : f64} : tensor<16xf32>
  %z = weft.constant dense<0.0> : tensor<16xf32>
  weft.return writes @w.flat = %r : tensor<16xf32>, @w.flat.momentum_buffer = %z : tensor<16xf32>
}

// The ranks gather before the forward pass. There is one unit, the last one: it stays for
// the backward pass (partition-last-unit.mlir has others).
// CHECK-LABEL: weft.program @micro
// CHECK: %[[S:.*]] = weft.read @w.flat.f16 : tensor<8xf16>
// CHECK-NOT: weft.slice
// CHECK: %[[F:.*]] = dist.all_gather %[[S]] on @mesh {weft.scope = "fc"} : tensor<8xf16> to tensor<16xf16>
// CHECK-NEXT: weft.slice %[[F]]
// CHECK-NEXT: %[[W:.*]] = weft.reshape
// CHECK-NEXT: weft.matmul %{{.*}}, %[[W]]
// CHECK-NOT: dist.all_gather
// CHECK: weft.mul %[[W]]
// ONCE: weft.return {{.*}} writes @w.flat.grad = %{{.*}}, @w.flat.f16.gathered = %[[F]] : tensor<16xf16>

// Later micro-steps read what the first one of the step has gathered.
// AGAIN-NOT: micro_later
// ONCE-LABEL: weft.program @micro_later
// ONCE-NOT: dist.all_gather
// ONCE: %[[K:.*]] = weft.read @w.flat.f16.gathered : tensor<16xf16>
// ONCE-NEXT: weft.slice %[[K]]
// ONCE-NOT: gathered
// ONCE-LABEL: weft.program @apply
weft.program @micro(%x: tensor<2x3xf16> {weft.input = "x"}) -> (tensor<f16> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %f = weft.read @w.flat.f16 : tensor<16xf16>
  %p = weft.slice %f offsets [0] sizes [12] strides [1] : tensor<16xf16>
  %w = weft.reshape %p : tensor<12xf16> to tensor<3x4xf16>
  %y = weft.matmul %x, %w {weft.scope = "fc"} : tensor<2x3xf16>, tensor<3x4xf16>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<2x4xf16>
  %g = weft.mul %w, %w : tensor<3x4xf16>, tensor<3x4xf16>
  %g1 = weft.reshape %g : tensor<3x4xf16> to tensor<12xf16>
  %g2 = weft.cast %g1 : tensor<12xf16> to tensor<12xf32>
  %gap = weft.constant dense<0.0> : tensor<4xf32>
  %g3 = weft.concat %g2, %gap {dim = 0 : i64} : tensor<12xf32>, tensor<4xf32>
  weft.return %loss : tensor<f16> writes @w.flat.grad = %g3 : tensor<16xf32>
}

// The update is of slices; nobody writes the copy that is made where it is used.
// AGAIN-LABEL: weft.program @apply
// CHECK: %[[G:.*]] = dist.reduce_scatter
// CHECK-NOT: dist.all_gather
// CHECK: %[[NEW:.*]], %[[M:.*]] = weft.sgd({{.*}}) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, {{.*}}) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK: %[[LOW:.*]] = weft.cast %[[NEW]] : tensor<8xf32> to tensor<8xf16>
// CHECK: weft.return writes @w.flat = %[[NEW]] : tensor<8xf32>, @w.flat.momentum_buffer = %[[M]] : tensor<8xf32>, @w.flat.f16 = %[[LOW]] : tensor<8xf16>
weft.program @apply(%lr: tensor<f64> {weft.input = "lr"}, %wd: tensor<f64> {weft.input = "weight_decay"}, %mu: tensor<f64> {weft.input = "momentum"},
    %c: tensor<f32> {weft.input = "c"}, %bad: tensor<i1> {weft.input = "bad"}, %s: tensor<i64> {weft.input = "s"}) attributes {kind = #weft.kind<apply>} {
  %w = weft.read @w.flat : tensor<16xf32>
  %m = weft.read @w.flat.momentum_buffer : tensor<16xf32>
  %g = weft.read @w.flat.grad : tensor<16xf32>
  %w1, %m1 = weft.sgd(%w, %m, %g, %c, %bad, %s, %lr, %wd, %mu) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<16xf32>, tensor<16xf32>)
  %l = weft.cast %w1 : tensor<16xf32> to tensor<16xf16>
  %b = weft.cast %w1 : tensor<16xf32> to tensor<16xbf16>
  weft.return writes @w.flat = %w1 : tensor<16xf32>, @w.flat.momentum_buffer = %m1 : tensor<16xf32>, @w.flat.f16 = %l : tensor<16xf16>, @w.flat.bf16 = %b : tensor<16xbf16>
}

// CHECK-LABEL: weft.program @eval
// CHECK: %[[MINE:.*]] = weft.read @w.flat : tensor<8xf32>
// CHECK-NEXT: %[[ROUNDED:.*]] = weft.cast %[[MINE]] : tensor<8xf32> to tensor<8xbf16>
// CHECK: dist.all_gather %[[ROUNDED]] on @mesh : tensor<8xbf16> to tensor<16xbf16>
// CHECK-NOT: gathered
weft.program @eval() -> (tensor<bf16> {weft.output = "loss"}) attributes {kind = #weft.kind<eval>} {
  %w = weft.read @w.flat.bf16 : tensor<16xbf16>
  %loss = weft.reduce sum %w dims [0] : tensor<16xbf16>
  weft.return %loss : tensor<bf16>
}

// A program that only wrote such copies is gone.
// CHECK-NOT: weft.program @refresh
weft.program @refresh() attributes {kind = #weft.kind<refresh>} {
  %w = weft.read @w.flat : tensor<16xf32>
  %b = weft.cast %w : tensor<16xf32> to tensor<16xbf16>
  weft.return writes @w.flat.bf16 = %b : tensor<16xbf16>
}
