// RUN: weft-opt %s --split-input-file --weft-autodiff | FileCheck %s
// RUN: weft-opt %s --split-input-file --weft-autodiff=accumulation=off | FileCheck %s --check-prefix=ONCE

// Gradients that leave a layer that may be dropped are selected to zeros: the
// gradient of its input, and the gradients of its parameters at their sums. The
// parameters, which it uses alone, share a count of the micro-steps with a gradient.

// CHECK-LABEL: module @layer
module @layer {
  // CHECK-DAG: weft.state @a.grad : tensor<4x4xf32> {kind = #weft.state_kind<gradient>, param = @a}
  // CHECK-DAG: weft.state @w.grad : tensor<4x4xf32> {kind = #weft.state_kind<gradient>, param = @w, weft.presence = @presence.w}
  // CHECK-DAG: weft.state @presence.w : tensor<f32> {kind = #weft.state_kind<presence>}
  // CHECK-DAG: weft.state @b.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @b, weft.presence = @presence.w}
  weft.param @a : tensor<4x4xf32>
  weft.param @w : tensor<4x4xf32>
  weft.param @b : tensor<4xf32>
  // CHECK: weft.program @micro(
  // CHECK-SAME: %[[FLAG:[^ ]*]]: tensor<f32> {weft.input = "accumulate"}
  // CHECK: %[[H:.*]] = weft.matmul %{{.*}}, %{{.*}} {weft.saved
  // CHECK: %{{.*}}, %[[D:.*]] = weft.layer_drop %[[H]]
  // CHECK: weft.reduce mean
  // CHECK: %[[TAKEN:.*]] = weft.select %[[D]], %[[G:.*]], %{{.*}} : tensor<i1>, tensor<2x4xf32>, tensor<f32>
  // CHECK: %[[LAYER:.*]] = weft.select %[[D]], %{{.*}}, %[[G]] : tensor<i1>, tensor<f32>, tensor<2x4xf32>
  // The product with infinite activations of the layer may be anything.
  // CHECK: %[[DW:.*]] = weft.matmul %[[H]], %[[LAYER]] {transpose_lhs}
  // CHECK: %[[DW0:.*]] = weft.select %[[D]], %{{.*}}, %[[DW]] : tensor<i1>, tensor<f32>, tensor<4x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[DW0]], %[[FLAG]]
  // CHECK: %[[THERE:.*]] = weft.select %[[D]], %{{.*}}, %{{.*}} : tensor<i1>, tensor<f32>, tensor<f32>
  // CHECK: %[[OLD:.*]] = weft.read @presence.w
  // CHECK: %[[COUNT:.*]] = weft.accumulate %[[OLD]], %[[THERE]], %[[FLAG]]
  // CHECK: weft.return {{.*}}@presence.w = %[[COUNT]]
  // ONCE: %[[THERE:.*]] = weft.select %{{.*}} : tensor<i1>, tensor<f32>, tensor<f32>
  // ONCE-NOT: weft.accumulate
  // ONCE: weft.return {{.*}}@presence.w = %[[THERE]]
  weft.program @micro(%x: tensor<2x4xf32> {weft.input = "x"}, %rng: tensor<2xi64> {weft.input = "rng"},
                      %s: tensor<f32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
    %a = weft.read @a : tensor<4x4xf32>
    %w = weft.read @w : tensor<4x4xf32>
    %b = weft.read @b : tensor<4xf32>
    %h = weft.matmul %x, %a : tensor<2x4xf32>, tensor<4x4xf32>
    %m = weft.matmul %h, %w : tensor<2x4xf32>, tensor<4x4xf32>
    %f = weft.add %m, %b : tensor<2x4xf32>, tensor<4xf32>
    %y, %dropped = weft.layer_drop %h, %f rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 1} : tensor<2x4xf32>
    %loss = weft.reduce mean %y dims [0, 1] : tensor<2x4xf32>
    weft.return %loss : tensor<f32>
  }
}

// -----

// A layer in a layer is left out if one of the two is. A weight of two layers is there
// where one of them is, one that the loss reads as well always.

