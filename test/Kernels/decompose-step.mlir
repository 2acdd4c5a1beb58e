// RUN: weft-opt %s --weft-decompose | FileCheck %s
// What a step does to gradients, parameters and the loss scale, as formulas.

// Numbers that are the same for all elements come first, in f64, and are rounded
// once; a skipped update is the old value, and the working copy what is kept.
// CHECK-LABEL: weft.program @adamw(
// CHECK-SAME: %[[P:[^:]*]]: tensor{{[^{]*}}{weft.input = "p"}
// CHECK-SAME: %[[M:[^:]*]]: tensor{{[^{]*}}{weft.input = "m"}
// CHECK-SAME: %[[V:[^:]*]]: tensor{{[^{]*}}{weft.input = "v"}
// CHECK-SAME: %[[G:[^:]*]]: tensor{{[^{]*}}{weft.input = "g"}
// CHECK-SAME: %[[COEF:[^:]*]]: tensor{{[^{]*}}{weft.input = "coef"}
// CHECK-SAME: %[[SKIP:[^:]*]]: tensor{{[^{]*}}{weft.input = "skip"}
// CHECK-SAME: %[[STEP:[^:]*]]: tensor{{[^{]*}}{weft.input = "step"}
// CHECK-SAME: %[[LR:[^:]*]]: tensor{{[^{]*}}{weft.input = "lr"}
// CHECK-SAME: %[[WD:[^:]*]]: tensor{{[^{]*}}{weft.input = "wd"}
// CHECK-SAME: %[[B1:[^:]*]]: tensor{{[^{]*}}{weft.input = "b1"}
// CHECK-SAME: %[[B2:[^:]*]]: tensor{{[^{]*}}{weft.input = "b2"}
// CHECK-SAME: %[[EPS:[^:]*]]: tensor{{[^{]*}}{weft.input = "eps"}
// CHECK: %[[V0:.*]] = weft.constant dense<5.000000e-01> : tensor<f64>
// CHECK: %[[V1:.*]] = weft.mul %[[LR]], %[[V0]] : tensor<f64>, tensor<f64>
// CHECK: %[[V2:.*]] = weft.constant dense<1.000000e+00> : tensor<f64>
// CHECK: %[[V3:.*]] = weft.mul %[[V1]], %[[WD]] : tensor<f64>, tensor<f64>
// CHECK: %[[V4:.*]] = weft.sub %[[V2]], %[[V3]] : tensor<f64>, tensor<f64>
// CHECK: %[[V5:.*]] = weft.cast %[[V4]] : tensor<f64> to tensor<f32>
// CHECK: %[[V6:.*]] = weft.constant dense<1.000000e+00> : tensor<f64>
// CHECK: %[[V7:.*]] = weft.sub %[[V6]], %[[B1]] : tensor<f64>, tensor<f64>
// CHECK: %[[V8:.*]] = weft.cast %[[V7]] : tensor<f64> to tensor<f32>
// CHECK: %[[V9:.*]] = weft.constant dense<5.000000e-01> : tensor<f32>
// CHECK: %[[V10:.*]] = weft.compare lt %[[V8]], %[[V9]] : tensor<f32>, tensor<f32>
// CHECK: %[[V11:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[V12:.*]] = weft.sub %[[V8]], %[[V11]] : tensor<f32>, tensor<f32>
// CHECK: %[[V13:.*]] = weft.select %[[V10]], %[[V8]], %[[V12]] : tensor<i1>, tensor<f32>, tensor<f32>
// CHECK: %[[V14:.*]] = weft.cast %[[B2]] : tensor<f64> to tensor<f32>
// CHECK: %[[V15:.*]] = weft.constant dense<1.000000e+00> : tensor<f64>
// CHECK: %[[V16:.*]] = weft.sub %[[V15]], %[[B2]] : tensor<f64>, tensor<f64>
// CHECK: %[[V17:.*]] = weft.cast %[[V16]] : tensor<f64> to tensor<f32>
// CHECK: %[[V18:.*]] = weft.cast %[[STEP]] : tensor<i64> to tensor<f64>
// CHECK: %[[V19:.*]] = weft.constant dense<1.000000e+00> : tensor<f64>
// CHECK: %[[V20:.*]] = weft.pow %[[B1]], %[[V18]] : tensor<f64>, tensor<f64>
// CHECK: %[[V21:.*]] = weft.sub %[[V19]], %[[V20]] : tensor<f64>, tensor<f64>
// CHECK: %[[V22:.*]] = weft.div %[[V1]], %[[V21]] : tensor<f64>, tensor<f64>
// CHECK: %[[V23:.*]] = weft.cast %[[V22]] : tensor<f64> to tensor<f32>
// CHECK: %[[V24:.*]] = weft.constant dense<1.000000e+00> : tensor<f64>
// CHECK: %[[V25:.*]] = weft.pow %[[B2]], %[[V18]] : tensor<f64>, tensor<f64>
// CHECK: %[[V26:.*]] = weft.sub %[[V24]], %[[V25]] : tensor<f64>, tensor<f64>
// CHECK: %[[V27:.*]] = weft.sqrt %[[V26]] : tensor<f64>
// CHECK: %[[V28:.*]] = weft.cast %[[V27]] : tensor<f64> to tensor<f32>
// CHECK: %[[V29:.*]] = weft.cast %[[EPS]] : tensor<f64> to tensor<f32>
// CHECK: %[[V30:.*]] = weft.cast %[[G]] : tensor<4xf16> to tensor<4xf32>
// CHECK: %[[V31:.*]] = weft.mul %[[V30]], %[[COEF]] : tensor<4xf32>, tensor<f32>
// CHECK: %[[V32:.*]] = weft.mul %[[P]], %[[V5]] : tensor<4xf32>, tensor<f32>
// CHECK: %[[V33:.*]] = weft.select %[[V10]], %[[M]], %[[V31]] : tensor<i1>, tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V34:.*]] = weft.sub %[[V31]], %[[M]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V35:.*]] = weft.mul %[[V13]], %[[V34]] : tensor<f32>, tensor<4xf32>
// CHECK: %[[V36:.*]] = weft.add %[[V33]], %[[V35]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V37:.*]] = weft.mul %[[V17]], %[[V31]] : tensor<f32>, tensor<4xf32>
// CHECK: %[[V38:.*]] = weft.mul %[[V37]], %[[V31]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V39:.*]] = weft.mul %[[V]], %[[V14]] : tensor<4xf32>, tensor<f32>
// CHECK: %[[V40:.*]] = weft.add %[[V39]], %[[V38]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V41:.*]] = weft.sqrt %[[V40]] : tensor<4xf32>
// CHECK: %[[V42:.*]] = weft.div %[[V41]], %[[V28]] : tensor<4xf32>, tensor<f32>
// CHECK: %[[V43:.*]] = weft.mul %[[V23]], %[[V36]] : tensor<f32>, tensor<4xf32>
// CHECK: %[[V44:.*]] = weft.add %[[V42]], %[[V29]] : tensor<4xf32>, tensor<f32>
// CHECK: %[[V45:.*]] = weft.div %[[V43]], %[[V44]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V46:.*]] = weft.sub %[[V32]], %[[V45]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V47:.*]] = weft.select %[[SKIP]], %[[P]], %[[V46]] : tensor<i1>, tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V48:.*]] = weft.select %[[SKIP]], %[[M]], %[[V36]] : tensor<i1>, tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V49:.*]] = weft.select %[[SKIP]], %[[V]], %[[V40]] : tensor<i1>, tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V50:.*]] = weft.cast %[[V47]] : tensor<4xf32> to tensor<4xbf16>
// CHECK: weft.return %[[V47]], %[[V48]], %[[V49]], %[[V50]] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>
weft.program @adamw(%p: tensor<4xf32> {weft.input = "p"}, %m: tensor<4xf32> {weft.input = "m"}, %v: tensor<4xf32> {weft.input = "v"},
    %g: tensor<4xf16> {weft.input = "g"}, %coef: tensor<f32> {weft.input = "coef"}, %skip: tensor<i1> {weft.input = "skip"},
    %step: tensor<i64> {weft.input = "step"}, %lr: tensor<f64> {weft.input = "lr"}, %wd: tensor<f64> {weft.input = "wd"},
    %b1: tensor<f64> {weft.input = "b1"}, %b2: tensor<f64> {weft.input = "b2"}, %eps: tensor<f64> {weft.input = "eps"})
    -> (tensor<4xf32> {weft.output = "np"}, tensor<4xf32> {weft.output = "nm"}, tensor<4xf32> {weft.output = "nv"}, tensor<4xbf16> {weft.output = "w"})
    attributes {kind = #weft.kind<apply>} {
  %np, %nm, %nv, %w = weft.adamw(%p, %m, %v, %g, %coef, %skip, %step, %lr, %wd, %b1, %b2, %eps) {lr_scale = 0.5 : f64}
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>)
  weft.return %np, %nm, %nv, %w : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>
}

