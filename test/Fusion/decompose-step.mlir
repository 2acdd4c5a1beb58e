// DEFINE: %{plain} = sed -E 's/weft[.](formula|update) = ("[^"]*"|[0-9]+ : i64)(, )?//g; s/, [}]/}/; s/ [{][}]//'
// RUN: weft-opt %s --weft-decompose | %{plain} | FileCheck %s
// The formulas of a step on gradients.

// An accumulator that starts again has the new value whatever it held; a step
// counts unless it is skipped; one factor clips and unscales.
// CHECK-LABEL: weft.program @around(
// CHECK-SAME: %[[OLD:[^:]*]]: tensor{{[^{]*}}{weft.input = "old"}
// CHECK-SAME: %[[VALUE:[^:]*]]: tensor{{[^{]*}}{weft.input = "value"}
// CHECK-SAME: %[[FLAG:[^:]*]]: tensor{{[^{]*}}{weft.input = "flag"}
// CHECK-SAME: %[[STEP:[^:]*]]: tensor{{[^{]*}}{weft.input = "step"}
// CHECK-SAME: %[[SKIP:[^:]*]]: tensor{{[^{]*}}{weft.input = "skip"}
// CHECK-SAME: %[[NORM:[^:]*]]: tensor{{[^{]*}}{weft.input = "norm"}
// CHECK-SAME: %[[MAX:[^:]*]]: tensor{{[^{]*}}{weft.input = "max"}
// CHECK-SAME: %[[SCALE:[^:]*]]: tensor{{[^{]*}}{weft.input = "scale"}
// CHECK: %[[V0:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK: %[[V1:.*]] = weft.compare eq %[[FLAG]], %[[V0]] : tensor<f32>, tensor<f32>
// CHECK: %[[V2:.*]] = weft.add %[[OLD]], %[[VALUE]] : tensor<4xf16>, tensor<4xf16>
// CHECK: %[[V3:.*]] = weft.select %[[V1]], %[[VALUE]], %[[V2]] : tensor<i1>, tensor<4xf16>, tensor<4xf16>
// CHECK: %[[V4:.*]] = weft.constant dense<1> : tensor<i64>
// CHECK: %[[V5:.*]] = weft.add %[[STEP]], %[[V4]] : tensor<i64>, tensor<i64>
// CHECK: %[[V6:.*]] = weft.select %[[SKIP]], %[[STEP]], %[[V5]] : tensor<i1>, tensor<i64>, tensor<i64>
// CHECK: %[[V7:.*]] = weft.constant dense<1.000000e+00> : tensor<f64>
// CHECK: %[[V8:.*]] = weft.constant dense<9.9999999999999995E-7> : tensor<f64>
// CHECK: %[[V9:.*]] = weft.add %[[NORM]], %[[V8]] : tensor<f64>, tensor<f64>
// CHECK: %[[V10:.*]] = weft.div %[[MAX]], %[[V9]] : tensor<f64>, tensor<f64>
// CHECK: %[[V11:.*]] = weft.constant dense<0.000000e+00> : tensor<f64>
// CHECK: %[[V12:.*]] = weft.compare gt %[[MAX]], %[[V11]] : tensor<f64>, tensor<f64>
// CHECK: %[[V13:.*]] = weft.constant dense<0x7FF0000000000000> : tensor<f64>
// CHECK: %[[V14:.*]] = weft.abs %[[NORM]] : tensor<f64>
// CHECK: %[[V15:.*]] = weft.compare lt %[[V14]], %[[V13]] : tensor<f64>, tensor<f64>
// CHECK: %[[V16:.*]] = weft.and %[[V12]], %[[V15]] : tensor<i1>, tensor<i1>
// CHECK: %[[V17:.*]] = weft.compare lt %[[V10]], %[[V7]] : tensor<f64>, tensor<f64>
// CHECK: %[[V18:.*]] = weft.and %[[V16]], %[[V17]] : tensor<i1>, tensor<i1>
// CHECK: %[[V19:.*]] = weft.select %[[V18]], %[[V10]], %[[V7]] : tensor<i1>, tensor<f64>, tensor<f64>
// CHECK: %[[V20:.*]] = weft.cast %[[V19]] : tensor<f64> to tensor<f32>
// CHECK: %[[V21:.*]] = weft.cast %[[SCALE]] : tensor<f32> to tensor<f64>
// CHECK: %[[V22:.*]] = weft.div %[[V7]], %[[V21]] : tensor<f64>, tensor<f64>
// CHECK: %[[V23:.*]] = weft.cast %[[V22]] : tensor<f64> to tensor<f32>
// CHECK: %[[V24:.*]] = weft.mul %[[V20]], %[[V23]] : tensor<f32>, tensor<f32>
// CHECK: weft.return %[[V3]], %[[V6]], %[[V24]] : tensor<4xf16>, tensor<i64>, tensor<f32>
weft.program @around(%old: tensor<4xf16> {weft.input = "old"}, %value: tensor<4xf16> {weft.input = "value"}, %flag: tensor<f32> {weft.input = "flag"},
    %step: tensor<i64> {weft.input = "step"}, %skip: tensor<i1> {weft.input = "skip"}, %norm: tensor<f64> {weft.input = "norm"},
    %max: tensor<f64> {weft.input = "max"}, %scale: tensor<f32> {weft.input = "scale"})
    -> (tensor<4xf16> {weft.output = "sum"}, tensor<i64> {weft.output = "next"}, tensor<f32> {weft.output = "coef"}) attributes {kind = #weft.kind<apply>} {
  %sum = weft.accumulate %old, %value, %flag : tensor<4xf16>
  %next = weft.step_increment %step, %skip
  %coef = weft.clip_coefficient %norm, %max scale %scale
  weft.return %sum, %next, %coef : tensor<4xf16>, tensor<i64>, tensor<f32>
}

