// DEFINE: %{plain} = sed -E 's/weft[.](formula|update) = ("[^"]*"|[0-9]+ : i64)(, )?//g; s/, [}]/}/; s/ [{][}]//'
// RUN: weft-opt %s --weft-decompose | %{plain} | FileCheck %s
// Composite ops become formulas; scopes are kept.

// CHECK-LABEL: weft.program @silu
// CHECK: %[[ONE:.*]] = weft.constant {{.*}}dense<1.0
// CHECK: %[[N:.*]] = weft.neg %arg0 {weft.scope = "h.0"}
// CHECK: %[[E:.*]] = weft.exp %[[N]]
// CHECK: %[[D:.*]] = weft.add %[[ONE]], %[[E]]
// CHECK: %[[S:.*]] = weft.div %[[ONE]], %[[D]]
// CHECK: weft.mul %arg0, %[[S]]
weft.program @silu(%x: tensor<8xf32> {weft.input = "x"})
    -> (tensor<8xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.silu %x {weft.scope = "h.0"} : tensor<8xf32>
  weft.return %y : tensor<8xf32>
}

// A reduction over dimensions of size 1 is a reshape.
// CHECK-LABEL: weft.program @trivial
// CHECK-NEXT: weft.reshape %arg0 : tensor<8x1xf32> to tensor<8xf32>
weft.program @trivial(%x: tensor<8x1xf32> {weft.input = "x"})
    -> (tensor<8xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.reduce sum %x dims [1] : tensor<8x1xf32>
  weft.return %y : tensor<8xf32>
}

// bf16 is computed in f32 and rounded once.
// CHECK-LABEL: weft.program @narrow
// CHECK: weft.cast %arg0 : tensor<8xbf16> to tensor<8xf32>
// CHECK: weft.cast {{.*}} : tensor<8xf32> to tensor<8xbf16>
weft.program @narrow(%x: tensor<8xbf16> {weft.input = "x"})
    -> (tensor<8xbf16> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.gelu %x : tensor<8xbf16>
  weft.return %y : tensor<8xbf16>
}

// Logarithms of binary cross-entropy are at least -100.
// CHECK-LABEL: weft.program @bce
// CHECK-SAME: %[[P:.*]]: tensor<8xf32> {weft.input = "p"}, %[[T:.*]]: tensor<8xf32>
// CHECK: %[[LIMIT:.*]] = weft.constant dense<-1.000000e+02> : tensor<f32>
// CHECK: %[[LOG:.*]] = weft.log %[[P]]
// CHECK: %[[HIT:.*]] = weft.max %[[LOG]], %[[LIMIT]]
// CHECK: %[[NEG:.*]] = weft.neg %[[P]]
// CHECK: %[[LOG1P:.*]] = weft.log1p %[[NEG]]
// CHECK: %[[MISS:.*]] = weft.max %[[LOG1P]], %[[LIMIT]]
// CHECK: weft.reduce mean
weft.program @bce(%p: tensor<8xf32> {weft.input = "p"}, %t: tensor<8xf32> {weft.input = "t"})
    -> (tensor<f32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.bce %p, %t : tensor<8xf32>
  weft.return %y : tensor<f32>
}

// f32 factors beside f16 operands: one rounding, at the end; statistics are f32.
// CHECK-LABEL: weft.program @factors
// CHECK-SAME: %[[X:.*]]: tensor<3x4xf16> {weft.input = "x"}, %[[W:.*]]: tensor<4xf32>
// CHECK: %[[WIDE:.*]] = weft.cast %[[X]] : tensor<3x4xf16> to tensor<3x4xf32>
// CHECK-NOT: xf16>
// CHECK: weft.mul %{{.*}}, %[[W]] : tensor<3x4xf32>, tensor<4xf32>
// CHECK-NOT: xf16>
// CHECK: weft.cast %{{.*}} : tensor<3x4xf32> to tensor<3x4xf16>
// CHECK-NOT: xf16>
// CHECK: weft.return
weft.program @factors(%x: tensor<3x4xf16> {weft.input = "x"}, %w: tensor<4xf32> {weft.input = "w"})
    -> (tensor<3x4xf16> {weft.output = "y"}, tensor<3xf32> {weft.output = "mean"}, tensor<3xf32> {weft.output = "rstd"})
    attributes {kind = #weft.kind<eval>} {
  %y, %mean, %rstd = weft.layer_norm %x, %w, %w {eps = 1.0e-5 : f64} : tensor<3x4xf16>, tensor<4xf32>
  weft.return %y, %mean, %rstd : tensor<3x4xf16>, tensor<3xf32>, tensor<3xf32>
}

