// RUN: weft-opt %s --weft-autodiff --split-input-file | FileCheck %s

// Rules on f16 operands: several steps run in f32, and one cast rounds.

// An f32 weight beside an f16 operand has an f32 gradient.
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf16> {weft.input = "loss_seed"}
// CHECK: %{{.*}}, %[[MEAN:.*]], %[[RSTD:.*]] = weft.layer_norm
// CHECK: %[[GW:.*]] = weft.cast %[[G]] : tensor<3x4xf16> to tensor<3x4xf32>
// CHECK: weft.cast %{{.*}} : tensor<3x4xf16> to tensor<3x4xf32>
// CHECK-NOT: xf16>
// CHECK: weft.reduce mean
// CHECK-NOT: xf16>
// CHECK: weft.reduce mean
// CHECK-NOT: xf16>
// CHECK: %{{.*}} = weft.sub %{{.*}} : tensor<3x4xf32>, tensor<3x4xf32>
// CHECK-NEXT: %[[DX:.*]] = weft.mul %{{.*}} : tensor<3x4xf32>, tensor<3x1xf32>
// CHECK-NEXT: %[[NARROW:.*]] = weft.cast %[[DX]] : tensor<3x4xf32> to tensor<3x4xf16>
// CHECK: %[[V0:.*]] = weft.mul %[[GW]], %{{.*}} : tensor<3x4xf32>, tensor<3x4xf32>
// CHECK-NEXT: %[[DW:.*]] = weft.reduce sum %[[V0]] dims [0] : tensor<3x4xf32>
// CHECK: weft.accumulate %{{.*}}, %[[DW]],
// CHECK: %[[DB:.*]] = weft.reduce sum %[[GW]] dims [0] : tensor<3x4xf32>
// CHECK: weft.accumulate %{{.*}}, %[[DB]],
// CHECK: weft.cast %[[NARROW]] : tensor<3x4xf16> to tensor<3x4xf32>
weft.param @x : tensor<3x4xf32>
weft.param @w : tensor<4xf32>
weft.param @b : tensor<4xf32>
weft.program @micro(%g: tensor<3x4xf16> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf16> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<3x4xf32>
  %e = weft.exp %x : tensor<3x4xf32>
  %xl = weft.cast %e : tensor<3x4xf32> to tensor<3x4xf16>
  %w = weft.read @w : tensor<4xf32>
  %b = weft.read @b : tensor<4xf32>
  %y, %mean, %rstd = weft.layer_norm %xl, %w, %b {eps = 1.0e-5 : f64} : tensor<3x4xf16>, tensor<4xf32>
  weft.return %y : tensor<3x4xf16>
}

// -----

// Products with f32 tables in one f16 op; softmax in f32 with one rounding; a
// loss with an f32 seed.
// CHECK-LABEL: weft.program @micro(
// CHECK: %[[P:.*]] = weft.softmax %{{.*}} : tensor<1x3x2x4xf16>
// CHECK: weft.mse %[[P]]
// CHECK: %[[PW:.*]] = weft.cast %[[P]] : tensor<1x3x2x4xf16> to tensor<1x3x2x4xf32>
// CHECK: %[[D:.*]] = weft.mul %{{.*}} : tensor<1x3x2x4xf32>, tensor<f32>
// CHECK-NEXT: %[[DP:.*]] = weft.cast %[[D]] : tensor<1x3x2x4xf32> to tensor<1x3x2x4xf16>
// CHECK: %[[Y:.*]] = weft.cast %[[P]] : tensor<1x3x2x4xf16> to tensor<1x3x2x4xf32>
// CHECK: %[[G:.*]] = weft.cast %[[DP]] : tensor<1x3x2x4xf16> to tensor<1x3x2x4xf32>
// CHECK-NEXT: %[[V0:.*]] = weft.mul %[[G]], %[[Y]]
// CHECK-NEXT: %[[V1:.*]] = weft.reduce sum %[[V0]] dims [3] {keep_dims} : tensor<1x3x2x4xf32>
// CHECK-NEXT: %[[V2:.*]] = weft.sub %[[G]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = weft.mul %[[Y]], %[[V2]]
// CHECK-NEXT: %[[DR:.*]] = weft.cast %[[V3]] : tensor<1x3x2x4xf32> to tensor<1x3x2x4xf16>
// CHECK-NEXT: %[[NEG:.*]] = weft.neg %{{.*}} : tensor<3x2xf32>
// CHECK-NEXT: weft.rope %[[DR]], %{{.*}}, %[[NEG]] : tensor<1x3x2x4xf16>, tensor<3x2xf32>
weft.param @x : tensor<1x3x2x4xf32>
weft.program @micro(%c: tensor<3x2xf32> {weft.input = "c"}, %t: tensor<1x3x2x4xf16> {weft.input = "t"},
                    %g: tensor<f32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<1x3x2x4xf32>
  %xl = weft.cast %x : tensor<1x3x2x4xf32> to tensor<1x3x2x4xf16>
  %r = weft.rope %xl, %c, %c : tensor<1x3x2x4xf16>, tensor<3x2xf32>
  %p = weft.softmax %r : tensor<1x3x2x4xf16>
  %loss = weft.mse %p, %t : tensor<1x3x2x4xf16>
  weft.return %loss : tensor<f32>
}

// -----

// Values within one op stay in f16; a cast between the low types is undone.
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[A:[^ ]*]]: tensor<4xf16> {weft.input = "a"}, %[[G:[^ ]*]]: tensor<4xbf16> {weft.input = "loss_seed"}
// CHECK: %[[BACK:.*]] = weft.cast %[[G]] : tensor<4xbf16> to tensor<4xf16>
// CHECK-NEXT: %[[D:.*]] = weft.mul %[[BACK]], %[[A]] : tensor<4xf16>, tensor<4xf16>
// CHECK-NEXT: weft.cast %[[D]] : tensor<4xf16> to tensor<4xf32>
weft.param @x : tensor<4xf32>
weft.program @micro(%a: tensor<4xf16> {weft.input = "a"}, %g: tensor<4xbf16> {weft.input = "loss_seed"},
                    %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<4xbf16> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<4xf32>
  %xl = weft.cast %x : tensor<4xf32> to tensor<4xf16>
  %y = weft.mul %xl, %a : tensor<4xf16>, tensor<4xf16>
  %b = weft.cast %y : tensor<4xf16> to tensor<4xbf16>
  weft.return %b : tensor<4xbf16>
}