// The decay is added to the gradient; a low parameter is computed in f32.
// CHECK-LABEL: weft.program @adam(
// CHECK-SAME: %[[P:[^:]*]]: tensor{{[^{]*}}{weft.input = "p"}
// CHECK-SAME: %[[M:[^:]*]]: tensor{{[^{]*}}{weft.input = "m"}
// CHECK-SAME: %[[V:[^:]*]]: tensor{{[^{]*}}{weft.input = "v"}
// CHECK-SAME: %[[COEF:[^:]*]]: tensor{{[^{]*}}{weft.input = "coef"}
// CHECK-SAME: %[[SKIP:[^:]*]]: tensor{{[^{]*}}{weft.input = "skip"}
// CHECK-SAME: %[[STEP:[^:]*]]: tensor{{[^{]*}}{weft.input = "step"}
// CHECK-SAME: %[[N:[^:]*]]: tensor{{[^{]*}}{weft.input = "n"}
// CHECK: %[[V0:.*]] = weft.cast %[[N]] : tensor<f64> to tensor<f32>
// CHECK: %[[V1:.*]] = weft.constant dense<1.000000e+00> : tensor<f64>
// CHECK: %[[V2:.*]] = weft.sub %[[V1]], %[[N]] : tensor<f64>, tensor<f64>
// CHECK: %[[V3:.*]] = weft.cast %[[V2]] : tensor<f64> to tensor<f32>
// CHECK: %[[V4:.*]] = weft.constant dense<5.000000e-01> : tensor<f32>
// CHECK: %[[V5:.*]] = weft.compare lt %[[V3]], %[[V4]] : tensor<f32>, tensor<f32>
// CHECK: %[[V6:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[V7:.*]] = weft.sub %[[V3]], %[[V6]] : tensor<f32>, tensor<f32>
// CHECK: %[[V8:.*]] = weft.select %[[V5]], %[[V3]], %[[V7]] : tensor<i1>, tensor<f32>, tensor<f32>
// CHECK: %[[V9:.*]] = weft.constant dense<1.000000e+00> : tensor<f64>
// CHECK: %[[V10:.*]] = weft.cast %[[STEP]] : tensor<i64> to tensor<f64>
// CHECK: %[[V11:.*]] = weft.constant dense<1.000000e+00> : tensor<f64>
// CHECK: %[[V12:.*]] = weft.pow %[[N]], %[[V10]] : tensor<f64>, tensor<f64>
// CHECK: %[[V13:.*]] = weft.sub %[[V11]], %[[V12]] : tensor<f64>, tensor<f64>
// CHECK: %[[V14:.*]] = weft.div %[[N]], %[[V13]] : tensor<f64>, tensor<f64>
// CHECK: %[[V15:.*]] = weft.cast %[[V14]] : tensor<f64> to tensor<f32>
// CHECK: %[[V16:.*]] = weft.constant dense<1.000000e+00> : tensor<f64>
// CHECK: %[[V17:.*]] = weft.sqrt %[[V13]] : tensor<f64>
// CHECK: %[[V18:.*]] = weft.cast %[[V17]] : tensor<f64> to tensor<f32>
// CHECK: %[[V19:.*]] = weft.cast %[[P]] : tensor<4xbf16> to tensor<4xf32>
// CHECK: %[[V20:.*]] = weft.cast %[[P]] : tensor<4xbf16> to tensor<4xf32>
// CHECK: %[[V21:.*]] = weft.mul %[[V20]], %[[COEF]] : tensor<4xf32>, tensor<f32>
// CHECK: %[[V22:.*]] = weft.mul %[[V19]], %[[V0]] : tensor<4xf32>, tensor<f32>
// CHECK: %[[V23:.*]] = weft.add %[[V21]], %[[V22]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V24:.*]] = weft.select %[[V5]], %[[M]], %[[V23]] : tensor<i1>, tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V25:.*]] = weft.sub %[[V23]], %[[M]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V26:.*]] = weft.mul %[[V8]], %[[V25]] : tensor<f32>, tensor<4xf32>
// CHECK: %[[V27:.*]] = weft.add %[[V24]], %[[V26]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V28:.*]] = weft.mul %[[V3]], %[[V23]] : tensor<f32>, tensor<4xf32>
// CHECK: %[[V29:.*]] = weft.mul %[[V28]], %[[V23]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V30:.*]] = weft.mul %[[V]], %[[V0]] : tensor<4xf32>, tensor<f32>
// CHECK: %[[V31:.*]] = weft.add %[[V30]], %[[V29]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V32:.*]] = weft.sqrt %[[V31]] : tensor<4xf32>
// CHECK: %[[V33:.*]] = weft.div %[[V32]], %[[V18]] : tensor<4xf32>, tensor<f32>
// CHECK: %[[V34:.*]] = weft.mul %[[V15]], %[[V27]] : tensor<f32>, tensor<4xf32>
// CHECK: %[[V35:.*]] = weft.add %[[V33]], %[[V0]] : tensor<4xf32>, tensor<f32>
// CHECK: %[[V36:.*]] = weft.div %[[V34]], %[[V35]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V37:.*]] = weft.sub %[[V19]], %[[V36]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V38:.*]] = weft.cast %[[V37]] : tensor<4xf32> to tensor<4xbf16>
// CHECK: %[[V39:.*]] = weft.select %[[SKIP]], %[[P]], %[[V38]] : tensor<i1>, tensor<4xbf16>, tensor<4xbf16>
// CHECK: %[[V40:.*]] = weft.select %[[SKIP]], %[[M]], %[[V27]] : tensor<i1>, tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V41:.*]] = weft.select %[[SKIP]], %[[V]], %[[V31]] : tensor<i1>, tensor<4xf32>, tensor<4xf32>
// CHECK: weft.return %[[V39]] : tensor<4xbf16>
weft.program @adam(%p: tensor<4xbf16> {weft.input = "p"}, %m: tensor<4xf32> {weft.input = "m"}, %v: tensor<4xf32> {weft.input = "v"},
    %coef: tensor<f32> {weft.input = "coef"}, %skip: tensor<i1> {weft.input = "skip"},
    %step: tensor<i64> {weft.input = "step"}, %n: tensor<f64> {weft.input = "n"})
    -> (tensor<4xbf16> {weft.output = "np"}) attributes {kind = #weft.kind<apply>} {
  %np, %nm, %nv = weft.adam(%p, %m, %v, %p, %coef, %skip, %step, %n, %n, %n, %n, %n)
      : (tensor<4xbf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>)
      -> (tensor<4xbf16>, tensor<4xf32>, tensor<4xf32>)
  weft.return %np : tensor<4xbf16>
}