// Each op has the shape of the result, with the halves of a head apart: one
// kernel writes it, and nothing joins halves.
// CHECK-LABEL: weft.program @rope
// CHECK-SAME: %[[X:.*]]: tensor<1x3x2x4xf16> {weft.input = "x"}, %[[C:.*]]: tensor<3x2xf32>
// CHECK: %[[HALVES:.*]] = weft.reshape %[[X]] : tensor<1x3x2x4xf16> to tensor<1x3x2x2x2xf16>
// CHECK-COUNT-2: weft.select %{{.*}} : tensor<2x1xi1>, tensor<1x3x2x2x2xf32>, tensor<1x3x2x2x2xf32>
// CHECK-DAG: weft.slice %[[HALVES]] offsets [0, 0, 0, 0, 0]
// CHECK-DAG: weft.slice %[[HALVES]] offsets [0, 0, 0, 1, 0]
// CHECK-NOT: weft.concat
// CHECK: %[[SUM:.*]] = weft.add %{{.*}} : tensor<1x3x2x2x2xf32>
// CHECK-NEXT: %[[LOW:.*]] = weft.cast %[[SUM]] : tensor<1x3x2x2x2xf32> to tensor<1x3x2x2x2xf16>
// CHECK-NEXT: weft.reshape %[[LOW]] : tensor<1x3x2x2x2xf16> to tensor<1x3x2x4xf16>
// CHECK-NEXT: weft.return
weft.program @rope(%x: tensor<1x3x2x4xf16> {weft.input = "x"}, %c: tensor<3x2xf32> {weft.input = "c"})
    -> (tensor<1x3x2x4xf16> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.rope %x, %c, %c : tensor<1x3x2x4xf16>, tensor<3x2xf32>
  weft.return %y : tensor<1x3x2x4xf16>
}

// An operand that was widened is read as it was.
// CHECK-LABEL: weft.program @rope_of_widened
// CHECK-SAME: %[[X:.*]]: tensor<1x3x2x4xf16> {weft.input = "x"}
// CHECK: %[[HALVES:.*]] = weft.reshape %[[X]] : tensor<1x3x2x4xf16> to tensor<1x3x2x2x2xf16>
// CHECK: weft.slice %[[HALVES]]
// CHECK: weft.slice %[[HALVES]]
// CHECK: %[[SUM:.*]] = weft.add %{{.*}} : tensor<1x3x2x2x2xf32>
// CHECK-NEXT: weft.reshape %[[SUM]] : tensor<1x3x2x2x2xf32> to tensor<1x3x2x4xf32>
weft.program @rope_of_widened(%x: tensor<1x3x2x4xf16> {weft.input = "x"}, %c: tensor<3x2xf32> {weft.input = "c"})
    -> (tensor<1x3x2x4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %f = weft.cast %x : tensor<1x3x2x4xf16> to tensor<1x3x2x4xf32>
  %y = weft.rope %f, %c, %c : tensor<1x3x2x4xf32>, tensor<3x2xf32>
  weft.return %y : tensor<1x3x2x4xf32>
}

// The adjoint of relu is 0 where x <= 0, else the gradient, in their own type.
// CHECK-LABEL: weft.program @relu_grad
// CHECK-SAME: %[[G:.*]]: tensor<8xf16> {weft.input = "g"}, %[[X:.*]]: tensor<8xf16>
// CHECK-NEXT: %[[ZERO:.*]] = weft.constant {{.*}}dense<0.000000e+00> : tensor<f16>
// CHECK-NEXT: %[[OFF:.*]] = weft.compare le %[[X]], %[[ZERO]] {weft.scope = "h.0"}
// CHECK-NEXT: weft.select %[[OFF]], %[[ZERO]], %[[G]]
// CHECK-NEXT: weft.return
weft.program @relu_grad(%g: tensor<8xf16> {weft.input = "g"}, %x: tensor<8xf16> {weft.input = "x"})
    -> (tensor<8xf16> {weft.output = "y"}) attributes {kind = #weft.kind<micro>} {
  %y = weft.relu_grad %g, %x {weft.scope = "h.0"} : tensor<8xf16>
  weft.return %y : tensor<8xf16>
}

