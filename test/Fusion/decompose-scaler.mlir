// DEFINE: %{plain} = sed -E 's/weft[.](formula|update) = ("[^"]*"|[0-9]+ : i64)(, )?//g; s/, [}]/}/; s/ [{][}]//'
// RUN: weft-opt %s --weft-decompose | %{plain} | FileCheck %s
// Updates of the loss scale as formulas.

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