// The momentum begins with the first gradient.
// CHECK-LABEL: weft.program @sgd(
// CHECK-SAME: %[[P:[^:]*]]: tensor{{[^{]*}}{weft.input = "p"}
// CHECK-SAME: %[[B:[^:]*]]: tensor{{[^{]*}}{weft.input = "b"}
// CHECK-SAME: %[[G:[^:]*]]: tensor{{[^{]*}}{weft.input = "g"}
// CHECK-SAME: %[[COEF:[^:]*]]: tensor{{[^{]*}}{weft.input = "coef"}
// CHECK-SAME: %[[SKIP:[^:]*]]: tensor{{[^{]*}}{weft.input = "skip"}
// CHECK-SAME: %[[STEP:[^:]*]]: tensor{{[^{]*}}{weft.input = "step"}
// CHECK-SAME: %[[LR:[^:]*]]: tensor{{[^{]*}}{weft.input = "lr"}
// CHECK-SAME: %[[WD:[^:]*]]: tensor{{[^{]*}}{weft.input = "wd"}
// CHECK-SAME: %[[MU:[^:]*]]: tensor{{[^{]*}}{weft.input = "mu"}
// CHECK: %[[V0:.*]] = weft.cast %[[LR]] : tensor<f64> to tensor<f32>
// CHECK: %[[V1:.*]] = weft.cast %[[WD]] : tensor<f64> to tensor<f32>
// CHECK: %[[V2:.*]] = weft.cast %[[MU]] : tensor<f64> to tensor<f32>
// CHECK: %[[V3:.*]] = weft.constant dense<1> : tensor<i64>
// CHECK: %[[V4:.*]] = weft.compare eq %[[STEP]], %[[V3]] : tensor<i64>, tensor<i64>
// CHECK: %[[V5:.*]] = weft.mul %[[G]], %[[COEF]] : tensor<4xf32>, tensor<f32>
// CHECK: %[[V6:.*]] = weft.mul %[[P]], %[[V1]] : tensor<4xf32>, tensor<f32>
// CHECK: %[[V7:.*]] = weft.add %[[V5]], %[[V6]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V8:.*]] = weft.mul %[[B]], %[[V2]] : tensor<4xf32>, tensor<f32>
// CHECK: %[[V9:.*]] = weft.add %[[V8]], %[[V7]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V10:.*]] = weft.select %[[V4]], %[[V7]], %[[V9]] : tensor<i1>, tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V11:.*]] = weft.mul %[[V2]], %[[V10]] : tensor<f32>, tensor<4xf32>
// CHECK: %[[V12:.*]] = weft.add %[[V7]], %[[V11]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V13:.*]] = weft.mul %[[V0]], %[[V12]] : tensor<f32>, tensor<4xf32>
// CHECK: %[[V14:.*]] = weft.sub %[[P]], %[[V13]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V15:.*]] = weft.select %[[SKIP]], %[[P]], %[[V14]] : tensor<i1>, tensor<4xf32>, tensor<4xf32>
// CHECK: %[[V16:.*]] = weft.select %[[SKIP]], %[[B]], %[[V10]] : tensor<i1>, tensor<4xf32>, tensor<4xf32>
// CHECK: weft.return %[[V15]], %[[V16]] : tensor<4xf32>, tensor<4xf32>
weft.program @sgd(%p: tensor<4xf32> {weft.input = "p"}, %b: tensor<4xf32> {weft.input = "b"}, %g: tensor<4xf32> {weft.input = "g"},
    %coef: tensor<f32> {weft.input = "coef"}, %skip: tensor<i1> {weft.input = "skip"}, %step: tensor<i64> {weft.input = "step"},
    %lr: tensor<f64> {weft.input = "lr"}, %wd: tensor<f64> {weft.input = "wd"}, %mu: tensor<f64> {weft.input = "mu"})
    -> (tensor<4xf32> {weft.output = "np"}, tensor<4xf32> {weft.output = "nb"}) attributes {kind = #weft.kind<apply>} {
  %np, %nb = weft.sgd(%p, %b, %g, %coef, %skip, %step, %lr, %wd, %mu) {nesterov}
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
  weft.return %np, %nb : tensor<4xf32>, tensor<4xf32>
}

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

