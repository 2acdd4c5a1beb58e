// RUN: weft-opt --weft-loss-scale --split-input-file %s | FileCheck %s --check-prefixes=CHECK,TORCH
// RUN: weft-opt --weft-loss-scale="scaler=deepspeed" --split-input-file %s | FileCheck %s --check-prefix=DEEPSPEED
// RUN: weft-opt --weft-loss-scale="scaler=mmcv" --split-input-file %s | FileCheck %s --check-prefix=MMCV
// RUN: weft-opt --weft-loss-scale="scaler=deepspeed,init=4,growth=3,backoff=0.25,interval=7,hysteresis=5,minimum=2" --split-input-file %s | FileCheck %s --check-prefix=GIVEN
// RUN: weft-opt --weft-loss-scale="scaler=deepspeed,consecutive=true" --split-input-file %s | FileCheck %s --check-prefix=CONSECUTIVE
// RUN: weft-opt --weft-loss-scale="scaler=deepspeed_fused" --split-input-file %s | FileCheck %s --check-prefix=FUSED
// RUN: weft-opt --weft-loss-scale="scaler=colossalai" --split-input-file %s | FileCheck %s --check-prefix=COLOSSAL
// RUN: weft-opt --weft-loss-scale=mode=512 --split-input-file %s | FileCheck %s --check-prefixes=CHECK,STATIC

// All backward ops get the scaled seed; the loss stays as it is.

// TORCH: weft.state @loss_scale : tensor<f32> {kind = #weft.state_kind<scaler>, weft.scaler = #weft.scaler<torch>}
// TORCH: weft.state @loss_scale.state : tensor<3xi64> {kind = #weft.state_kind<scaler>}
// STATIC: weft.state @loss_scale : tensor<f32> {kind = #weft.state_kind<scaler>}
// STATIC-NOT: loss_scale.state

// CHECK-LABEL: weft.program @micro
// CHECK-SAME: %[[X:.*]]: tensor<4xf32> {weft.input = "x"}, %[[SEED:.*]]: tensor<f32> {weft.input = "loss_seed"}
// CHECK: %[[LOSS:.*]] = weft.reduce sum
// CHECK-NEXT: %[[SCALE:.*]] = weft.read @loss_scale : tensor<f32>
// CHECK-NEXT: %[[SCALED:.*]] = weft.mul %[[SEED]], %[[SCALE]] : tensor<f32>, tensor<f32>
// CHECK-NEXT: weft.mul %[[X]], %[[SCALED]]
// CHECK-NEXT: weft.mul %{{.*}}, %[[SCALED]]
// CHECK: weft.return %[[LOSS]]

// CHECK-LABEL: weft.program @init
// TORCH: %[[FIRST:.*]] = weft.constant dense<6.553600e+04> : tensor<f32>
// TORCH: %[[STATE:.*]] = weft.constant dense<0> : tensor<3xi64>
// TORCH: weft.return writes @w = %{{.*}}, @loss_scale = %[[FIRST]] : tensor<f32>, @loss_scale.state = %[[STATE]] : tensor<3xi64>
// STATIC: %[[FIRST:.*]] = weft.constant dense<5.120000e+02> : tensor<f32>
// STATIC: weft.return writes @w = %{{.*}}, @loss_scale = %[[FIRST]] : tensor<f32>{{$}}

// DEEPSPEED: weft.scaler = #weft.scaler<deepspeed>}
// DEEPSPEED: weft.constant dense<6.553600e+04> : tensor<f32>
// DEEPSPEED: weft.constant dense<[0, -1, 2]> : tensor<3xi64>
// MMCV: weft.scaler = #weft.scaler<mmcv>}
// MMCV: weft.constant dense<4.2949673E+9> : tensor<f32>
// MMCV: weft.constant dense<[0, -1, 1]> : tensor<3xi64>
// GIVEN: weft.scaler = #weft.scaler<deepspeed, init = 4.000000e+00, growth = 3.000000e+00, backoff = 2.500000e-01, interval = 7, hysteresis = 5, minimum = 2.000000e+00>}
// GIVEN: weft.constant dense<4.000000e+00> : tensor<f32>
// GIVEN: weft.constant dense<[0, -1, 5]> : tensor<3xi64>
// CONSECUTIVE: weft.scaler = #weft.scaler<deepspeed, consecutive = true>}
// FUSED: weft.scaler = #weft.scaler<deepspeed_fused>}
// FUSED: weft.constant dense<[0, -1, 1]> : tensor<3xi64>
// COLOSSAL: weft.scaler = #weft.scaler<colossalai>}
// COLOSSAL: weft.constant dense<[0, 0, 2]> : tensor<3xi64>

weft.param @w : tensor<4xf32>
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
weft.program @micro(%x: tensor<4xf32> {weft.input = "x"}, %seed: tensor<f32> {weft.input = "loss_seed"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4xf32>
  %y = weft.mul %x, %w : tensor<4xf32>, tensor<4xf32>
  %loss = weft.reduce sum %y dims [0] : tensor<4xf32>
  %g0 = weft.mul %x, %seed : tensor<4xf32>, tensor<f32>
  %g = weft.mul %g0, %seed : tensor<4xf32>, tensor<f32>
  weft.return %loss : tensor<f32> writes @w.grad = %g : tensor<4xf32>
}
weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
  %w = weft.constant dense<1.0> : tensor<4xf32>
  weft.return writes @w = %w : tensor<4xf32>
}
