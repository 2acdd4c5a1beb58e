// REQUIRES: assertions
// RUN: weft-opt %s --weft-autodiff --debug-only=weft-autodiff -o /dev/null 2>&1 | FileCheck %s
// RUN: weft-opt %s --weft-autodiff --debug-only=weft-bucket -o /dev/null 2>&1 | count 0

// An LLVM with assertions writes the debug output of the passes that are named.

weft.param @w : tensor<f32>
// CHECK: [weft-autodiff] Differentiator.cpp:{{[0-9]+}} adjoint of {{.*}} weft.neg
// CHECK: [weft-autodiff] Differentiator.cpp:{{[0-9]+}} adjoint of {{.*}} weft.exp
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<f32>
  %y = weft.exp %w : tensor<f32>
  %loss = weft.neg %y : tensor<f32>
  weft.return %loss : tensor<f32>
}