// Fields that stay are written as well: the new state lies where the old one is.
// CHECK-LABEL: weft.program @torch(
// CHECK-SAME: %[[SCALE:[^:]*]]: tensor{{[^{]*}}{weft.input = "scale"}
// CHECK-SAME: %[[STATE:[^:]*]]: tensor{{[^{]*}}{weft.input = "state"}
// CHECK-SAME: %[[BAD:[^:]*]]: tensor{{[^{]*}}{weft.input = "bad"}
// CHECK: %[[V0:.*]] = weft.slice %[[STATE]] offsets [0] sizes [1] strides [1] : tensor<3xi64>
// CHECK: %[[V1:.*]] = weft.reshape %[[V0]] : tensor<1xi64> to tensor<i64>
// CHECK: %[[V2:.*]] = weft.slice %[[STATE]] offsets [1] sizes [1] strides [1] : tensor<3xi64>
// CHECK: %[[V3:.*]] = weft.reshape %[[V2]] : tensor<1xi64> to tensor<i64>
// CHECK: %[[V4:.*]] = weft.slice %[[STATE]] offsets [2] sizes [1] strides [1] : tensor<3xi64>
// CHECK: %[[V5:.*]] = weft.reshape %[[V4]] : tensor<1xi64> to tensor<i64>
// CHECK: %[[V6:.*]] = weft.constant dense<1> : tensor<i64>
// CHECK: %[[V7:.*]] = weft.add %[[V1]], %[[V6]] : tensor<i64>, tensor<i64>
// CHECK: %[[V8:.*]] = weft.constant dense<0> : tensor<i64>
// CHECK: %[[V9:.*]] = weft.constant dense<500> : tensor<i64>
// CHECK: %[[V10:.*]] = weft.compare ge %[[V7]], %[[V9]] : tensor<i64>, tensor<i64>
// CHECK: %[[V11:.*]] = weft.not %[[BAD]] : tensor<i1>
// CHECK: %[[V12:.*]] = weft.and %[[V11]], %[[V10]] : tensor<i1>, tensor<i1>
// CHECK: %[[V13:.*]] = weft.cast %[[SCALE]] : tensor<f32> to tensor<f64>
// CHECK: %[[V14:.*]] = weft.constant dense<0.000000e+00> : tensor<f64>
// CHECK: %[[V15:.*]] = weft.constant dense<5.000000e-01> : tensor<f64>
// CHECK: %[[V16:.*]] = weft.mul %[[V13]], %[[V15]] : tensor<f64>, tensor<f64>
// CHECK: %[[V17:.*]] = weft.max %[[V16]], %[[V14]] : tensor<f64>, tensor<f64>
// CHECK: %[[V18:.*]] = weft.cast %[[V17]] : tensor<f64> to tensor<f32>
// CHECK: %[[V19:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK: %[[V20:.*]] = weft.compare eq %[[V18]], %[[V19]] : tensor<f32>, tensor<f32>
// CHECK: %[[V21:.*]] = weft.cast %[[SCALE]] : tensor<f32> to tensor<f64>
// CHECK: %[[V22:.*]] = weft.constant dense<2.000000e+00> : tensor<f64>
// CHECK: %[[V23:.*]] = weft.mul %[[V21]], %[[V22]] : tensor<f64>, tensor<f64>
// CHECK: %[[V24:.*]] = weft.cast %[[V23]] : tensor<f64> to tensor<f32>
// CHECK: %[[V25:.*]] = weft.constant dense<0x7F800000> : tensor<f32>
// CHECK: %[[V26:.*]] = weft.abs %[[V24]] : tensor<f32>
// CHECK: %[[V27:.*]] = weft.compare lt %[[V26]], %[[V25]] : tensor<f32>, tensor<f32>
// CHECK: %[[V28:.*]] = weft.select %[[V27]], %[[V24]], %[[SCALE]] : tensor<i1>, tensor<f32>, tensor<f32>
// CHECK: %[[V29:.*]] = weft.select %[[V12]], %[[V28]], %[[SCALE]] : tensor<i1>, tensor<f32>, tensor<f32>
// CHECK: %[[V30:.*]] = weft.select %[[BAD]], %[[V18]], %[[V29]] : tensor<i1>, tensor<f32>, tensor<f32>
// CHECK: %[[V31:.*]] = weft.and %[[BAD]], %[[V20]] : tensor<i1>, tensor<i1>
// CHECK: %[[V32:.*]] = weft.or %[[BAD]], %[[V10]] : tensor<i1>, tensor<i1>
// CHECK: %[[V33:.*]] = weft.select %[[V32]], %[[V8]], %[[V7]] : tensor<i1>, tensor<i64>, tensor<i64>
// CHECK: %[[V34:.*]] = weft.materialize %[[V3]] : tensor<i64>
// CHECK: %[[V35:.*]] = weft.materialize %[[V5]] : tensor<i64>
// CHECK: %[[V36:.*]] = weft.reshape %[[V33]] : tensor<i64> to tensor<1xi64>
// CHECK: %[[V37:.*]] = weft.reshape %[[V34]] : tensor<i64> to tensor<1xi64>
// CHECK: %[[V38:.*]] = weft.reshape %[[V35]] : tensor<i64> to tensor<1xi64>
// CHECK: %[[V39:.*]] = weft.concat %[[V36]], %[[V37]], %[[V38]] {dim = 0 : i64} : tensor<1xi64>, tensor<1xi64>, tensor<1xi64>
// CHECK: weft.return %[[V30]], %[[V39]], %[[V31]] : tensor<f32>, tensor<3xi64>, tensor<i1>
weft.program @torch(%scale: tensor<f32> {weft.input = "scale"}, %state: tensor<3xi64> {weft.input = "state"}, %bad: tensor<i1> {weft.input = "bad"})
    -> (tensor<f32> {weft.output = "s"}, tensor<3xi64> {weft.output = "n"}, tensor<i1> {weft.output = "e"}) attributes {kind = #weft.kind<apply>} {
  %s, %n, %e = weft.scaler_update %scale, %state, %bad by #weft.scaler<torch, interval = 500>
  weft.return %s, %n, %e : tensor<f32>, tensor<3xi64>, tensor<i1>
}

