// DEFINE: %{plain} = sed -E 's/weft[.](formula|update) = ("[^"]*"|[0-9]+ : i64)(, )?//g; s/, [}]/}/; s/ [{][}]//'
// RUN: weft-opt %s --weft-decompose | %{plain} | FileCheck %s
// Updates of parameters as formulas.

// Numbers that are the same for all elements come first, in f64, and are rounded
// once; a skipped update is the old value, and the working copy is the kept value.
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
