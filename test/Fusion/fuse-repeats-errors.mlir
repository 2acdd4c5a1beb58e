// RUN: weft-opt %s --weft-decompose -o %t.mlir
// An update with weft.repeats may call the kernels of another one only if these
// compute its own formula. The dump before weft-fuse is edited.

// The largest number is no special one.
// RUN: sed 's/update = 0/update = 9223372036854775807/' %t.mlir | weft-opt --weft-fuse -o %t.largest.mlir
// RUN: weft-opt %t.mlir --weft-fuse -o %t.fused.mlir
// RUN: diff %t.fused.mlir %t.largest.mlir

// RUN: sed 's/update = 0, states/update = 7, states/' %t.mlir | not weft-opt --weft-fuse 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: 'weft.sgd' op expects an op of update 7, whose kernels it calls, but got none

// RUN: sed 's/results = 0, 1>/results = 0>/' %t.mlir | not weft-opt --weft-fuse 2>&1 | FileCheck %s --check-prefix=COUNTS
// RUN: sed 's/@a.m, @a.grad\]/@a.grad]/' %t.mlir | not weft-opt --weft-fuse 2>&1 | FileCheck %s --check-prefix=COUNTS
// COUNTS: error: 'weft.sgd' op expects 3 states and 2 results in weft.repeats, but got #weft.repeats<update = 0,
// COUNTS: note: the update that it repeats begins here

// The repeats have one update, so they have one attribute.
// RUN: sed '/states/{x;s/^/x/;/^xx$/{x;s/@a, @a.m/@nope, @a.m/;x};x}' %t.mlir | not weft-opt --weft-fuse 2>&1 | FileCheck %s --check-prefix=ALIKE
// Another step size, momentum and kind of momentum.
// RUN: sed '/states/{x;s/^/x/;/^xx$/{x;s/%arg3, %arg4, %arg5/%arg4, %arg4, %arg5/;x};x}' %t.mlir | not weft-opt --weft-fuse 2>&1 | FileCheck %s --check-prefix=ALIKE
// RUN: sed '/states/{x;s/^/x/;/^xx$/{x;s/{weft/{nesterov, weft/;x};x}' %t.mlir | not weft-opt --weft-fuse 2>&1 | FileCheck %s --check-prefix=ALIKE
// ALIKE: error: 'weft.sgd' op expects to differ from the first repeat only in its tensors
// ALIKE: note: the update that it repeats begins here

// A state that the program does not read, and states of other operands.
// RUN: sed 's/@a, @a.m/@nope, @a.m/' %t.mlir | not weft-opt --weft-fuse 2>&1 | FileCheck %s --check-prefix=FORMULA -DOP=weft.read
// RUN: sed 's/@a, @a.m/@a.m, @a/' %t.mlir | not weft-opt --weft-fuse 2>&1 | FileCheck %s --check-prefix=FORMULA -DOP=weft.mul
// RUN: sed '/states/s/%arg3, %arg4, %arg5/%arg4, %arg4, %arg5/' %t.mlir | not weft-opt --weft-fuse 2>&1 | FileCheck %s --check-prefix=FORMULA -DOP=weft.mul
// RUN: sed '/states/s/{weft/{nesterov, weft/' %t.mlir | not weft-opt --weft-fuse 2>&1 | FileCheck %s --check-prefix=FORMULA -DOP=weft.mul
// Tensors of the update that are not its ops: others could share their kernels.
// RUN: sed '/weft.select.*tensor<4x/s/, weft.update = 0 : i64//' %t.mlir | not weft-opt --weft-fuse 2>&1 | FileCheck %s --check-prefix=FORMULA -DOP=weft.select
// FORMULA: error: 'weft.sgd' op expects the formula of #weft.repeats<update = 0, {{.*}} in the program, but got no [[OP]] of it
// FORMULA: note: the update that it repeats begins here

// RUN: sed 's/results = 0, 1/results = 1, 0/' %t.mlir | not weft-opt --weft-fuse 2>&1 | FileCheck %s --check-prefix=RESULT -DPLACE=1
// RUN: sed 's/results = 0, 1/results = 0, 0/' %t.mlir | not weft-opt --weft-fuse 2>&1 | FileCheck %s --check-prefix=RESULT -DPLACE=0
// RUN: sed 's/results = 0, 1/results = 0, 6/' %t.mlir | not weft-opt --weft-fuse 2>&1 | FileCheck %s --check-prefix=RESULT -DPLACE=6
// RESULT: error: 'weft.sgd' op expects a result of its update as operand [[PLACE]] of the terminator
// RESULT: note: the update that it repeats begins here

// RUN: sed 's/weft.sgd(%[a-z0-9]*, \(%[a-z0-9]*\),/weft.sgd(\1, \1,/' %t.mlir | not weft-opt --weft-fuse 2>&1 | FileCheck %s --check-prefix=REASON
// REASON: error: 'weft.sgd' op expects no weft.repeats: it reads a state twice
// REASON: note: the update that it repeats begins here

// RUN: sed 's/weft.return/%%late = weft.exp %%arg0 {weft.update = 0 : i64} : tensor<f32>\n&/' %t.mlir | not weft-opt --weft-fuse 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: error: 'weft.sgd' op expects all ops of its update before it
// ORDER: note: the update that it repeats begins here

weft.param @a : tensor<4xf32>
weft.param @b : tensor<4xf32>
weft.param @c : tensor<4xf32>
weft.state @a.m : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @a}
weft.state @b.m : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @b}
weft.state @c.m : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @c}
weft.state @a.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @a}
weft.state @b.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @b}
weft.state @c.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @c}
weft.program @apply(%coef: tensor<f32> {weft.input = "coef"}, %skip: tensor<i1> {weft.input = "skip"},
    %step: tensor<i64> {weft.input = "step"}, %lr: tensor<f64> {weft.input = "lr"}, %decay: tensor<f64> {weft.input = "decay"},
    %momentum: tensor<f64> {weft.input = "momentum"}) attributes {kind = #weft.kind<apply>} {
  %a = weft.read @a : tensor<4xf32>
  %am = weft.read @a.m : tensor<4xf32>
  %ag = weft.read @a.grad : tensor<4xf32>
  %a1, %am1 = weft.sgd(%a, %am, %ag, %coef, %skip, %step, %lr, %decay, %momentum) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
  %b = weft.read @b : tensor<4xf32>
  %bm = weft.read @b.m : tensor<4xf32>
  %bg = weft.read @b.grad : tensor<4xf32>
  %b1, %bm1 = weft.sgd(%b, %bm, %bg, %coef, %skip, %step, %lr, %decay, %momentum) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
  %c = weft.read @c : tensor<4xf32>
  %cm = weft.read @c.m : tensor<4xf32>
  %cg = weft.read @c.grad : tensor<4xf32>
  %c1, %cm1 = weft.sgd(%c, %cm, %cg, %coef, %skip, %step, %lr, %decay, %momentum) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
  weft.return writes @a = %a1 : tensor<4xf32>, @a.m = %am1 : tensor<4xf32>, @b = %b1 : tensor<4xf32>, @b.m = %bm1 : tensor<4xf32>, @c = %c1 : tensor<4xf32>, @c.m = %cm1 : tensor<4xf32>
}