// CHECK-LABEL: module @nested
module @nested {
  // CHECK-DAG: weft.state @inner.grad {{.*}}weft.presence = @presence.inner}
  // CHECK-DAG: weft.state @both.grad {{.*}}weft.presence = @presence.both}
  // CHECK-DAG: weft.state @outer.grad {{.*}}weft.presence = @presence.outer}
  // CHECK-DAG: weft.state @always.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @always}
  weft.param @inner : tensor<4xf32>
  weft.param @both : tensor<4xf32>
  weft.param @outer : tensor<4xf32>
  weft.param @always : tensor<4xf32>
  // CHECK: %{{.*}}, %[[IN:.*]] = weft.layer_drop
  // CHECK: %{{.*}}, %[[OUT:.*]] = weft.layer_drop
  // CHECK: %{{.*}}, %[[NEXT:.*]] = weft.layer_drop
  // CHECK: %[[EITHER:.*]] = weft.or %[[IN]], %[[OUT]]
  // CHECK: weft.and %[[NEXT]], %[[EITHER]]
  // CHECK: weft.return
  weft.program @micro(%x: tensor<4xf32> {weft.input = "x"}, %rng: tensor<2xi64> {weft.input = "rng"},
                      %s: tensor<f32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
    %inner = weft.read @inner : tensor<4xf32>
    %both = weft.read @both : tensor<4xf32>
    %outer = weft.read @outer : tensor<4xf32>
    %always = weft.read @always : tensor<4xf32>
    %o0 = weft.mul %x, %outer : tensor<4xf32>, tensor<4xf32>
    %i0 = weft.mul %o0, %inner : tensor<4xf32>, tensor<4xf32>
    %i1 = weft.add %i0, %both : tensor<4xf32>, tensor<4xf32>
    %o1, %d0 = weft.layer_drop %o0, %i1 rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 1} : tensor<4xf32>
    %o2 = weft.mul %o1, %always : tensor<4xf32>, tensor<4xf32>
    %y, %d1 = weft.layer_drop %x, %o2 rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 2} : tensor<4xf32>
    %n = weft.mul %y, %both : tensor<4xf32>, tensor<4xf32>
    %z, %d2 = weft.layer_drop %y, %n rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 3} : tensor<4xf32>
    %e = weft.mul %z, %always : tensor<4xf32>, tensor<4xf32>
    %loss = weft.reduce mean %e dims [0] : tensor<4xf32>
    weft.return %loss : tensor<f32>
  }
}

// -----

// If all layers are dropped, none needs a value that they share: neither @w, which a
// layer of its own uses, nor @v. Then they add nothing to the gradient of %e.

// CHECK-LABEL: module @shared
module @shared {
  // CHECK-DAG: weft.state @w.grad {{.*}}weft.presence = @presence.w}
  // CHECK-DAG: weft.state @v.grad {{.*}}weft.presence = @presence.v}
  weft.param @u : tensor<4xf32>
  weft.param @v : tensor<4xf32>
  weft.param @w : tensor<4xf32>
  // CHECK: %{{.*}}, %[[IN:.*]] = weft.layer_drop
  // CHECK: %{{.*}}, %[[A:.*]] = weft.layer_drop
  // CHECK: %{{.*}}, %[[B:.*]] = weft.layer_drop
  // CHECK-DAG: %[[BOTH:.*]] = weft.and %[[B]], %[[A]]
  // CHECK-DAG: %[[OUT:.*]] = weft.or %[[IN]], %[[BOTH]]
  // CHECK-DAG: weft.select %[[OUT]], %{{.*}}, %{{.*}} : tensor<i1>, tensor<f32>, tensor<4xf32>
  // CHECK-DAG: weft.select %[[BOTH]], %{{.*}}, %{{.*}} : tensor<i1>, tensor<f32>, tensor<4xf32>
  // CHECK-DAG: weft.select %[[OUT]], %{{.*}}, %{{.*}} : tensor<i1>, tensor<f32>, tensor<f32>
  // CHECK-DAG: weft.select %[[BOTH]], %{{.*}}, %{{.*}} : tensor<i1>, tensor<f32>, tensor<f32>
  // CHECK: weft.return
  weft.program @micro(%x: tensor<4xf32> {weft.input = "x"}, %rng: tensor<2xi64> {weft.input = "rng"},
                      %s: tensor<f32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
    %u = weft.read @u : tensor<4xf32>
    %v = weft.read @v : tensor<4xf32>
    %w = weft.read @w : tensor<4xf32>
    %e = weft.mul %x, %u : tensor<4xf32>, tensor<4xf32>
    %h0 = weft.exp %e : tensor<4xf32>
    %h = weft.mul %h0, %v : tensor<4xf32>, tensor<4xf32>
    %f = weft.mul %h, %w : tensor<4xf32>, tensor<4xf32>
    %i, %d0 = weft.layer_drop %h, %f rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 1} : tensor<4xf32>
    %one = weft.exp %i : tensor<4xf32>
    %y1, %d1 = weft.layer_drop %e, %one rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 2} : tensor<4xf32>
    %two = weft.mul %y1, %i : tensor<4xf32>, tensor<4xf32>
    %y, %d2 = weft.layer_drop %y1, %two rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 3} : tensor<4xf32>
    %loss = weft.reduce mean %y dims [0] : tensor<4xf32>
    weft.return %loss : tensor<f32>
  }
}

