// RUN: weft-opt %s --weft-autodiff --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// Backward ops have the location and the scope of their forward op.

weft.param @w : tensor<f32> {scope = "out"} loc("weights":1:1)
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<f32>
  // CHECK: weft.sin %{{.*}} {weft.scope = "h.0"} : tensor<f32> loc("model.py":7:3)
  %y = weft.sin %w {weft.scope = "h.0"} : tensor<f32> loc("model.py":7:3)
  // CHECK: weft.cos %{{.*}} {weft.scope = "h.0"} : tensor<f32> loc(fused<"backward">["model.py":7:3])
  // CHECK: weft.accumulate {{.*}} {weft.scope = "out"} : tensor<f32> loc(fused<"backward">["weights":1:1])
  weft.return %y : tensor<f32>
}
