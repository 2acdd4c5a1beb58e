// RUN: weft-interp %s | FileCheck %s
// RUN: weft-interp %s --program=reads --save-state=%t.safetensors --print=off
// RUN: weft-interp %s --program=add_one --set x=2 --state=%t.safetensors \
// RUN:   | FileCheck %s --check-prefix=SET
// RUN: weft-interp %s --program=writes --set flag=1 | FileCheck %s --check-prefix=ADD

// State is read at entry and written at the end; ties, constants, kernels.

weft.param @w : tensor<2x2xf32> {init = #weft.init<constant, 0.5>}
weft.param @tied : tensor<2x2xf32> {tie = @w}
weft.param @z : tensor<2xf32> {init = #weft.init<zeros>}
weft.param @o : tensor<2xf32> {init = #weft.init<ones>}
weft.state @w.grad : tensor<2x2xf32> {kind = #weft.state_kind<gradient>, param = @w}
weft.state @step : tensor<i64> {kind = #weft.state_kind<optimizer>}

// CHECK-LABEL: program @reads
// CHECK-NEXT: grad = {{\[\[}}0, 0], [0, 0]] : 2x2xf32
// CHECK-NEXT: o = [1, 1] : 2xf32
// CHECK-NEXT: tied = {{\[\[}}0.5, 0.5], [0.5, 0.5]] : 2x2xf32
// CHECK-NEXT: z = [0, 0] : 2xf32
weft.program @reads() -> (tensor<2x2xf32> {weft.output = "tied"}, tensor<2x2xf32> {weft.output = "grad"},
                          tensor<2xf32> {weft.output = "z"}, tensor<2xf32> {weft.output = "o"})
    attributes {kind = #weft.kind<eval>} {
  %t = weft.read @tied : tensor<2x2xf32>
  %g = weft.read @w.grad : tensor<2x2xf32>
  %z = weft.read @z : tensor<2xf32>
  %o = weft.read @o : tensor<2xf32>
  weft.return %t, %g, %z, %o : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>
}

// The accumulator starts again at flag 0 even from a NaN, and the step advances.
// CHECK-LABEL: program @writes
// CHECK-NEXT: @w.grad = {{\[\[}}0.5, 0.5], [0.5, 0.5]] : 2x2xf32
// CHECK-NEXT: @step = 1 : i64
// ADD: @w.grad = {{\[\[}}nan, nan], [nan, nan]] : 2x2xf32
weft.program @writes(%flag: tensor<f32> {weft.input = "flag"}) attributes {kind = #weft.kind<apply>} {
  %w = weft.read @w : tensor<2x2xf32>
  %old = weft.read @w.grad : tensor<2x2xf32>
  %nan = weft.div %old, %old : tensor<2x2xf32>, tensor<2x2xf32>
  %zero = weft.constant dense<0.0> : tensor<f32>
  %one = weft.constant dense<1.0> : tensor<f32>
  %restarts = weft.compare ne %flag, %one : tensor<f32>, tensor<f32>
  %accumulate = weft.select %restarts, %zero, %flag : tensor<i1>, tensor<f32>, tensor<f32>
  %new = weft.accumulate %nan, %w, %accumulate : tensor<2x2xf32>
  %step = weft.read @step : tensor<i64>
  %skip = weft.constant dense<false> : tensor<i1>
  %next = weft.step_increment %step, %skip
  weft.return writes @w.grad = %new : tensor<2x2xf32>, @step = %next : tensor<i64>
}

// A later program sees what an earlier one wrote.
// CHECK-LABEL: program @reads_again
// CHECK-NEXT: skipped = 1 : i64
// CHECK-NEXT: step = 1 : i64
weft.program @reads_again() -> (tensor<i64> {weft.output = "step"}, tensor<i64> {weft.output = "skipped"})
    attributes {kind = #weft.kind<eval>} {
  %step = weft.read @step : tensor<i64>
  %skip = weft.constant dense<true> : tensor<i1>
  %same = weft.step_increment %step, %skip
  weft.return %step, %same : tensor<i64>, tensor<i64>
}

weft.kernel @k_1(%a: tensor<2xf32>) -> tensor<2xf32> elementwise [2] inplace [[]] {
  %one = weft.constant dense<1.0> : tensor<f32>
  %r = weft.add %a, %one : tensor<2xf32>, tensor<f32>
  weft.yield %r : tensor<2xf32>
}

// CHECK-LABEL: program @add_one
// SET: r = [4, 4] : 2xf32
weft.program @add_one(%x: tensor<2xf32> {weft.input = "x"}) -> (tensor<2xf32> {weft.output = "r"})
    attributes {kind = #weft.kind<eval>} {
  %y = weft.call @k_1(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %m = weft.materialize %y : tensor<2xf32>
  %z = weft.call @k_1(%m) : (tensor<2xf32>) -> tensor<2xf32>
  weft.return %z : tensor<2xf32>
}
