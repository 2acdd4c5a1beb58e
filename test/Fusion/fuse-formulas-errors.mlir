// RUN: weft-opt %s --weft-fuse --split-input-file --verify-diagnostics
// Ops that weft-decompose did not prepare, or whose attributes were edited.

weft.program @composite(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects its formula in its place; run weft-decompose first}}
  %y = weft.silu %x : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// -----

weft.param @a : tensor<4xf32>
weft.state @m : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @a}
weft.state @g : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @a}
weft.program @first(%coef: tensor<f32> {weft.input = "coef"}, %skip: tensor<i1> {weft.input = "skip"},
    %step: tensor<i64> {weft.input = "step"}, %lr: tensor<f64> {weft.input = "lr"})
    attributes {kind = #weft.kind<apply>} {
  %a = weft.read @a : tensor<4xf32>
  %m = weft.read @m : tensor<4xf32>
  %g = weft.read @g : tensor<4xf32>
  // expected-error @+1 {{expects an op of update 7, whose kernels it calls, but got none}}
  %a1, %m1 = weft.sgd(%a, %m, %g, %coef, %skip, %step, %lr, %lr, %lr) {weft.repeats = #weft.repeats<update = 7, states = [@a, @m, @g], results = 0, 1>} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
  weft.return writes @a = %a1 : tensor<4xf32>, @m = %m1 : tensor<4xf32>
}

// -----

weft.param @a : tensor<4xf32>
weft.state @m : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @a}
weft.state @g : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @a}
weft.program @results(%coef: tensor<f32> {weft.input = "coef"}, %skip: tensor<i1> {weft.input = "skip"},
    %step: tensor<i64> {weft.input = "step"}, %lr: tensor<f64> {weft.input = "lr"})
    attributes {kind = #weft.kind<apply>} {
  %a = weft.read @a : tensor<4xf32>
  %m = weft.read @m : tensor<4xf32>
  %g = weft.read @g : tensor<4xf32>
  // expected-error @+1 {{expects 3 states and 2 results among the 2 operands of the terminator in weft.repeats, but got #weft.repeats<update = 0, states = [@a], results = 0, 9>}}
  %a1, %m1 = weft.sgd(%a, %m, %g, %coef, %skip, %step, %lr, %lr, %lr) {weft.repeats = #weft.repeats<update = 0, states = [@a], results = 0, 9>} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
  weft.return writes @a = %a1 : tensor<4xf32>, @m = %m1 : tensor<4xf32>
}
