// REQUIRES: full
// RUN: rm -rf %t && mkdir -p %t
// RUN: weft-opt %s --weft-select-kernels=library=cuda --weft-decompose --weft-fuse -o %t/fused.mlir
// RUN: sed '/weft.program/,/^  }/d' %t/fused.mlir > %t/kernels.mlir
// RUN: %python %S/Inputs/emulate.py %t/kernels.mlir %t/run 1 | FileCheck %s
// The kernels of a step on a device, run on this machine: as the CPU's kernels, and
// with the same bits for wide and for single accesses.

// CHECK-COUNT-17: {{^k_.*: equal$}}
// CHECK-NEXT: {{^[0-9]+ results of 17 kernels as the interpreter computes them$}}
// CHECK-NOT: {{.}}
module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.program @adamw(%p: tensor<1003xf32> {weft.input = "p"}, %m: tensor<1003xf32> {weft.input = "m"}, %v: tensor<1003xf32> {weft.input = "v"},
    %g: tensor<1003xf16> {weft.input = "g"}, %coef: tensor<f32> {weft.input = "coef"}, %skip: tensor<i1> {weft.input = "skip"},
    %step: tensor<i64> {weft.input = "step"}, %lr: tensor<f64> {weft.input = "lr"}, %wd: tensor<f64> {weft.input = "wd"},
    %b1: tensor<f64> {weft.input = "b1"}, %b2: tensor<f64> {weft.input = "b2"}, %eps: tensor<f64> {weft.input = "eps"})
    -> (tensor<1003xf32> {weft.output = "np"}, tensor<1003xf32> {weft.output = "nm"}, tensor<1003xf32> {weft.output = "nv"}, tensor<1003xbf16> {weft.output = "w"})
    attributes {kind = #weft.kind<apply>} {
  %np, %nm, %nv, %w = weft.adamw(%p, %m, %v, %g, %coef, %skip, %step, %lr, %wd, %b1, %b2, %eps) {lr_scale = 0.5 : f64}
      : (tensor<1003xf32>, tensor<1003xf32>, tensor<1003xf32>, tensor<1003xf16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>)
      -> (tensor<1003xf32>, tensor<1003xf32>, tensor<1003xf32>, tensor<1003xbf16>)
  weft.return %np, %nm, %nv, %w : tensor<1003xf32>, tensor<1003xf32>, tensor<1003xf32>, tensor<1003xbf16>
}
weft.program @adam(%p: tensor<1003xbf16> {weft.input = "p"}, %m: tensor<1003xf32> {weft.input = "m"}, %v: tensor<1003xf32> {weft.input = "v"},
    %coef: tensor<f32> {weft.input = "coef"}, %skip: tensor<i1> {weft.input = "skip"},
    %step: tensor<i64> {weft.input = "step"}, %n: tensor<f64> {weft.input = "n"})
    -> (tensor<1003xbf16> {weft.output = "np"}) attributes {kind = #weft.kind<apply>} {
  %np, %nm, %nv = weft.adam(%p, %m, %v, %p, %coef, %skip, %step, %n, %n, %n, %n, %n)
      : (tensor<1003xbf16>, tensor<1003xf32>, tensor<1003xf32>, tensor<1003xbf16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>)
      -> (tensor<1003xbf16>, tensor<1003xf32>, tensor<1003xf32>)
  weft.return %np : tensor<1003xbf16>
}
weft.program @sgd(%p: tensor<1003xf32> {weft.input = "p"}, %b: tensor<1003xf32> {weft.input = "b"}, %g: tensor<1003xf32> {weft.input = "g"},
    %coef: tensor<f32> {weft.input = "coef"}, %skip: tensor<i1> {weft.input = "skip"}, %step: tensor<i64> {weft.input = "step"},
    %lr: tensor<f64> {weft.input = "lr"}, %wd: tensor<f64> {weft.input = "wd"}, %mu: tensor<f64> {weft.input = "mu"})
    -> (tensor<1003xf32> {weft.output = "np"}, tensor<1003xf32> {weft.output = "nb"}) attributes {kind = #weft.kind<apply>} {
  %np, %nb = weft.sgd(%p, %b, %g, %coef, %skip, %step, %lr, %wd, %mu) {nesterov}
      : (tensor<1003xf32>, tensor<1003xf32>, tensor<1003xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1003xf32>, tensor<1003xf32>)
  weft.return %np, %nb : tensor<1003xf32>, tensor<1003xf32>
}
weft.program @flat(%p: tensor<2051xf32> {weft.input = "p"}, %m: tensor<2051xf32> {weft.input = "m"}, %v: tensor<2051xf32> {weft.input = "v"},
    %g: tensor<2051xf16> {weft.input = "g"}, %coef: tensor<f32> {weft.input = "coef"}, %skip: tensor<i1> {weft.input = "skip"},
    %step: tensor<i64> {weft.input = "step"}, %lr: tensor<f64> {weft.input = "lr"}, %wd: tensor<f64> {weft.input = "wd"},
    %b1: tensor<f64> {weft.input = "b1"}, %b2: tensor<f64> {weft.input = "b2"}, %eps: tensor<f64> {weft.input = "eps"})
    -> (tensor<2051xf32> {weft.output = "np"}, tensor<2051xf32> {weft.output = "nm"}, tensor<2051xf32> {weft.output = "nv"}, tensor<2051xbf16> {weft.output = "w"})
    attributes {kind = #weft.kind<apply>} {
  %np, %nm, %nv, %w = weft.adamw(%p, %m, %v, %g, %coef, %skip, %step, %lr, %wd, %b1, %b2, %eps)
      {factors = [#weft.factors<from 0>, #weft.factors<from 130, decay_scale = 0.0>, #weft.factors<from 777, lr_scale = 0.5>, #weft.factors<from 1024, decay_scale = 0.0>, #weft.factors<from 2050, weight_decay = 0.25>]}
      : (tensor<2051xf32>, tensor<2051xf32>, tensor<2051xf32>, tensor<2051xf16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>)
      -> (tensor<2051xf32>, tensor<2051xf32>, tensor<2051xf32>, tensor<2051xbf16>)
  weft.return %np, %nm, %nv, %w : tensor<2051xf32>, tensor<2051xf32>, tensor<2051xf32>, tensor<2051xbf16>
}
weft.program @around(%old: tensor<1003xf16> {weft.input = "old"}, %value: tensor<1003xf16> {weft.input = "value"}, %flag: tensor<f32> {weft.input = "flag"},
    %step: tensor<i64> {weft.input = "step"}, %skip: tensor<i1> {weft.input = "skip"}, %norm: tensor<f64> {weft.input = "norm"},
    %max: tensor<f64> {weft.input = "max"}, %scale: tensor<f32> {weft.input = "scale"})
    -> (tensor<1003xf16> {weft.output = "sum"}, tensor<i64> {weft.output = "next"}, tensor<f32> {weft.output = "coef"}) attributes {kind = #weft.kind<apply>} {
  %sum = weft.accumulate %old, %value, %flag : tensor<1003xf16>
  %next = weft.step_increment %step, %skip
  %coef = weft.clip_coefficient %norm, %max scale %scale
  weft.return %sum, %next, %coef : tensor<1003xf16>, tensor<i64>, tensor<f32>
}
weft.program @norm(%a: tensor<3x4096xbf16> {weft.input = "a"}, %b: tensor<9973xf32> {weft.input = "b"})
    -> (tensor<f64> {weft.output = "norm"}, tensor<i1> {weft.output = "bad"}) attributes {kind = #weft.kind<apply>} {
  %norm, %bad = weft.norm_and_check %a, %b {p = 2.0 : f64} : tensor<3x4096xbf16>, tensor<9973xf32>
  weft.return %norm, %bad : tensor<f64>, tensor<i1>
}
weft.program @torch(%scale: tensor<f32> {weft.input = "scale"}, %state: tensor<3xi64> {weft.input = "state"}, %bad: tensor<i1> {weft.input = "bad"})
    -> (tensor<f32> {weft.output = "s"}, tensor<3xi64> {weft.output = "n"}, tensor<i1> {weft.output = "e"}) attributes {kind = #weft.kind<apply>} {
  %s, %n, %e = weft.scaler_update %scale, %state, %bad by #weft.scaler<torch, interval = 500>
  weft.return %s, %n, %e : tensor<f32>, tensor<3xi64>, tensor<i1>
}
weft.program @deepspeed(%scale: tensor<f32> {weft.input = "scale"}, %state: tensor<3xi64> {weft.input = "state"}, %bad: tensor<i1> {weft.input = "bad"})
    -> (tensor<f32> {weft.output = "s"}, tensor<3xi64> {weft.output = "n"}, tensor<i1> {weft.output = "e"}) attributes {kind = #weft.kind<apply>} {
  %s, %n, %e = weft.scaler_update %scale, %state, %bad by #weft.scaler<deepspeed, interval = 500, consecutive = true>
  weft.return %s, %n, %e : tensor<f32>, tensor<3xi64>, tensor<i1>
}
}
