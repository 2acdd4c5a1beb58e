// RUN: weft-opt %s --weft-bucket=align=16 --split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-bucket=align=1 --split-input-file | FileCheck %s --check-prefix=EXACT
// RUN: weft-opt %s --weft-bucket --split-input-file | FileCheck %s --check-prefix=DEFAULT
// Parameters of a unit, and what a step keeps of them, lie in flat states.

// A block with two weights and a bias that no step updates: the bias is alone, and
// so is the embedding. They stay as they are.

// CHECK-LABEL: module @block
// CHECK: weft.param @emb : tensor<8x4xf32> {scope = "emb"}
// CHECK: weft.param @h.0.flat : tensor<48xf32> {decay = true, scope = "h.0", segments = [#weft.segment<@h.0.fc.weight [5, 4] at 0 to 20 source "old.weight">, #weft.segment<@h.0.out.weight [3, 4] at 32 to 44>]}
// CHECK-NEXT: weft.param @h.0.fc.bias : tensor<5xf32>
// CHECK: weft.state @h.0.flat.grad : tensor<48xf32> {kind = #weft.state_kind<gradient>, param = @h.0.flat, segments = [#weft.segment<@h.0.fc.weight [5, 4] at 0 to 20>, #weft.segment<@h.0.out.weight [3, 4] at 32 to 44>], slot = "grad"}
// CHECK: weft.state @step
// CHECK: weft.state @h.0.flat.momentum_buffer : tensor<48xf32> {kind = #weft.state_kind<optimizer>, param = @h.0.flat, {{.*}}slot = "momentum_buffer"}
// CHECK: weft.state @h.0.flat.bf16 : tensor<48xbf16> {kind = #weft.state_kind<working>, param = @h.0.flat, {{.*}}slot = "bf16"}
// CHECK-NOT: weft.state

