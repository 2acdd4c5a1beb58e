// RUN: weft-opt --weft-plan-memory=report=true --split-input-file %s -o /dev/null 2>&1 | FileCheck %s
// The persistent state beside 16P; every difference has a name, and together
// they make up the rest.

// P = 1000 + 100 + 10: @exact is as the formula says; @bias has no copy and an
// f32 gradient; @low has no f32 value; @frozen is not trained.
// CHECK: state of mixed precision, P = 1110 trained parameters:
// CHECK-NEXT: 16P: 4P f32, 2P copies, 2P gradients, 8P 17.34 KiB
// CHECK-NEXT: parameters without a working copy - 220 B
// CHECK-NEXT: gradients in f32 200 B
// CHECK-NEXT: parameters only in low precision - 20 B
// CHECK-NEXT: optimizers without two moments - 40 B
// CHECK-NEXT: parameters that are not trained 60 B
// CHECK-NEXT: step counters and loss scale 12 B
// CHECK-NEXT: persistent state 17.34 KiB
// CHECK-NEXT: other ways to train, A = 3000 elements of activations at the peak:
// CHECK-NEXT: 16P + 4A f32 with Adam 29.06 KiB
// CHECK-NEXT: 16P + 2A f16, f32 master weights, Adam 23.20 KiB
// CHECK-NEXT: 20P + 2A the same with f32 gradients, as mmcv 27.54 KiB
module {
  plan.state param @exact : memref<1000xf32>
  plan.state working @exact.bf16 : memref<1000xbf16> {param = @exact}
  plan.state gradient @exact.grad : memref<1000xbf16> {param = @exact}
  plan.state optimizer @exact.exp_avg : memref<1000xf32> {param = @exact}
  plan.state optimizer @exact.exp_avg_sq : memref<1000xf32> {param = @exact}
  plan.state param @bias : memref<100xf32>
  plan.state gradient @bias.grad : memref<100xf32> {param = @bias}
  plan.state optimizer @bias.exp_avg : memref<100xf32> {param = @bias}
  plan.state optimizer @bias.exp_avg_sq : memref<100xf32> {param = @bias}
  plan.state param @low : memref<10xbf16>
  plan.state gradient @low.grad : memref<10xbf16> {param = @low}
  plan.state optimizer @low.momentum_buffer : memref<10xf32> {param = @low}
  plan.state param @frozen : memref<10xf32> {trainable = false}
  plan.state working @frozen.bf16 : memref<10xbf16> {param = @frozen}
  plan.state optimizer @step : memref<i64>
  plan.state scaler @loss_scale : memref<f32>
  plan.program "micro" @micro {
    %a = plan.alloc activation : memref<2000xbf16>
    %b = plan.alloc activation : memref<1000xf32>
    %t = plan.alloc temporary : memref<10xf32>
    %c = plan.alloc temporary : memref<10xbf16>
    %0 = plan.view %b : memref<1000xf32> to memref<10xf32>
    %1 = plan.view %a : memref<2000xbf16> to memref<10xbf16>
    plan.constant %a = dense<1.0> : tensor<2000xbf16> : memref<2000xbf16>
    plan.constant %b = dense<1.0> : tensor<1000xf32> : memref<1000xf32>
    plan.copy %0 to %t : memref<10xf32> to memref<10xf32>
    plan.copy %1 to %c : memref<10xbf16> to memref<10xbf16>
  }
}

// -----

// A program that was asked for mixed precision but keeps nothing in it: every
// parameter is a difference.
// CHECK: state of mixed precision, P = 100 trained parameters:
// CHECK-NEXT: 16P: 4P f32, 2P copies, 2P gradients, 8P 1.56 KiB
// CHECK-NEXT: parameters without a working copy - 200 B
// CHECK-NEXT: gradients in f32 200 B
// CHECK-NEXT: persistent state 1.56 KiB
module attributes {weft.options = {precision = "bf16"}} {
  plan.state param @w : memref<100xf32>
  plan.state gradient @w.grad : memref<100xf32> {param = @w}
  plan.state optimizer @w.exp_avg : memref<100xf32> {param = @w}
  plan.state optimizer @w.exp_avg_sq : memref<100xf32> {param = @w}
}

// -----

// Flat states count by their parameters, @a of 1000 and @b of 100 elements. The
// four lists of 1152 elements have 52 between them; of the two moments this
// rank holds the half.
// CHECK: state of mixed precision, P = 1100 trained parameters:
// CHECK-NEXT: 16P: 4P f32, 2P copies, 2P gradients, 8P 17.19 KiB
// CHECK-NEXT: gaps in flat states 832 B
// CHECK-NEXT: shards of other ranks - 4.50 KiB
// CHECK-NEXT: step counters and loss scale 8 B
// CHECK-NEXT: persistent state 13.51 KiB
#a = #plan.segment<@a [10, 100] at 0 to 1000>
#b = #plan.segment<@b [100] at 1024 to 1124>
module {
  plan.state param @flat : memref<1152xf32> {segments = [#a, #b]}
  plan.state working @flat.bf16 : memref<1152xbf16> {param = @flat, slot = "bf16", segments = [#a, #b]}
  plan.state gradient @flat.grad : memref<1152xbf16> {param = @flat, slot = "grad", segments = [#a, #b]}
  plan.state optimizer @flat.exp_avg : memref<576xf32> {param = @flat, slot = "exp_avg", slices = 2, segments = [#a, #b]}
  plan.state optimizer @moments : memref<576xf32> {slot = "exp_avg_sq", slices = 2, segments = [#a, #b]}
  plan.state optimizer @step : memref<i64>
}

// -----

// Memory for rows of padding behind a gradient: four of 16 bytes.
// CHECK: state of mixed precision, P = 100 trained parameters:
// CHECK-NEXT: 16P: 4P f32, 2P copies, 2P gradients, 8P 1.56 KiB
// CHECK-NEXT: parameters without a working copy - 200 B
// CHECK-NEXT: gradients in f32 200 B
// CHECK-NEXT: padding behind gradients 64 B
// CHECK-NEXT: persistent state 1.62 KiB
module attributes {weft.options = {precision = "bf16"}} {
  plan.state param @w : memref<25x4xf32>
  plan.state gradient @w.grad : memref<25x4xf32> {padded_rows = 29 : i64, param = @w}
  plan.state optimizer @w.exp_avg : memref<25x4xf32> {param = @w}
  plan.state optimizer @w.exp_avg_sq : memref<25x4xf32> {param = @w}
}
