// RUN: weft-interp %s --steps=3 --outputs=%t.out --save-state=%t.state | FileCheck %s
// RUN: weft-interp %s --program=look --state=%t.state | FileCheck %s --check-prefix=LOOK
// RUN: weft-interp %s --steps=1 --state=%t.state | FileCheck %s --check-prefix=MORE
// RUN: weft-interp %s --steps=1 --mode=f32 --save-state=%t.f32 --print=off
// RUN: weft-interp %s --program=look --state=%t.f32 --mode=f32 | FileCheck %s --check-prefix=F32
// RUN: weft-interp %s --program=look --state=%t.f32 --mode=f64 | FileCheck %s --check-prefix=F32

// --steps runs the init program, then rounds of micro and apply on one state.
// The loss is w^2 / 2 and the learning rate 1/4: w = 2, 1.5, 1.125, ...

weft.param @w : tensor<f32>
weft.state @w.grad : tensor<f32> {kind = #weft.state_kind<gradient>, param = @w}

weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
  %w = weft.constant dense<2.0> : tensor<f32>
  weft.return writes @w = %w : tensor<f32>
}

// CHECK: loss = 2 : f32
// CHECK-NEXT: norm = 2 : f32
// CHECK-NEXT: loss = 1.125 : f32
// CHECK-NEXT: norm = 1.5 : f32
// CHECK-NEXT: loss = 0.6328125 : f32
// CHECK-NEXT: norm = 1.125 : f32
// CHECK-NOT: =
// MORE: loss = 0.355957031 : f32
weft.program @micro() -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<f32>
  %half = weft.constant dense<0.5> : tensor<f32>
  %square = weft.mul %w, %w : tensor<f32>, tensor<f32>
  %loss = weft.mul %square, %half : tensor<f32>, tensor<f32>
  weft.return %loss : tensor<f32> writes @w.grad = %w : tensor<f32>
}

weft.program @apply() -> (tensor<f32> {weft.output = "norm"}) attributes {kind = #weft.kind<apply>} {
  %w = weft.read @w : tensor<f32>
  %g = weft.read @w.grad : tensor<f32>
  %lr = weft.constant dense<0.25> : tensor<f32>
  %d = weft.mul %g, %lr : tensor<f32>, tensor<f32>
  %new = weft.sub %w, %d : tensor<f32>, tensor<f32>
  weft.return %g : tensor<f32> writes @w = %new : tensor<f32>
}

// LOOK: grad = 1.125 : f32
// LOOK-NEXT: w = 0.84375 : f32
// F32: grad = 2 : f32
// F32-NEXT: w = 1.5 : f32
weft.program @look() -> (tensor<f32> {weft.output = "w"}, tensor<f32> {weft.output = "grad"})
    attributes {kind = #weft.kind<eval>} {
  %w = weft.read @w : tensor<f32>
  %g = weft.read @w.grad : tensor<f32>
  weft.return %w, %g : tensor<f32>, tensor<f32>
}