// Rows of f64 sums in one list: of 128 elements where that leaves no rest, else of 4096
// with a shorter one behind them.
// CHECK-LABEL: weft.program @norm(
// CHECK-SAME: %[[A:[^:]*]]: tensor{{[^{]*}}{weft.input = "a"}
// CHECK-SAME: %[[B:[^:]*]]: tensor{{[^{]*}}{weft.input = "b"}
// CHECK: %[[V0:.*]] = weft.reshape %[[A]] : tensor<3x4096xbf16> to tensor<12288xbf16>
// CHECK: %[[V1:.*]] = weft.reshape %[[V0]] : tensor<12288xbf16> to tensor<96x128xbf16>
// CHECK: %[[V2:.*]] = weft.cast %[[V1]] : tensor<96x128xbf16> to tensor<96x128xf32>
// CHECK: %[[V3:.*]] = weft.abs %[[V2]] : tensor<96x128xf32>
// CHECK: %[[V4:.*]] = weft.cast %[[V3]] : tensor<96x128xf32> to tensor<96x128xf64>
// CHECK: %[[V5:.*]] = weft.mul %[[V4]], %[[V4]] : tensor<96x128xf64>, tensor<96x128xf64>
// CHECK: %[[V6:.*]] = weft.reduce sum %[[V5]] dims [1] {keep_dims} : tensor<96x128xf64>
// CHECK: %[[V7:.*]] = weft.reshape %[[V6]] : tensor<96x1xf64> to tensor<96xf64>
// CHECK: %[[V8:.*]] = weft.slice %[[B]] offsets [0] sizes [8192] strides [1] : tensor<9973xf32>
// CHECK: %[[V9:.*]] = weft.reshape %[[V8]] : tensor<8192xf32> to tensor<2x4096xf32>
// CHECK: %[[V10:.*]] = weft.abs %[[V9]] : tensor<2x4096xf32>
// CHECK: %[[V11:.*]] = weft.cast %[[V10]] : tensor<2x4096xf32> to tensor<2x4096xf64>
// CHECK: %[[V12:.*]] = weft.mul %[[V11]], %[[V11]] : tensor<2x4096xf64>, tensor<2x4096xf64>
// CHECK: %[[V13:.*]] = weft.reduce sum %[[V12]] dims [1] {keep_dims} : tensor<2x4096xf64>
// CHECK: %[[V14:.*]] = weft.reshape %[[V13]] : tensor<2x1xf64> to tensor<2xf64>
// CHECK: %[[V15:.*]] = weft.slice %[[B]] offsets [8192] sizes [1781] strides [1] : tensor<9973xf32>
// CHECK: %[[V16:.*]] = weft.reshape %[[V15]] : tensor<1781xf32> to tensor<1x1781xf32>
// CHECK: %[[V17:.*]] = weft.abs %[[V16]] : tensor<1x1781xf32>
// CHECK: %[[V18:.*]] = weft.cast %[[V17]] : tensor<1x1781xf32> to tensor<1x1781xf64>
// CHECK: %[[V19:.*]] = weft.mul %[[V18]], %[[V18]] : tensor<1x1781xf64>, tensor<1x1781xf64>
// CHECK: %[[V20:.*]] = weft.reduce sum %[[V19]] dims [1] {keep_dims} : tensor<1x1781xf64>
// CHECK: %[[V21:.*]] = weft.reshape %[[V20]] : tensor<1x1xf64> to tensor<1xf64>
// CHECK: %[[V22:.*]] = weft.concat %[[V7]], %[[V14]], %[[V21]] {dim = 0 : i64} : tensor<96xf64>, tensor<2xf64>, tensor<1xf64>
// CHECK: %[[V23:.*]] = weft.reduce sum %[[V22]] dims [0] {keep_dims} : tensor<99xf64>
// CHECK: %[[V24:.*]] = weft.reshape %[[V23]] : tensor<1xf64> to tensor<f64>
// CHECK: %[[V25:.*]] = weft.sqrt %[[V24]] : tensor<f64>
// CHECK: %[[V26:.*]] = weft.constant dense<0x7FF0000000000000> : tensor<f64>
// CHECK: %[[V27:.*]] = weft.abs %[[V24]] : tensor<f64>
// CHECK: %[[V28:.*]] = weft.compare lt %[[V27]], %[[V26]] : tensor<f64>, tensor<f64>
// CHECK: %[[V29:.*]] = weft.not %[[V28]] : tensor<i1>
// CHECK: weft.return %[[V25]], %[[V29]] : tensor<f64>, tensor<i1>
weft.program @norm(%a: tensor<3x4096xbf16> {weft.input = "a"}, %b: tensor<9973xf32> {weft.input = "b"})
    -> (tensor<f64> {weft.output = "norm"}, tensor<i1> {weft.output = "bad"}) attributes {kind = #weft.kind<apply>} {
  %norm, %bad = weft.norm_and_check %a, %b {p = 2.0 : f64} : tensor<3x4096xbf16>, tensor<9973xf32>
  weft.return %norm, %bad : tensor<f64>, tensor<i1>
}