// That of gelu: g (Phi(x) + x phi(x)). Constants stand at the head.
// CHECK-LABEL: weft.program @gelu_grad
// CHECK-SAME: %[[G:.*]]: tensor<8xf32> {weft.input = "g"}, %[[X:.*]]: tensor<8xf32>
// CHECK-NEXT: %[[HALF:.*]] = weft.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[ROOT:.*]] = weft.constant dense<0.707106769> : tensor<f32>
// CHECK-NEXT: %[[MINUS:.*]] = weft.constant dense<-5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[C:.*]] = weft.constant dense<0.398942292> : tensor<f32>
// CHECK-NEXT: %[[N:.*]] = weft.neg %[[G]]
// CHECK-NEXT: %[[V0:.*]] = weft.mul %[[X]], %[[ROOT]]
// CHECK-NEXT: %[[V1:.*]] = weft.erf %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = weft.mul %[[V1]], %[[HALF]]
// CHECK-NEXT: %[[V3:.*]] = weft.add %[[V2]], %[[HALF]]
// CHECK-NEXT: %[[V4:.*]] = weft.mul %[[X]], %[[X]]
// CHECK-NEXT: %[[V5:.*]] = weft.mul %[[V4]], %[[MINUS]]
// CHECK-NEXT: %[[V6:.*]] = weft.exp %[[V5]]
// CHECK-NEXT: %[[V7:.*]] = weft.mul %[[V6]], %[[C]]
// CHECK-NEXT: %[[V8:.*]] = weft.mul %[[X]], %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = weft.add %[[V3]], %[[V8]]
// CHECK-NEXT: weft.mul %[[N]], %[[V9]] {weft.scope = "h.0"}
// CHECK-NEXT: weft.return
weft.program @gelu_grad(%g: tensor<8xf32> {weft.input = "g"}, %x: tensor<8xf32> {weft.input = "x"})
    -> (tensor<8xf32> {weft.output = "y"}) attributes {kind = #weft.kind<micro>} {
  %n = weft.neg %g : tensor<8xf32>
  %y = weft.gelu_grad %n, %x {weft.scope = "h.0"} : tensor<8xf32>
  weft.return %y : tensor<8xf32>
}

// With the tanh form, u = c (x + b x^3), t = tanh(u):
// g/2 (1 + t + x (1 - t^2) c (1 + 3 b x^2)), with x^2 at most 1e4.
// CHECK-LABEL: weft.program @gelu_tanh_grad
// CHECK-SAME: %[[G:.*]]: tensor<8xf32> {weft.input = "g"}, %[[X:.*]]: tensor<8xf32>
// CHECK-NEXT: %[[ONE:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[C:.*]] = weft.constant dense<0.797884583> : tensor<f32>
// CHECK-NEXT: %[[MOST:.*]] = weft.constant dense<1.000000e+04> : tensor<f32>
// CHECK-NEXT: %[[CB:.*]] = weft.constant dense<0.0356774069> : tensor<f32>
// CHECK-NEXT: %[[CB3:.*]] = weft.constant dense<0.107032225> : tensor<f32>
// CHECK-NEXT: %[[HALF:.*]] = weft.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[N:.*]] = weft.neg %[[G]]
// CHECK-NEXT: %[[V0:.*]] = weft.mul %[[X]], %[[X]]
// CHECK-NEXT: %[[V1:.*]] = weft.min %[[V0]], %[[MOST]]
// CHECK-NEXT: %[[V2:.*]] = weft.mul %[[V1]], %[[CB]]
// CHECK-NEXT: %[[V3:.*]] = weft.add %[[V2]], %[[C]]
// CHECK-NEXT: %[[V4:.*]] = weft.mul %[[X]], %[[V3]]
// CHECK-NEXT: %[[T:.*]] = weft.tanh %[[V4]]
// CHECK-NEXT: %[[V5:.*]] = weft.mul %[[V1]], %[[CB3]]
// CHECK-NEXT: %[[V6:.*]] = weft.add %[[V5]], %[[C]]
// CHECK-NEXT: %[[V7:.*]] = weft.mul %[[T]], %[[T]]
// CHECK-NEXT: %[[V8:.*]] = weft.sub %[[ONE]], %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = weft.mul %[[V8]], %[[V6]]
// CHECK-NEXT: %[[V10:.*]] = weft.add %[[T]], %[[ONE]]
// CHECK-NEXT: %[[V11:.*]] = weft.mul %[[X]], %[[V9]]
// CHECK-NEXT: %[[V12:.*]] = weft.add %[[V10]], %[[V11]]
// CHECK-NEXT: %[[V13:.*]] = weft.mul %[[V12]], %[[HALF]]
// CHECK-NEXT: weft.mul %[[N]], %[[V13]]
// CHECK-NEXT: weft.return
weft.program @gelu_tanh_grad(%g: tensor<8xf32> {weft.input = "g"}, %x: tensor<8xf32> {weft.input = "x"})
    -> (tensor<8xf32> {weft.output = "y"}) attributes {kind = #weft.kind<micro>} {
  %n = weft.neg %g : tensor<8xf32>
  %y = weft.gelu_grad %n, %x {approximate = #weft.gelu_kind<tanh>} : tensor<8xf32>
  weft.return %y : tensor<8xf32>
}