// EXACT-LABEL: module @block
// EXACT: weft.param @h.0.flat : tensor<32xf32> {{.*}}[5, 4] at 0 to 20 source "old.weight">, #weft.segment<@h.0.out.weight [3, 4] at 20 to 32>
// DEFAULT-LABEL: module @block
// DEFAULT: weft.param @h.0.flat : tensor<256xf32> {{.*}}[5, 4] at 0 to 20 source "old.weight">, #weft.segment<@h.0.out.weight [3, 4] at 128 to 140>
module @block {
  weft.param @emb : tensor<8x4xf32> {scope = "emb"}
  weft.param @h.0.fc.weight : tensor<5x4xf32> {scope = "h.0.fc", source = "old.weight"}
  weft.param @h.0.fc.bias : tensor<5xf32> {scope = "h.0.fc"}
  weft.param @h.0.out.weight : tensor<3x4xf32> {scope = "h.0.out"}
  weft.state @emb.grad : tensor<8x4xf32> {kind = #weft.state_kind<gradient>, param = @emb}
  weft.state @h.0.fc.weight.grad : tensor<5x4xf32> {kind = #weft.state_kind<gradient>, param = @h.0.fc.weight}
  weft.state @h.0.fc.bias.grad : tensor<5xf32> {kind = #weft.state_kind<gradient>, param = @h.0.fc.bias}
  weft.state @h.0.out.weight.grad : tensor<3x4xf32> {kind = #weft.state_kind<gradient>, param = @h.0.out.weight}
  weft.state @step : tensor<i64> {kind = #weft.state_kind<optimizer>}
  weft.state @h.0.fc.weight.momentum_buffer : tensor<5x4xf32> {kind = #weft.state_kind<optimizer>, param = @h.0.fc.weight}
  weft.state @h.0.out.weight.momentum_buffer : tensor<3x4xf32> {kind = #weft.state_kind<optimizer>, param = @h.0.out.weight}
  weft.state @h.0.fc.weight.bf16 : tensor<5x4xbf16> {kind = #weft.state_kind<working>, param = @h.0.fc.weight}
  weft.state @h.0.out.weight.bf16 : tensor<3x4xbf16> {kind = #weft.state_kind<working>, param = @h.0.out.weight}

  // Zeros of all parts are zeros of the whole; a constant that is a part stays
  // one, so that it is written where it belongs.
  // CHECK: weft.program @init(%[[SEED:.*]]: tensor<i64>
  // CHECK: %[[W:.*]] = weft.random_normal %[[SEED]] {key = "h.0.fc.weight"
  // CHECK: %[[FW:.*]] = weft.reshape %[[W]] : tensor<5x4xf32> to tensor<20xf32>
  // CHECK: %[[GAP:.*]] = weft.constant dense<0.000000e+00> : tensor<12xf32>
  // CHECK: %[[ONES:.*]] = weft.constant dense<1.000000e+00> : tensor<12xf32>
  // CHECK: %[[TAIL:.*]] = weft.constant dense<0.000000e+00> : tensor<4xf32>
  // CHECK: %[[ALL:.*]] = weft.concat %[[FW]], %[[GAP]], %[[ONES]], %[[TAIL]] {dim = 0 : i64}
  // CHECK: %[[ZEROS:.*]] = weft.constant dense<0.000000e+00> : tensor<48xf32>
  // CHECK: weft.return writes @emb = {{.*}}, @h.0.flat = %[[ALL]] : tensor<48xf32>, @h.0.fc.bias = {{.*}}, @step = {{.*}}, @h.0.flat.momentum_buffer = %[[ZEROS]] : tensor<48xf32>, @h.0.flat.bf16 = %{{.*}} : tensor<48xbf16>
  weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
    %e = weft.random_normal %seed {key = "emb", mean = 0.0 : f64, std = 1.0 : f64} : tensor<8x4xf32>
    %w = weft.random_normal %seed {key = "h.0.fc.weight", mean = 0.0 : f64, std = 1.0 : f64} : tensor<5x4xf32>
    %b = weft.constant dense<0.0> : tensor<5xf32>
    %v = weft.constant dense<1.0> : tensor<3x4xf32>
    %s = weft.constant dense<0> : tensor<i64>
    %wm = weft.constant dense<0.0> : tensor<5x4xf32>
    %vm = weft.constant dense<0.0> : tensor<3x4xf32>
    %wb = weft.cast %w : tensor<5x4xf32> to tensor<5x4xbf16>
    %vb = weft.cast %v : tensor<3x4xf32> to tensor<3x4xbf16>
    weft.return writes @emb = %e : tensor<8x4xf32>, @h.0.fc.weight = %w : tensor<5x4xf32>, @h.0.fc.bias = %b : tensor<5xf32>, @h.0.out.weight = %v : tensor<3x4xf32>, @step = %s : tensor<i64>, @h.0.fc.weight.momentum_buffer = %wm : tensor<5x4xf32>, @h.0.out.weight.momentum_buffer = %vm : tensor<3x4xf32>, @h.0.fc.weight.bf16 = %wb : tensor<5x4xbf16>, @h.0.out.weight.bf16 = %vb : tensor<3x4xbf16>
  }

  // A parameter is a view of the bucket, a gradient is added at its offset and
  // takes its shape there at once.
  // CHECK: weft.program @micro(
  // CHECK-DAG: %[[LOW:.*]] = weft.read @h.0.flat.bf16 : tensor<48xbf16>
  // CHECK-DAG: %[[OLD:.*]] = weft.read @h.0.flat.grad : tensor<48xf32>
  // CHECK: %[[LW:.*]] = weft.slice %[[LOW]] offsets [0] sizes [20] strides [1]
  // CHECK: %[[RW:.*]] = weft.reshape %[[LW]] : tensor<20xbf16> to tensor<5x4xbf16>
  // CHECK: %[[LV:.*]] = weft.slice %[[LOW]] offsets [32] sizes [12] strides [1]
  // CHECK: weft.reshape %[[LV]] : tensor<12xbf16> to tensor<3x4xbf16>
  // CHECK: weft.matmul %{{.*}}, %[[RW]]
  // CHECK: %[[OW:.*]] = weft.slice %[[OLD]] offsets [0] sizes [20] strides [1]
  // CHECK: %[[RO:.*]] = weft.reshape %[[OW]] : tensor<20xf32> to tensor<5x4xf32>
  // CHECK: %[[GW:.*]] = weft.accumulate %[[RO]]
  // CHECK-NEXT: %[[P0:.*]] = weft.reshape %[[GW]] : tensor<5x4xf32> to tensor<20xf32>
  // CHECK: weft.slice %[[OLD]] offsets [32] sizes [12] strides [1]
  // CHECK: %[[GV:.*]] = weft.accumulate
  // CHECK-NEXT: %[[P1:.*]] = weft.reshape %[[GV]] : tensor<3x4xf32> to tensor<12xf32>
  // CHECK: %[[GRAD:.*]] = weft.concat %[[P0]], %{{.*}}, %[[P1]], %{{.*}} {dim = 0 : i64} : tensor<20xf32>, tensor<12xf32>, tensor<12xf32>, tensor<4xf32>
  // CHECK: weft.return %{{.*}} : tensor<3x5xf32> writes @h.0.flat.grad = %[[GRAD]] : tensor<48xf32>
  // Without gaps nothing stands between the parts.
  // EXACT: weft.program @micro(
  // EXACT: weft.concat %{{.*}}, %{{.*}} {dim = 0 : i64} : tensor<20xf32>, tensor<12xf32>
  weft.program @micro(%x: tensor<3x4xbf16> {weft.input = "x"}, %g: tensor<5x4xf32> {weft.input = "g"}, %h: tensor<3x4xf32> {weft.input = "h"}, %flag: tensor<f32> {weft.input = "accumulate"})
      -> (tensor<3x5xf32> {weft.output = "y"}) attributes {kind = #weft.kind<micro>} {
    %w = weft.read @h.0.fc.weight.bf16 : tensor<5x4xbf16>
    %v = weft.read @h.0.out.weight.bf16 : tensor<3x4xbf16>
    %s = weft.add %x, %v : tensor<3x4xbf16>, tensor<3x4xbf16>
    %y = weft.matmul %s, %w {transpose_rhs} : tensor<3x4xbf16>, tensor<5x4xbf16>
    %z = weft.cast %y : tensor<3x5xbf16> to tensor<3x5xf32>
    %ow = weft.read @h.0.fc.weight.grad : tensor<5x4xf32>
    %gw = weft.accumulate %ow, %g, %flag : tensor<5x4xf32>
    %ov = weft.read @h.0.out.weight.grad : tensor<3x4xf32>
    %gv = weft.accumulate %ov, %h, %flag : tensor<3x4xf32>
    weft.return %z : tensor<3x5xf32> writes @h.0.fc.weight.grad = %gw : tensor<5x4xf32>, @h.0.out.weight.grad = %gv : tensor<3x4xf32>
  }

  // One update, which also rounds the working copy; the norm reads the parts in
  // their order.
  // CHECK: weft.program @apply(
  // CHECK: %[[NW:.*]] = weft.reshape %{{.*}} : tensor<20xf32> to tensor<5x4xf32>
  // CHECK: %[[NB:.*]] = weft.read @h.0.fc.bias.grad
  // CHECK: %[[NV:.*]] = weft.reshape %{{.*}} : tensor<12xf32> to tensor<3x4xf32>
  // CHECK: weft.norm_and_check %[[NW]], %[[NB]], %[[NV]]
  // CHECK: %[[P:.*]], %[[M:.*]], %[[R:.*]] = weft.sgd(%[[OP:.*]], %[[OM:.*]], %[[OG:.*]], %{{.*}}) {nesterov, weft.scope = "h.0"} : (tensor<48xf32>, tensor<48xf32>, tensor<48xf32>, tensor<f32>, {{.*}}) -> (tensor<48xf32>, tensor<48xf32>, tensor<48xbf16>)
  // CHECK-NOT: weft.sgd
  // CHECK: weft.return {{.*}} writes @h.0.flat = %[[P]] : tensor<48xf32>, @h.0.flat.momentum_buffer = %[[M]] : tensor<48xf32>, @h.0.flat.bf16 = %[[R]] : tensor<48xbf16>
  weft.program @apply(%lr: tensor<f64> {weft.input = "lr"}, %wd: tensor<f64> {weft.input = "weight_decay"}, %mu: tensor<f64> {weft.input = "momentum"}, %max: tensor<f64> {weft.input = "max_norm"})
      -> (tensor<f64> {weft.output = "grad_norm"}, tensor<i1> {weft.output = "found_inf"}) attributes {kind = #weft.kind<apply>} {
    %gw = weft.read @h.0.fc.weight.grad : tensor<5x4xf32>
    %gb = weft.read @h.0.fc.bias.grad : tensor<5xf32>
    %gv = weft.read @h.0.out.weight.grad : tensor<3x4xf32>
    %norm, %bad = weft.norm_and_check %gw, %gb, %gv {p = 2.0 : f64} : tensor<5x4xf32>, tensor<5xf32>, tensor<3x4xf32>
    %c = weft.clip_coefficient %norm, %max
    %s = weft.read @step : tensor<i64>
    %t = weft.step_increment %s, %bad
    %w = weft.read @h.0.fc.weight : tensor<5x4xf32>
    %wm = weft.read @h.0.fc.weight.momentum_buffer : tensor<5x4xf32>
    %w1, %wm1, %wb = weft.sgd(%w, %wm, %gw, %c, %bad, %t, %lr, %wd, %mu) {nesterov, weft.scope = "h.0.fc"} : (tensor<5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<5x4xf32>, tensor<5x4xf32>, tensor<5x4xbf16>)
    %v = weft.read @h.0.out.weight : tensor<3x4xf32>
    %vm = weft.read @h.0.out.weight.momentum_buffer : tensor<3x4xf32>
    %v1, %vm1, %vb = weft.sgd(%v, %vm, %gv, %c, %bad, %t, %lr, %wd, %mu) {nesterov, weft.scope = "h.0.out"} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xbf16>)
    weft.return %norm, %bad : tensor<f64>, tensor<i1> writes @h.0.fc.weight = %w1 : tensor<5x4xf32>, @h.0.fc.weight.momentum_buffer = %wm1 : tensor<5x4xf32>, @h.0.out.weight = %v1 : tensor<3x4xf32>, @h.0.out.weight.momentum_buffer = %vm1 : tensor<3x4xf32>, @h.0.fc.weight.bf16 = %wb : tensor<5x4xbf16>, @h.0.out.weight.bf16 = %vb : tensor<3x4xbf16>
  }

  // Copies that are made of parameters which were loaded: one cast.
  // CHECK: weft.program @refresh()
  // CHECK: %[[READ:.*]] = weft.read @h.0.flat : tensor<48xf32>
  // CHECK-NEXT: %[[CAST:.*]] = weft.cast %[[READ]] : tensor<48xf32> to tensor<48xbf16>
  // CHECK-NEXT: weft.return writes @h.0.flat.bf16 = %[[CAST]]
  weft.program @refresh() attributes {kind = #weft.kind<refresh>} {
    %w = weft.read @h.0.fc.weight : tensor<5x4xf32>
    %wb = weft.cast %w : tensor<5x4xf32> to tensor<5x4xbf16>
    %v = weft.read @h.0.out.weight : tensor<3x4xf32>
    %vb = weft.cast %v : tensor<3x4xf32> to tensor<3x4xbf16>
    weft.return writes @h.0.fc.weight.bf16 = %wb : tensor<5x4xbf16>, @h.0.out.weight.bf16 = %vb : tensor<3x4xbf16>
  }
}

// -----

// Units are the blocks, and what stands before, between and behind them.
// Element types, frozen and trainable parameters, and states with other types
// are apart.

// CHECK-LABEL: module @units
// CHECK: weft.param @wte.flat : {{.*}}[#weft.segment<@wte [4] at 0 to 4>, #weft.segment<@wpe [4] at 16 to 20>]}
// CHECK: weft.param @h.0.flat : {{.*}}[#weft.segment<@h.0.a [4] at 0 to 4>, #weft.segment<@h.0.b [4] at 16 to 20>, #weft.segment<@h.0.c [4] at 32 to 36>]}
// CHECK: weft.param @h.0.flat.1 : {{.*}}[#weft.segment<@h.0.low [4] at 0 to 4>, #weft.segment<@h.0.low2 [4] at 16 to 20>]}
// CHECK: weft.param @h.0.flat.2 : {{.*}}[#weft.segment<@h.0.frozen [4] at 0 to 4>, #weft.segment<@h.0.frozen2 [] at 16 to 17>], trainable = false}
// CHECK-NEXT: weft.param @h.1.a : tensor<4xf32>
// CHECK-NEXT: weft.param @h.1.b : tensor<4xf32>
// CHECK-NEXT: weft.param @norm.flat : {{.*}}[#weft.segment<@norm [4] at 0 to 4>, #weft.segment<@head [4] at 16 to 20>]}
// CHECK: weft.state @h.0.flat.grad : tensor<48xf32>
module @units {
  weft.param @wte : tensor<4xf32> {scope = "wte"}
  weft.param @wpe : tensor<4xf32> {scope = "wpe"}
  weft.param @h.0.a : tensor<4xf32>
  weft.param @h.0.low : tensor<4xbf16>
  weft.param @h.0.b : tensor<4xf32>
  weft.param @h.0.frozen : tensor<4xf32> {trainable = false}
  weft.param @h.0.low2 : tensor<4xbf16>
  weft.param @h.0.frozen2 : tensor<f32> {trainable = false}
  weft.param @h.1.a : tensor<4xf32> {scope = "h.1"}
  weft.param @h.1.b : tensor<4xf32> {scope = "h.1.b"}
  weft.param @norm : tensor<4xf32> {scope = "norm"}
  weft.param @head : tensor<4xf32> {scope = "head"}
  weft.param @h.0.c : tensor<4xf32>
  weft.state @h.0.a.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @h.0.a}
  weft.state @h.0.b.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @h.0.b}
  weft.state @h.0.c.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @h.0.c}
  weft.state @h.1.a.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @h.1.a}
  weft.state @h.1.b.grad : tensor<4xbf16> {kind = #weft.state_kind<gradient>, param = @h.1.b}
}

// -----

// Updates that differ in factors are one, which takes them by range of elements:
// b has a rate of its own, c a weight decay. Another momentum is separate. Parameters
// that a program does not write keep their values; other readers of an update read the
// complete flat value. A name that is taken is not taken again.

// CHECK-LABEL: module @numbers
// CHECK: weft.param @a.flat.1 : tensor<64xf32> {segments = [#weft.segment<@a [4, 1] at 0 to 4>, #weft.segment<@b [4] at 16 to 20>, #weft.segment<@c [4] at 32 to 36>, #weft.segment<@d [4] at 48 to 52>]}
// CHECK-NEXT: weft.param @e : tensor<4xf32>
// CHECK-NEXT: weft.param @h.0.x : tensor<4xf32>
// CHECK-NEXT: weft.param @a.flat.grad : tensor<4xf32>
// CHECK: weft.program @micro
// CHECK: %[[OLD:.*]] = weft.read @a.flat.1.grad : tensor<64xf32>
// CHECK: %[[KEPT:.*]] = weft.slice %[[OLD]] offsets [32] sizes [4] strides [1]
// CHECK: weft.concat %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[KEPT]], %{{.*}} {dim = 0 : i64}
// CHECK: weft.program @apply({{.*}}%[[N:.*]]: tensor<f64> {weft.input = "n"}, %[[WD:.*]]: tensor<f64> {weft.input = "wd"})
// CHECK: %[[NEW:.*]], %{{.*}} = weft.sgd({{.*}}, %[[N]], %[[WD]], %[[N]])
// CHECK-SAME: {factors = [#weft.factors<from 0>, #weft.factors<from 16, lr_scale = 2.000000e+00, decay_scale = 0.000000e+00>, #weft.factors<from 32, weight_decay = 1.000000e-01>]} : (tensor<64xf32>
// CHECK-NEXT: %[[C:.*]] = weft.slice %[[NEW]] offsets [32] sizes [4] strides [1]
// CHECK: weft.sgd({{.*}} tensor<4xf32>
// CHECK: weft.return %[[C]]
module @numbers {
  weft.param @a : tensor<4x1xf32>
  weft.param @b : tensor<4xf32>
  weft.param @c : tensor<4xf32>
  weft.param @d : tensor<4xf32>
  weft.param @e : tensor<4xf32>
  weft.param @h.0.x : tensor<4xf32>
  weft.param @a.flat.grad : tensor<4xf32> {trainable = false}
  weft.state @a.grad : tensor<4x1xf32> {kind = #weft.state_kind<gradient>, param = @a}
  weft.state @b.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @b}
  weft.state @c.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @c}
  weft.state @d.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @d}
  weft.state @e.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @e}
  weft.state @a.momentum_buffer : tensor<4x1xf32> {kind = #weft.state_kind<optimizer>, param = @a}
  weft.state @b.momentum_buffer : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @b}
  weft.state @c.momentum_buffer : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @c}
  weft.state @d.momentum_buffer : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @d}
  weft.state @e.momentum_buffer : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @e}
  weft.program @micro(%x: tensor<4x1xf32> {weft.input = "x"}, %y: tensor<4xf32> {weft.input = "y"}) attributes {kind = #weft.kind<micro>} {
    weft.return writes @a.grad = %x : tensor<4x1xf32>, @b.grad = %y : tensor<4xf32>, @d.grad = %y : tensor<4xf32>
  }
  weft.program @apply(%k: tensor<f32> {weft.input = "coef"}, %skip: tensor<i1> {weft.input = "skip"}, %t: tensor<i64> {weft.input = "step"}, %n: tensor<f64> {weft.input = "n"}, %wd: tensor<f64> {weft.input = "wd"})
      -> (tensor<4xf32> {weft.output = "c"}) attributes {kind = #weft.kind<apply>} {
    %own = weft.constant dense<0.1> : tensor<f64>
    %a = weft.read @a : tensor<4x1xf32>
    %am = weft.read @a.momentum_buffer : tensor<4x1xf32>
    %ag = weft.read @a.grad : tensor<4x1xf32>
    %a1, %am1 = weft.sgd(%a, %am, %ag, %k, %skip, %t, %n, %wd, %n) : (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4x1xf32>, tensor<4x1xf32>)
    %b = weft.read @b : tensor<4xf32>
    %bm = weft.read @b.momentum_buffer : tensor<4xf32>
    %bg = weft.read @b.grad : tensor<4xf32>
    %b1, %bm1 = weft.sgd(%b, %bm, %bg, %k, %skip, %t, %n, %wd, %n) {lr_scale = 2.0 : f64, decay_scale = 0.0 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
    %c = weft.read @c : tensor<4xf32>
    %cm = weft.read @c.momentum_buffer : tensor<4xf32>
    %cg = weft.read @c.grad : tensor<4xf32>
    %c1, %cm1 = weft.sgd(%c, %cm, %cg, %k, %skip, %t, %n, %own, %n) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
    %d = weft.read @d : tensor<4xf32>
    %dm = weft.read @d.momentum_buffer : tensor<4xf32>
    %dg = weft.read @d.grad : tensor<4xf32>
    %d1, %dm1 = weft.sgd(%d, %dm, %dg, %k, %skip, %t, %n, %own, %n) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
    %e = weft.read @e : tensor<4xf32>
    %em = weft.read @e.momentum_buffer : tensor<4xf32>
    %eg = weft.read @e.grad : tensor<4xf32>
    %e1, %em1 = weft.sgd(%e, %em, %eg, %k, %skip, %t, %n, %wd, %wd) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
    weft.return %c1 : tensor<4xf32> writes @a = %a1 : tensor<4x1xf32>, @a.momentum_buffer = %am1 : tensor<4x1xf32>, @b = %b1 : tensor<4xf32>, @b.momentum_buffer = %bm1 : tensor<4xf32>, @c = %c1 : tensor<4xf32>, @c.momentum_buffer = %cm1 : tensor<4xf32>, @d = %d1 : tensor<4xf32>, @d.momentum_buffer = %dm1 : tensor<4xf32>, @e = %e1 : tensor<4xf32>, @e.momentum_buffer = %em1 : tensor<4xf32>
  }
}