// A sum or maximum that is not finite tells of an element that is not.
// CHECK-LABEL: weft.program @largest(
// CHECK-SAME: %[[A:[^:]*]]: tensor{{[^{]*}}{weft.input = "a"}
// CHECK: %[[V0:.*]] = weft.reshape %[[A]] : tensor<7xf32> to tensor<1x7xf32>
// CHECK: %[[V1:.*]] = weft.abs %[[V0]] : tensor<1x7xf32>
// CHECK: %[[V2:.*]] = weft.cast %[[V1]] : tensor<1x7xf32> to tensor<1x7xf64>
// CHECK: %[[V3:.*]] = weft.reduce max %[[V2]] dims [1] {keep_dims} : tensor<1x7xf64>
// CHECK: %[[V4:.*]] = weft.reshape %[[V3]] : tensor<1x1xf64> to tensor<1xf64>
// CHECK: %[[V5:.*]] = weft.reshape %[[V4]] : tensor<1xf64> to tensor<1xf64>
// CHECK: %[[V6:.*]] = weft.reshape %[[V5]] : tensor<1xf64> to tensor<f64>
// CHECK: %[[V7:.*]] = weft.constant dense<0x7FF0000000000000> : tensor<f64>
// CHECK: %[[V8:.*]] = weft.abs %[[V6]] : tensor<f64>
// CHECK: %[[V9:.*]] = weft.compare lt %[[V8]], %[[V7]] : tensor<f64>, tensor<f64>
// CHECK: %[[V10:.*]] = weft.not %[[V9]] : tensor<i1>
// CHECK: weft.return %[[V6]], %[[V10]] : tensor<f64>, tensor<i1>
weft.program @largest(%a: tensor<7xf32> {weft.input = "a"})
    -> (tensor<f64> {weft.output = "norm"}, tensor<i1> {weft.output = "bad"}) attributes {kind = #weft.kind<apply>} {
  %norm, %bad = weft.norm_and_check %a {p = 0x7FF0000000000000 : f64} : tensor<7xf32>
  weft.return %norm, %bad : tensor<f64>, tensor<i1>
}