// An overflow spends hysteresis before the scale shrinks, down to its minimum.
// CHECK-LABEL: weft.program @deepspeed(
// CHECK-SAME: %[[SCALE:[^:]*]]: tensor{{[^{]*}}{weft.input = "scale"}
// CHECK-SAME: %[[STATE:[^:]*]]: tensor{{[^{]*}}{weft.input = "state"}
// CHECK-SAME: %[[BAD:[^:]*]]: tensor{{[^{]*}}{weft.input = "bad"}
// CHECK: %[[V0:.*]] = weft.slice %[[STATE]] offsets [0] sizes [1] strides [1] : tensor<3xi64>
// CHECK: %[[V1:.*]] = weft.reshape %[[V0]] : tensor<1xi64> to tensor<i64>
// CHECK: %[[V2:.*]] = weft.slice %[[STATE]] offsets [1] sizes [1] strides [1] : tensor<3xi64>
// CHECK: %[[V3:.*]] = weft.reshape %[[V2]] : tensor<1xi64> to tensor<i64>
// CHECK: %[[V4:.*]] = weft.slice %[[STATE]] offsets [2] sizes [1] strides [1] : tensor<3xi64>
// CHECK: %[[V5:.*]] = weft.reshape %[[V4]] : tensor<1xi64> to tensor<i64>
// CHECK: %[[V6:.*]] = weft.constant dense<2> : tensor<i64>
// CHECK: %[[V7:.*]] = weft.sub %[[V1]], %[[V3]] : tensor<i64>, tensor<i64>
// CHECK: %[[V8:.*]] = weft.constant dense<500> : tensor<i64>
// CHECK: %[[V9:.*]] = weft.div %[[V7]], %[[V8]] : tensor<i64>, tensor<i64>
// CHECK: %[[V10:.*]] = weft.mul %[[V9]], %[[V8]] : tensor<i64>, tensor<i64>
// CHECK: %[[V11:.*]] = weft.compare eq %[[V10]], %[[V7]] : tensor<i64>, tensor<i64>
// CHECK: %[[V12:.*]] = weft.not %[[BAD]] : tensor<i1>
// CHECK: %[[V13:.*]] = weft.and %[[V12]], %[[V11]] : tensor<i1>, tensor<i1>
// CHECK: %[[V14:.*]] = weft.constant dense<1> : tensor<i64>
// CHECK: %[[V15:.*]] = weft.compare gt %[[V5]], %[[V14]] : tensor<i64>, tensor<i64>
// CHECK: %[[V16:.*]] = weft.not %[[V15]] : tensor<i1>
// CHECK: %[[V17:.*]] = weft.and %[[BAD]], %[[V16]] : tensor<i1>, tensor<i1>
// CHECK: %[[V18:.*]] = weft.cast %[[SCALE]] : tensor<f32> to tensor<f64>
// CHECK: %[[V19:.*]] = weft.constant dense<1.000000e+00> : tensor<f64>
// CHECK: %[[V20:.*]] = weft.constant dense<5.000000e-01> : tensor<f64>
// CHECK: %[[V21:.*]] = weft.mul %[[V18]], %[[V20]] : tensor<f64>, tensor<f64>
// CHECK: %[[V22:.*]] = weft.max %[[V21]], %[[V19]] : tensor<f64>, tensor<f64>
// CHECK: %[[V23:.*]] = weft.cast %[[V22]] : tensor<f64> to tensor<f32>
// CHECK: %[[V24:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK: %[[V25:.*]] = weft.compare eq %[[V23]], %[[V24]] : tensor<f32>, tensor<f32>
// CHECK: %[[V26:.*]] = weft.compare le %[[V18]], %[[V19]] : tensor<f64>, tensor<f64>
// CHECK: %[[V27:.*]] = weft.select %[[V26]], %[[SCALE]], %[[V23]] : tensor<i1>, tensor<f32>, tensor<f32>
// CHECK: %[[V28:.*]] = weft.or %[[V26]], %[[V25]] : tensor<i1>, tensor<i1>
// CHECK: %[[V29:.*]] = weft.cast %[[SCALE]] : tensor<f32> to tensor<f64>
// CHECK: %[[V30:.*]] = weft.constant dense<2.000000e+00> : tensor<f64>
// CHECK: %[[V31:.*]] = weft.mul %[[V29]], %[[V30]] : tensor<f64>, tensor<f64>
// CHECK: %[[V32:.*]] = weft.cast %[[V31]] : tensor<f64> to tensor<f32>
// CHECK: %[[V33:.*]] = weft.constant dense<0x7F800000> : tensor<f32>
// CHECK: %[[V34:.*]] = weft.abs %[[V32]] : tensor<f32>
// CHECK: %[[V35:.*]] = weft.compare lt %[[V34]], %[[V33]] : tensor<f32>, tensor<f32>
// CHECK: %[[V36:.*]] = weft.select %[[V35]], %[[V32]], %[[SCALE]] : tensor<i1>, tensor<f32>, tensor<f32>
// CHECK: %[[V37:.*]] = weft.select %[[V13]], %[[V36]], %[[SCALE]] : tensor<i1>, tensor<f32>, tensor<f32>
// CHECK: %[[V38:.*]] = weft.select %[[V17]], %[[V27]], %[[V37]] : tensor<i1>, tensor<f32>, tensor<f32>
// CHECK: %[[V39:.*]] = weft.and %[[V17]], %[[V28]] : tensor<i1>, tensor<i1>
// CHECK: %[[V40:.*]] = weft.constant dense<1> : tensor<i64>
// CHECK: %[[V41:.*]] = weft.sub %[[V5]], %[[V40]] : tensor<i64>, tensor<i64>
// CHECK: %[[V42:.*]] = weft.select %[[V15]], %[[V41]], %[[V5]] : tensor<i1>, tensor<i64>, tensor<i64>
// CHECK: %[[V43:.*]] = weft.not %[[BAD]] : tensor<i1>
// CHECK: %[[V44:.*]] = weft.constant dense<1> : tensor<i64>
// CHECK: %[[V45:.*]] = weft.add %[[V1]], %[[V44]] : tensor<i64>, tensor<i64>
// CHECK: %[[V46:.*]] = weft.select %[[BAD]], %[[V1]], %[[V3]] : tensor<i1>, tensor<i64>, tensor<i64>
// CHECK: %[[V47:.*]] = weft.select %[[V43]], %[[V6]], %[[V5]] : tensor<i1>, tensor<i64>, tensor<i64>
// CHECK: %[[V48:.*]] = weft.select %[[BAD]], %[[V42]], %[[V47]] : tensor<i1>, tensor<i64>, tensor<i64>
// CHECK: %[[V49:.*]] = weft.reshape %[[V45]] : tensor<i64> to tensor<1xi64>
// CHECK: %[[V50:.*]] = weft.reshape %[[V46]] : tensor<i64> to tensor<1xi64>
// CHECK: %[[V51:.*]] = weft.reshape %[[V48]] : tensor<i64> to tensor<1xi64>
// CHECK: %[[V52:.*]] = weft.concat %[[V49]], %[[V50]], %[[V51]] {dim = 0 : i64} : tensor<1xi64>, tensor<1xi64>, tensor<1xi64>
// CHECK: weft.return %[[V38]], %[[V52]], %[[V39]] : tensor<f32>, tensor<3xi64>, tensor<i1>
weft.program @deepspeed(%scale: tensor<f32> {weft.input = "scale"}, %state: tensor<3xi64> {weft.input = "state"}, %bad: tensor<i1> {weft.input = "bad"})
    -> (tensor<f32> {weft.output = "s"}, tensor<3xi64> {weft.output = "n"}, tensor<i1> {weft.output = "e"}) attributes {kind = #weft.kind<apply>} {
  %s, %n, %e = weft.scaler_update %scale, %state, %bad by #weft.scaler<deepspeed, interval = 500, consecutive = true>
  weft.return %s, %n, %e : tensor<f32>, tensor<3xi64>, tensor<i1>
}
