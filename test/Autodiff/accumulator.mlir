// RUN: weft-opt %s --weft-autodiff -o %t.f32.mlir
// RUN: weft-opt %s --weft-autodiff=grad-dtype=torch -o %t.torch.mlir
// RUN: weft-opt %s --weft-autodiff="grad-dtype=torch accumulation=off" -o %t.off.mlir

// Adding 1 to 2048 gives 2049 in f32 and 2048 in f16: the two uses of one
// micro-step, and two micro-steps.
// RUN: weft-interp %t.f32.mlir --mode=f32 --set x=2048 --set z=1 --set accumulate=0 | FileCheck %s --check-prefix=ONCE-F32
// RUN: weft-interp %t.torch.mlir --mode=f32 --set x=2048 --set z=1 --set accumulate=0 | FileCheck %s --check-prefix=ONCE-TORCH
// ONCE-F32: @w.grad = 2049 : f32
// ONCE-TORCH: @w.grad = 2048 : f32

// RUN: weft-interp %t.torch.mlir --mode=f32 --set x=2048 --set z=0 --set accumulate=0 --save-state=%t.state --print=off
// RUN: weft-interp %t.torch.mlir --mode=f32 --state=%t.state --set x=1 --set z=0 --set accumulate=1 | FileCheck %s --check-prefix=TWICE
// TWICE: @w.grad = 2049 : f32

// Without accumulation the second micro-step takes the place of the first, and
// the state is f16.
// RUN: weft-interp %t.off.mlir --mode=f32 --set x=2048 --set z=0 --set accumulate=0 --save-state=%t.state --print=off
// RUN: weft-interp %t.off.mlir --mode=f32 --state=%t.state --set x=1 --set z=0 --set accumulate=1 | FileCheck %s --check-prefix=OFF
// OFF: @w.grad = 1 : f16

weft.param @w : tensor<f32> {init = #weft.init<ones>}
weft.program @micro(%x: tensor<f16> {weft.input = "x"}, %z: tensor<f16> {weft.input = "z"},
                    %s: tensor<f32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<f32>
  %wl = weft.cast %w : tensor<f32> to tensor<f16>
  %a = weft.mul %wl, %x : tensor<f16>, tensor<f16>
  %b = weft.mul %wl, %z : tensor<f16>, tensor<f16>
  %aw = weft.cast %a : tensor<f16> to tensor<f32>
  %bw = weft.cast %b : tensor<f16> to tensor<f32>
  %loss = weft.add %aw, %bw : tensor<f32>, tensor<f32>
  weft.return %loss : tensor<f32>
}
