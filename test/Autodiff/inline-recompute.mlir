// RUN: weft-opt --weft-inline-recompute %s | FileCheck %s --implicit-check-not='weft.recompute "'
// RUN: weft-opt --weft-inline-recompute --weft-autocast=dtype=bf16 %s | FileCheck %s --check-prefix=CAST
// RUN: not weft-opt --weft-autocast=dtype=bf16 %s 2>&1 | FileCheck %s --check-prefix=FIRST

// FIRST: error: 'weft.recompute' op expects no region that is computed again; run weft-inline-recompute first

// Ops of a region move in front of it, with its name. The innermost region of
// this kind counts; weft.autocast regions stay, and the ops in them are marked.

weft.param @w : tensor<4x4xf32> {init = #weft.init<zeros>}
// CHECK-LABEL: weft.program @nested
// CHECK-NEXT: %[[W:.*]] = weft.read @w : tensor<4x4xf32>
// CHECK-NEXT: %[[A:.*]] = weft.exp %{{.*}} {weft.recompute = "outer"}
// CHECK-NEXT: %[[B:.*]] = weft.tanh %[[A]] {weft.recompute = "inner"}
// CHECK-NEXT: %[[C:.*]] = weft.autocast attributes {enabled = false} {
// CHECK-NEXT: %[[D:.*]] = weft.relu %[[B]] {weft.recompute = "inner"}
// CHECK-NEXT: weft.yield %[[D]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[E:.*]] = weft.matmul %[[C]], %[[W]] {weft.recompute = "outer"}
// CHECK-NEXT: %[[F:.*]] = weft.autocast {
// CHECK-NEXT: %[[G:.*]] = weft.exp %[[E]] {weft.recompute = "third"}
// CHECK-NEXT: weft.yield %[[G]]
// CHECK-NEXT: }
// CHECK-NEXT: weft.reduce sum %[[F]] dims [0, 1] : tensor<4x4xf32>

// A cast belongs to the segment of the op that it is made for; casts of a
// parameter are one cast for all.
// CAST-LABEL: weft.program @nested
// CAST: weft.cast %{{.*}} : tensor<4x4xf32> to tensor<4x4xbf16>
// CAST: weft.cast %{{.*}} {weft.recompute = "outer"} : tensor<4x4xf32> to tensor<4x4xbf16>
// CAST-NEXT: weft.matmul %{{.*}}, %{{.*}} {weft.recompute = "outer"} : tensor<4x4xbf16>, tensor<4x4xbf16>
weft.program @nested(%x: tensor<4x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %e = weft.recompute "outer" {
    %w = weft.read @w : tensor<4x4xf32>
    %a = weft.exp %x : tensor<4x4xf32>
    %c = weft.recompute "inner" {
      %b = weft.tanh %a : tensor<4x4xf32>
      %c = weft.autocast attributes {enabled = false} {
        %d = weft.relu %b : tensor<4x4xf32>
        weft.yield %d : tensor<4x4xf32>
      } : tensor<4x4xf32>
      weft.yield %c : tensor<4x4xf32>
    } : tensor<4x4xf32>
    %e = weft.matmul %c, %w : tensor<4x4xf32>, tensor<4x4xf32>
    weft.yield %e : tensor<4x4xf32>
  } : tensor<4x4xf32>
  %f = weft.autocast {
    %f = weft.recompute "third" {
      %g = weft.exp %e : tensor<4x4xf32>
      weft.yield %g : tensor<4x4xf32>
    } : tensor<4x4xf32>
    weft.yield %f : tensor<4x4xf32>
  } : tensor<4x4xf32>
  // What a region hands on need not be made in it, and nothing has to stand in it.
  %same = weft.recompute "nothing" {
    weft.yield %f : tensor<4x4xf32>
  } : tensor<4x4xf32>
  %l = weft.reduce sum %same dims [0, 1] : tensor<4x4xf32>
  weft.return %l : tensor<f32>
}