// -----

// Ranks share equal slices: a parameter that is alone lies in a bucket as well,
// and the whole is a multiple of the alignment for each rank. What is laid out
// otherwise lies apart.

// CHECK-LABEL: module @ranks
// CHECK: weft.param @h.0.flat : tensor<64xf32> {dist.layout = #dist.layout<replicated>, scope = "h.0", segments = [#weft.segment<@h.0.w [4, 4] at 0 to 16>, #weft.segment<@h.0.b [4] at 16 to 20>]}
// CHECK: weft.param @h.0.flat.1 : tensor<64xf32> {decay = true, dist.layout = #dist.layout<sharded on "dp">, scope = "h.0", segments = [#weft.segment<@h.0.v [4, 4] at 0 to 16>]}
// CHECK: weft.state @h.0.flat.grad : tensor<64xf32> {dist.layout = #dist.layout<replicated>
// EXACT-LABEL: module @ranks
// EXACT: weft.param @h.0.flat : tensor<20xf32> {dist.layout
module @ranks {
  dist.mesh @mesh("dp" = 4)
  weft.param @h.0.w : tensor<4x4xf32> {dist.layout = #dist.layout<replicated>, scope = "h.0"}
  weft.param @h.0.v : tensor<4x4xf32> {dist.layout = #dist.layout<sharded on "dp">, scope = "h.0"}
  weft.param @h.0.b : tensor<4xf32> {dist.layout = #dist.layout<replicated>, scope = "h.0"}
  weft.state @h.0.w.grad : tensor<4x4xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @h.0.w}
  weft.state @h.0.v.grad : tensor<4x4xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @h.0.v}
  weft.state @h.0.b.grad : tensor<4xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @h.0.b}
}