// -----

// A value that is what a layer says, and that a layer within it reads, too.

// CHECK-LABEL: module @deep
module @deep {
  // CHECK: weft.state @w.grad {{.*}}weft.presence = @presence.w}
  weft.param @u : tensor<4xf32>
  weft.param @w : tensor<4xf32>
  // CHECK: %[[E:.*]] = weft.mul
  // CHECK: weft.layer_drop
  // CHECK: %{{.*}}, %[[OUT:.*]] = weft.layer_drop
  // CHECK: %[[FULL:.*]] = weft.mul %{{.*}}, %[[E]] : tensor<4xf32>, tensor<4xf32>
  // CHECK: %[[DW:.*]] = weft.select %[[OUT]], %{{.*}}, %[[FULL]] : tensor<i1>, tensor<f32>, tensor<4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[DW]]
  weft.program @micro(%x: tensor<4xf32> {weft.input = "x"}, %rng: tensor<2xi64> {weft.input = "rng"},
                      %s: tensor<f32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
    %u = weft.read @u : tensor<4xf32>
    %w = weft.read @w : tensor<4xf32>
    %e = weft.mul %x, %u : tensor<4xf32>, tensor<4xf32>
    %v = weft.mul %e, %w : tensor<4xf32>, tensor<4xf32>
    %f = weft.exp %v : tensor<4xf32>
    %i, %d0 = weft.layer_drop %v, %f rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 1} : tensor<4xf32>
    %g = weft.add %i, %v : tensor<4xf32>, tensor<4xf32>
    %y, %d1 = weft.layer_drop %e, %g rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 2} : tensor<4xf32>
    %loss = weft.reduce mean %y dims [0] : tensor<4xf32>
    weft.return %loss : tensor<f32>
  }
}

// -----

// Ops that are used only in place of a dropped layer are a branch as well.

// CHECK-LABEL: module @instead
module @instead {
  // CHECK-DAG: weft.state @short.grad {{.*}}weft.presence = @presence.short}
  // CHECK-DAG: weft.state @long.grad {{.*}}weft.presence = @presence.long}
  weft.param @short : tensor<4xf32>
  weft.param @long : tensor<4xf32>
  // CHECK: %{{.*}}, %[[D:.*]] = weft.layer_drop
  // CHECK: %[[KEPT:.*]] = weft.not %[[D]]
  // CHECK: weft.return
  weft.program @micro(%x: tensor<4xf32> {weft.input = "x"}, %rng: tensor<2xi64> {weft.input = "rng"},
                      %s: tensor<f32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
    %short = weft.read @short : tensor<4xf32>
    %long = weft.read @long : tensor<4xf32>
    %a = weft.mul %x, %short : tensor<4xf32>, tensor<4xf32>
    %b = weft.mul %x, %long : tensor<4xf32>, tensor<4xf32>
    %y, %d = weft.layer_drop %a, %b rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 1} : tensor<4xf32>
    %loss = weft.reduce mean %y dims [0] : tensor<4xf32>
    weft.return %loss : tensor<f32>
  }
}

// -----

// A low-precision copy that others read as well: what the layer says to it goes to the
// f32 state by itself, selected at full precision.