// Norms that are skipped count as 0, unless all are; a norm alone stays.
// CHECK-LABEL: weft.program @total(
// CHECK-SAME: %[[A:[^:]*]]: tensor{{[^{]*}}{weft.input = "a"}
// CHECK-SAME: %[[B:[^:]*]]: tensor{{[^{]*}}{weft.input = "b"}
// CHECK-SAME: %[[X:[^:]*]]: tensor{{[^{]*}}{weft.input = "x"}
// CHECK-SAME: %[[Y:[^:]*]]: tensor{{[^{]*}}{weft.input = "y"}
// CHECK-SAME: %[[SCALE:[^:]*]]: tensor{{[^{]*}}{weft.input = "scale"}
// CHECK: %[[V0:.*]] = weft.and %[[X]], %[[Y]] : tensor<i1>, tensor<i1>
// CHECK: %[[V1:.*]] = weft.not %[[X]] : tensor<i1>
// CHECK: %[[V2:.*]] = weft.or %[[V0]], %[[V1]] : tensor<i1>, tensor<i1>
// CHECK: %[[V3:.*]] = weft.mul %[[A]], %[[A]] : tensor<f64>, tensor<f64>
// CHECK: %[[V4:.*]] = weft.mul %[[V3]], %[[A]] : tensor<f64>, tensor<f64>
// CHECK: %[[V5:.*]] = weft.constant dense<0.000000e+00> : tensor<f64>
// CHECK: %[[V6:.*]] = weft.select %[[V2]], %[[V4]], %[[V5]] : tensor<i1>, tensor<f64>, tensor<f64>
// CHECK: %[[V7:.*]] = weft.not %[[Y]] : tensor<i1>
// CHECK: %[[V8:.*]] = weft.or %[[V0]], %[[V7]] : tensor<i1>, tensor<i1>
// CHECK: %[[V9:.*]] = weft.mul %[[B]], %[[B]] : tensor<f64>, tensor<f64>
// CHECK: %[[V10:.*]] = weft.mul %[[V9]], %[[B]] : tensor<f64>, tensor<f64>
// CHECK: %[[V11:.*]] = weft.constant dense<0.000000e+00> : tensor<f64>
// CHECK: %[[V12:.*]] = weft.select %[[V8]], %[[V10]], %[[V11]] : tensor<i1>, tensor<f64>, tensor<f64>
// CHECK: %[[V13:.*]] = weft.add %[[V6]], %[[V12]] : tensor<f64>, tensor<f64>
// CHECK: %[[V14:.*]] = weft.constant dense<0.33333333333333331> : tensor<f64>
// CHECK: %[[V15:.*]] = weft.pow %[[V13]], %[[V14]] : tensor<f64>, tensor<f64>
// CHECK: %[[V16:.*]] = weft.cast %[[SCALE]] : tensor<f32> to tensor<f64>
// CHECK: %[[V17:.*]] = weft.div %[[V15]], %[[V16]] : tensor<f64>, tensor<f64>
// CHECK: weft.return %[[V17]], %[[A]] : tensor<f64>, tensor<f64>
weft.program @total(%a: tensor<f64> {weft.input = "a"}, %b: tensor<f64> {weft.input = "b"}, %x: tensor<i1> {weft.input = "x"}, %y: tensor<i1> {weft.input = "y"},
    %scale: tensor<f32> {weft.input = "scale"})
    -> (tensor<f64> {weft.output = "norm"}, tensor<f64> {weft.output = "one"}) attributes {kind = #weft.kind<apply>} {
  %norm = weft.total_norm %a, %b skip %x, %y scale %scale {p = 3.0 : f64}
  %one = weft.total_norm %a skip %x {p = 3.0 : f64}
  weft.return %norm, %one : tensor<f64>, tensor<f64>
}