// -----

// The elements of a number that is alone, unlike the numbers of its update.

// CHECK-LABEL: module @number
// CHECK: weft.program @apply
// CHECK-DAG: %[[N:.*]] = weft.read @n.flat : tensor<32xf32>
// CHECK-DAG: %[[M:.*]] = weft.read @n.flat.momentum_buffer : tensor<32xf32>
// CHECK-DAG: %[[G:.*]] = weft.read @n.flat.grad : tensor<32xf32>
// CHECK: weft.sgd(%[[N]], %[[M]], %[[G]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<f32>, {{.*}}) -> (tensor<32xf32>, tensor<32xf32>)
module @number {
  dist.mesh @mesh("dp" = 2)
  weft.param @n : tensor<f32> {dist.layout = #dist.layout<replicated>}
  weft.state @n.grad : tensor<f32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @n}
  weft.state @n.momentum_buffer : tensor<f32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<optimizer>, param = @n}
  weft.program @apply(%lr: tensor<f64> {weft.input = "lr"}, %k: tensor<f32> {weft.input = "k"}, %skip: tensor<i1> {weft.input = "skip"}, %t: tensor<i64> {weft.input = "t"}) attributes {kind = #weft.kind<apply>} {
    %n = weft.read @n : tensor<f32>
    %m = weft.read @n.momentum_buffer : tensor<f32>
    %g = weft.read @n.grad : tensor<f32>
    %n1, %m1 = weft.sgd(%n, %m, %g, %k, %skip, %t, %lr, %lr, %lr) : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<f32>, tensor<f32>)
    weft.return writes @n = %n1 : tensor<f32>, @n.momentum_buffer = %m1 : tensor<f32>
  }
}