// CHECK-LABEL: module @low
module @low {
  weft.param @w : tensor<4x4xf32>
  // CHECK: %[[H:.*]] = weft.matmul %{{.*}}, %[[W:.*]] {weft.saved
  // CHECK: %{{.*}}, %[[D:.*]] = weft.layer_drop
  // CHECK: %[[DW:.*]] = weft.matmul %[[H]], %{{.*}} {out = f32, transpose_lhs} : tensor<4x4xf16>, tensor<4x4xf16>
  // CHECK: %[[ZERO:.*]] = weft.cast %{{.*}} : tensor<f16> to tensor<f32>
  // CHECK: %[[DW0:.*]] = weft.select %[[D]], %[[ZERO]], %[[DW]] : tensor<i1>, tensor<f32>, tensor<4x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[DW0]], %{{.*}} : tensor<4x4xf32>
  weft.program @micro(%x: tensor<4x4xf16> {weft.input = "x"}, %rng: tensor<2xi64> {weft.input = "rng"},
                      %s: tensor<f32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
    %wide = weft.read @w : tensor<4x4xf32>
    %w = weft.cast %wide : tensor<4x4xf32> to tensor<4x4xf16>
    %h = weft.matmul %x, %w : tensor<4x4xf16>, tensor<4x4xf16>
    %f = weft.matmul %h, %w : tensor<4x4xf16>, tensor<4x4xf16>
    %y, %d = weft.layer_drop %h, %f rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 1} : tensor<4x4xf16>
    %y32 = weft.cast %y : tensor<4x4xf16> to tensor<4x4xf32>
    %loss = weft.reduce mean %y32 dims [0, 1] : tensor<4x4xf32>
    weft.return %loss : tensor<f32>
  }
}

// -----

// A weight that two layers share through one cast is there if one of them is.

// CHECK-LABEL: module @cast
module @cast {
  // CHECK: weft.state @w.grad {{.*}}weft.presence = @presence.w}
  weft.param @w : tensor<4xf32>
  // CHECK: %{{.*}}, %[[ONE:.*]] = weft.layer_drop
  // CHECK: %{{.*}}, %[[TWO:.*]] = weft.layer_drop
  // CHECK: weft.and %[[TWO]], %[[ONE]]
  // CHECK: weft.return
  weft.program @micro(%x: tensor<4xf16> {weft.input = "x"}, %rng: tensor<2xi64> {weft.input = "rng"},
                      %s: tensor<f16> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
      -> (tensor<f16> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
    %w = weft.read @w : tensor<4xf32>
    %low = weft.cast %w : tensor<4xf32> to tensor<4xf16>
    %a = weft.mul %x, %low : tensor<4xf16>, tensor<4xf16>
    %y, %d0 = weft.layer_drop %x, %a rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 1} : tensor<4xf16>
    %b = weft.mul %y, %low : tensor<4xf16>, tensor<4xf16>
    %z, %d1 = weft.layer_drop %y, %b rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 2} : tensor<4xf16>
    %loss = weft.reduce mean %z dims [0] : tensor<4xf16>
    weft.return %loss : tensor<f16>
  }
}

// -----

// Values of a layer that are outputs, or unused, do not remove it from its branch.

// CHECK-LABEL: module @shown
module @shown {
  // CHECK: weft.state @w.grad {{.*}}weft.presence = @presence.w}
  weft.param @w : tensor<4xf32>
  weft.program @micro(%x: tensor<4xf32> {weft.input = "x"}, %rng: tensor<2xi64> {weft.input = "rng"},
                      %s: tensor<f32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
      -> (tensor<f32> {weft.output = "loss"}, tensor<4xf32> {weft.output = "hidden"}) attributes {kind = #weft.kind<micro>} {
    %w = weft.read @w : tensor<4xf32>
    %a = weft.mul %x, %w : tensor<4xf32>, tensor<4xf32>
    %dead = weft.mul %a, %a : tensor<4xf32>, tensor<4xf32>
    %y, %d = weft.layer_drop %x, %a rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 1} : tensor<4xf32>
    %loss = weft.reduce mean %y dims [0] : tensor<4xf32>
    weft.return %loss, %a : tensor<f32>, tensor<4xf32>
  }
}
