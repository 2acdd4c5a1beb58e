// RUN: weft-opt --weft-drop-training --split-input-file %s | FileCheck %s

// Gradients, optimizer states and the loss scale go. Parameters, working
// copies, and the denominators of an evaluation stay.

// CHECK: module
// CHECK-SAME: weft.training = #weft.training<optimizers = [], index_inputs = [#weft.index_input<"y", limit = 4>], metrics = ["accuracy"]>
// CHECK-NOT: weft.update_groups
module attributes {
    weft.training = #weft.training<optimizers = ["adamw"], scaler = <torch>, index_inputs = [#weft.index_input<"y", limit = 4>], metrics = ["accuracy"]>,
    weft.update_groups = []} {
  // CHECK: weft.param @w
  // CHECK-NEXT: weft.param @frozen
  // CHECK-NEXT: weft.state @w.bf16
  // CHECK-NEXT: weft.state @denominator.0
  // CHECK-NEXT: weft.program @init
  weft.param @w : tensor<4xf32>
  weft.param @frozen : tensor<4xf32> {trainable = false}
  weft.state @w.bf16 : tensor<4xbf16> {kind = #weft.state_kind<working>, param = @w}
  weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
  weft.state @w.exp_avg : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @w}
  weft.state @step : tensor<i64> {kind = #weft.state_kind<optimizer>}
  weft.state @loss_scale : tensor<f32> {kind = #weft.state_kind<scaler>}
  weft.state @denominator.0 : tensor<f32> {kind = #weft.state_kind<denominator>}
  weft.state @denominator.none : tensor<f32> {kind = #weft.state_kind<denominator>}
  // CHECK: %[[ONE:.*]] = weft.constant dense<1.000000e+00> : tensor<4xf32>
  // CHECK-NEXT: %[[LOW:.*]] = weft.cast %[[ONE]]
  // CHECK-NEXT: weft.return writes @w = %[[ONE]] : tensor<4xf32>, @frozen = %[[ONE]] : tensor<4xf32>, @w.bf16 = %[[LOW]] : tensor<4xbf16>
  weft.program @init() attributes {kind = #weft.kind<init>} {
    %one = weft.constant dense<1.0> : tensor<4xf32>
    %zero = weft.constant dense<0.0> : tensor<4xf32>
    %none = weft.constant dense<0> : tensor<i64>
    %scale = weft.constant dense<65536.0> : tensor<f32>
    %low = weft.cast %one : tensor<4xf32> to tensor<4xbf16>
    weft.return writes @w = %one : tensor<4xf32>, @w.exp_avg = %zero : tensor<4xf32>, @step = %none : tensor<i64>, @frozen = %one : tensor<4xf32>, @loss_scale = %scale : tensor<f32>, @w.bf16 = %low : tensor<4xbf16>
  }
  // CHECK-NOT: @micro
  weft.program @micro() attributes {kind = #weft.kind<micro>} {
    %w = weft.read @w : tensor<4xf32>
    %scale = weft.read @loss_scale : tensor<f32>
    weft.return writes @w.grad = %w : tensor<4xf32>
  }
  // CHECK-NOT: @apply
  weft.program @apply() attributes {kind = #weft.kind<apply>} {
    %g = weft.read @w.grad : tensor<4xf32>
    %none = weft.read @denominator.none : tensor<f32>
    weft.return writes @w = %g : tensor<4xf32>
  }
  // Nothing reads @denominator.none.
  // CHECK: weft.program @denominators
  // CHECK-NEXT: weft.return writes @denominator.0 = %{{[a-z0-9]*}} : tensor<f32>{{$}}
  weft.program @denominators(%share: tensor<f32> {weft.input = "batch_share"}) attributes {kind = #weft.kind<denominators>} {
    weft.return writes @denominator.0 = %share : tensor<f32>, @denominator.none = %share : tensor<f32>
  }
  // CHECK: weft.program @eval
  // CHECK: weft.read @w.bf16
  // CHECK: weft.read @denominator.0
  weft.program @eval() attributes {kind = #weft.kind<eval>} {
    %w = weft.read @w.bf16 : tensor<4xbf16>
    %count = weft.read @denominator.0 : tensor<f32>
    weft.return
  }
}

// -----

// Without training nothing changes.
// CHECK-LABEL: weft.program @predict
// CHECK: weft.return
weft.program @predict() attributes {kind = #weft.kind<predict>} {
  weft.return
}
