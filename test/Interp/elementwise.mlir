// RUN: weft-interp %s | FileCheck %s

// Elementwise ops on all forms of broadcasting.
// Values: test/Interp/reference.py (PyTorch in float64).

// CHECK-LABEL: program @any_sign{{$}}
// CHECK-NEXT: abs = [2.5, 1, 0.25, 0, 0.5, 1.5, 3] : 7xf32
// CHECK-NEXT: cos = [-0.801143616, 0.540302306, 0.968912422, 1, 0.877582562, 0.0707372017, -0.989992497] : 7xf32
// CHECK-NEXT: erf = [-0.999593048, -0.842700793, -0.27632639, 0, 0.520499878, 0.966105146, 0.99997791] : 7xf32
// CHECK-NEXT: exp = [0.0820849986, 0.367879441, 0.778800783, 1, 1.64872127, 4.48168907, 20.0855369] : 7xf32
// CHECK-NEXT: gelu = [-0.0155241633, -0.158655254, -0.100323419, 0, 0.345731231, 1.3997892, 2.99595031] : 7xf32
// CHECK-NEXT: gelu_tanh = [-0.0150842661, -0.158808009, -0.100324649, 0, 0.34571401, 1.39957158, 2.99636261] : 7xf32
// CHECK-NEXT: neg = [2.5, 1, 0.25, -0, -0.5, -1.5, -3] : 7xf32
// CHECK-NEXT: relu = [0, 0, 0, 0, 0.5, 1.5, 3] : 7xf32
// CHECK-NEXT: sigmoid = [0.07585818, 0.268941421, 0.437823499, 0.5, 0.622459331, 0.817574476, 0.952574127] : 7xf32
// CHECK-NEXT: sign = [-1, -1, -1, 0, 1, 1, 1] : 7xf32
// CHECK-NEXT: silu = [-0.18964545, -0.268941421, -0.109455875, 0, 0.311229666, 1.22636171, 2.85772238] : 7xf32
// CHECK-NEXT: sin = [-0.598472144, -0.841470985, -0.247403959, 0, 0.479425539, 0.997494987, 0.141120008] : 7xf32
// CHECK-NEXT: softplus = [0.0788897343, 0.313261688, 0.57593942, 0.693147181, 0.974076984, 1.70141328, 3.04858735] : 7xf32
// CHECK-NEXT: tanh = [-0.986614298, -0.761594156, -0.244918662, 0, 0.462117157, 0.905148254, 0.995054754] : 7xf32
weft.program @any_sign() -> (tensor<7xf32> {weft.output = "neg"}, tensor<7xf32> {weft.output = "abs"}, tensor<7xf32> {weft.output = "sign"}, tensor<7xf32> {weft.output = "exp"}, tensor<7xf32> {weft.output = "tanh"}, tensor<7xf32> {weft.output = "erf"}, tensor<7xf32> {weft.output = "sin"}, tensor<7xf32> {weft.output = "cos"}, tensor<7xf32> {weft.output = "sigmoid"}, tensor<7xf32> {weft.output = "relu"}, tensor<7xf32> {weft.output = "silu"}, tensor<7xf32> {weft.output = "softplus"}, tensor<7xf32> {weft.output = "gelu"}, tensor<7xf32> {weft.output = "gelu_tanh"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[-2.5, -1.0, -0.25, 0.0, 0.5, 1.5, 3.0]> : tensor<7xf32>
  %neg = weft.neg %x : tensor<7xf32>
  %abs = weft.abs %x : tensor<7xf32>
  %sign = weft.sign %x : tensor<7xf32>
  %exp = weft.exp %x : tensor<7xf32>
  %tanh = weft.tanh %x : tensor<7xf32>
  %erf = weft.erf %x : tensor<7xf32>
  %sin = weft.sin %x : tensor<7xf32>
  %cos = weft.cos %x : tensor<7xf32>
  %sigmoid = weft.sigmoid %x : tensor<7xf32>
  %relu = weft.relu %x : tensor<7xf32>
  %silu = weft.silu %x : tensor<7xf32>
  %softplus = weft.softplus %x : tensor<7xf32>
  %gelu = weft.gelu %x : tensor<7xf32>
  %gelu_tanh = weft.gelu %x {approximate = #weft.gelu_kind<tanh>} : tensor<7xf32>
  weft.return %neg, %abs, %sign, %exp, %tanh, %erf, %sin, %cos, %sigmoid, %relu, %silu, %softplus, %gelu, %gelu_tanh : tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>
}

// CHECK-LABEL: program @activation_grads{{$}}
// CHECK-NEXT: gelu = [-0.0376110859, 0.166630941, 0.152313323, 0.5, 2.60248537, -1.12746919, 0.252986412] : 7xf32
// CHECK-NEXT: gelu_tanh = [-0.0379515762, 0.165928168, 0.152322952, 0.5, 2.60210971, -1.12771079, 0.252896042] : 7xf32
// CHECK-NEXT: relu = [0, 0, 0, 0, 3, -1, 0.25] : 7xf32
weft.program @activation_grads() -> (tensor<7xf32> {weft.output = "relu"}, tensor<7xf32> {weft.output = "gelu"}, tensor<7xf32> {weft.output = "gelu_tanh"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[-2.5, -1.0, -0.25, 0.0, 0.5, 1.5, 3.0]> : tensor<7xf32>
  %g = weft.constant dense<[1.0, -2.0, 0.5, 1.0, 3.0, -1.0, 0.25]> : tensor<7xf32>
  %relu = weft.relu_grad %g, %x : tensor<7xf32>
  %gelu = weft.gelu_grad %g, %x : tensor<7xf32>
  %gelu_tanh = weft.gelu_grad %g, %x {approximate = #weft.gelu_kind<tanh>} : tensor<7xf32>
  weft.return %relu, %gelu, %gelu_tanh : tensor<7xf32>, tensor<7xf32>, tensor<7xf32>
}

// CHECK-LABEL: program @positive{{$}}
// CHECK-NEXT: log = {{\[\[}}-2.07944154, -0.693147181], [0, 1.83258146]] : 2x2xf32
// CHECK-NEXT: log1p = {{\[\[}}0.117783036, 0.405465108], [0.693147181, 1.98100147]] : 2x2xf32
// CHECK-NEXT: reciprocal = {{\[\[}}8, 2], [1, 0.16]] : 2x2xf32
// CHECK-NEXT: rsqrt = {{\[\[}}2.82842712, 1.41421356], [1, 0.4]] : 2x2xf32
// CHECK-NEXT: sqrt = {{\[\[}}0.353553391, 0.707106781], [1, 2.5]] : 2x2xf32
weft.program @positive() -> (tensor<2x2xf32> {weft.output = "log"}, tensor<2x2xf32> {weft.output = "log1p"}, tensor<2x2xf32> {weft.output = "sqrt"}, tensor<2x2xf32> {weft.output = "rsqrt"}, tensor<2x2xf32> {weft.output = "reciprocal"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[0.125, 0.5], [1.0, 6.25]]> : tensor<2x2xf32>
  %log = weft.log %x : tensor<2x2xf32>
  %log1p = weft.log1p %x : tensor<2x2xf32>
  %sqrt = weft.sqrt %x : tensor<2x2xf32>
  %rsqrt = weft.rsqrt %x : tensor<2x2xf32>
  %reciprocal = weft.reciprocal %x : tensor<2x2xf32>
  weft.return %log, %log1p, %sqrt, %rsqrt, %reciprocal : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: program @far_out{{$}}
// CHECK-NEXT: relu = [0, 200, -0] : 3xf32
// CHECK-NEXT: sigmoid = [1.38389653e-87, 1, 0.5] : 3xf32
// CHECK-NEXT: softplus = [1.38389653e-87, 200, 0.693147181] : 3xf32
// CHECK-NEXT: sqrt = [nan, 14.1421356, -0] : 3xf32
weft.program @far_out() -> (tensor<3xf32> {weft.output = "softplus"}, tensor<3xf32> {weft.output = "sigmoid"}, tensor<3xf32> {weft.output = "relu"}, tensor<3xf32> {weft.output = "sqrt"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[-200.0, 200.0, -0.0]> : tensor<3xf32>
  %softplus = weft.softplus %x : tensor<3xf32>
  %sigmoid = weft.sigmoid %x : tensor<3xf32>
  %relu = weft.relu %x : tensor<3xf32>
  %sqrt = weft.sqrt %x : tensor<3xf32>
  weft.return %softplus, %sigmoid, %relu, %sqrt : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: program @same_shape{{$}}
// CHECK-NEXT: add = {{\[\[}}2, -0.625, 2], [-1.375, -1.125, 0.5]] : 2x3xf32
// CHECK-NEXT: div = {{\[\[}}0.333333333, -3.5, 1.28571429], [-6.5, -4, -0.714285714]] : 2x3xf32
// CHECK-NEXT: max = {{\[\[}}1.5, 0.25, 1.125], [0.25, 0.375, 1.75]] : 2x3xf32
// CHECK-NEXT: min = {{\[\[}}0.5, -0.875, 0.875], [-1.625, -1.5, -1.25]] : 2x3xf32
// CHECK-NEXT: mul = {{\[\[}}0.75, -0.21875, 0.984375], [-0.40625, -0.5625, -2.1875]] : 2x3xf32
// CHECK-NEXT: sub = {{\[\[}}-1, -1.125, 0.25], [-1.875, -1.875, -3]] : 2x3xf32
weft.program @same_shape() -> (tensor<2x3xf32> {weft.output = "add"}, tensor<2x3xf32> {weft.output = "sub"}, tensor<2x3xf32> {weft.output = "mul"}, tensor<2x3xf32> {weft.output = "div"}, tensor<2x3xf32> {weft.output = "max"}, tensor<2x3xf32> {weft.output = "min"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[0.5, -0.875, 1.125], [-1.625, -1.5, -1.25]]> : tensor<2x3xf32>
  %y = weft.constant dense<[[1.5, 0.25, 0.875], [0.25, 0.375, 1.75]]> : tensor<2x3xf32>
  %add = weft.add %x, %y : tensor<2x3xf32>, tensor<2x3xf32>
  %sub = weft.sub %x, %y : tensor<2x3xf32>, tensor<2x3xf32>
  %mul = weft.mul %x, %y : tensor<2x3xf32>, tensor<2x3xf32>
  %div = weft.div %x, %y : tensor<2x3xf32>, tensor<2x3xf32>
  %max = weft.max %x, %y : tensor<2x3xf32>, tensor<2x3xf32>
  %min = weft.min %x, %y : tensor<2x3xf32>, tensor<2x3xf32>
  weft.return %add, %sub, %mul, %div, %max, %min : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: program @row{{$}}
// CHECK-NEXT: add = {{\[\[}}1.75, -0.5, 0.125], [-0.875, 2.375, -1.375]] : 2x3xf32
// CHECK-NEXT: div = {{\[\[}}2.5, -1.5, -0.5], [-2.75, 1.375, -6.5]] : 2x3xf32
// CHECK-NEXT: max = {{\[\[}}1.25, 1, 0.25], [0.5, 1.375, 0.25]] : 2x3xf32
// CHECK-NEXT: min = {{\[\[}}0.5, -1.5, -0.125], [-1.375, 1, -1.625]] : 2x3xf32
// CHECK-NEXT: mul = {{\[\[}}0.625, -1.5, -0.03125], [-0.6875, 1.375, -0.40625]] : 2x3xf32
// CHECK-NEXT: sub = {{\[\[}}0.75, -2.5, -0.375], [-1.875, 0.375, -1.875]] : 2x3xf32
weft.program @row() -> (tensor<2x3xf32> {weft.output = "add"}, tensor<2x3xf32> {weft.output = "sub"}, tensor<2x3xf32> {weft.output = "mul"}, tensor<2x3xf32> {weft.output = "div"}, tensor<2x3xf32> {weft.output = "max"}, tensor<2x3xf32> {weft.output = "min"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[1.25, -1.5, -0.125], [-1.375, 1.375, -1.625]]> : tensor<2x3xf32>
  %y = weft.constant dense<[0.5, 1.0, 0.25]> : tensor<3xf32>
  %add = weft.add %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %sub = weft.sub %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %mul = weft.mul %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %div = weft.div %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %max = weft.max %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %min = weft.min %x, %y : tensor<2x3xf32>, tensor<3xf32>
  weft.return %add, %sub, %mul, %div, %max, %min : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: program @outer{{$}}
// CHECK-NEXT: add = {{\[\[}}2.125, 1.375, 1.75], [-0.625, -1.375, -1]] : 2x3xf32
// CHECK-NEXT: div = {{\[\[}}1.125, 4.5, 1.8], [-1.625, -6.5, -2.6]] : 2x3xf32
// CHECK-NEXT: max = {{\[\[}}1.125, 1.125, 1.125], [1, 0.25, 0.625]] : 2x3xf32
// CHECK-NEXT: min = {{\[\[}}1, 0.25, 0.625], [-1.625, -1.625, -1.625]] : 2x3xf32
// CHECK-NEXT: mul = {{\[\[}}1.125, 0.28125, 0.703125], [-1.625, -0.40625, -1.015625]] : 2x3xf32
// CHECK-NEXT: sub = {{\[\[}}0.125, 0.875, 0.5], [-2.625, -1.875, -2.25]] : 2x3xf32
weft.program @outer() -> (tensor<2x3xf32> {weft.output = "add"}, tensor<2x3xf32> {weft.output = "sub"}, tensor<2x3xf32> {weft.output = "mul"}, tensor<2x3xf32> {weft.output = "div"}, tensor<2x3xf32> {weft.output = "max"}, tensor<2x3xf32> {weft.output = "min"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[1.125], [-1.625]]> : tensor<2x1xf32>
  %y = weft.constant dense<[[1.0, 0.25, 0.625]]> : tensor<1x3xf32>
  %add = weft.add %x, %y : tensor<2x1xf32>, tensor<1x3xf32>
  %sub = weft.sub %x, %y : tensor<2x1xf32>, tensor<1x3xf32>
  %mul = weft.mul %x, %y : tensor<2x1xf32>, tensor<1x3xf32>
  %div = weft.div %x, %y : tensor<2x1xf32>, tensor<1x3xf32>
  %max = weft.max %x, %y : tensor<2x1xf32>, tensor<1x3xf32>
  %min = weft.min %x, %y : tensor<2x1xf32>, tensor<1x3xf32>
  weft.return %add, %sub, %mul, %div, %max, %min : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: program @scalar_right{{$}}
// CHECK-NEXT: add = {{\[\[}}0.75, 1.75, -0.375], [-0.625, 0.875, -0.125]] : 2x3xf32
// CHECK-NEXT: div = {{\[\[}}0.5, 2.5, -1.75], [-2.25, 0.75, -1.25]] : 2x3xf32
// CHECK-NEXT: max = {{\[\[}}0.5, 1.25, 0.5], [0.5, 0.5, 0.5]] : 2x3xf32
// CHECK-NEXT: min = {{\[\[}}0.25, 0.5, -0.875], [-1.125, 0.375, -0.625]] : 2x3xf32
// CHECK-NEXT: mul = {{\[\[}}0.125, 0.625, -0.4375], [-0.5625, 0.1875, -0.3125]] : 2x3xf32
// CHECK-NEXT: sub = {{\[\[}}-0.25, 0.75, -1.375], [-1.625, -0.125, -1.125]] : 2x3xf32
weft.program @scalar_right() -> (tensor<2x3xf32> {weft.output = "add"}, tensor<2x3xf32> {weft.output = "sub"}, tensor<2x3xf32> {weft.output = "mul"}, tensor<2x3xf32> {weft.output = "div"}, tensor<2x3xf32> {weft.output = "max"}, tensor<2x3xf32> {weft.output = "min"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[0.25, 1.25, -0.875], [-1.125, 0.375, -0.625]]> : tensor<2x3xf32>
  %y = weft.constant dense<0.5> : tensor<f32>
  %add = weft.add %x, %y : tensor<2x3xf32>, tensor<f32>
  %sub = weft.sub %x, %y : tensor<2x3xf32>, tensor<f32>
  %mul = weft.mul %x, %y : tensor<2x3xf32>, tensor<f32>
  %div = weft.div %x, %y : tensor<2x3xf32>, tensor<f32>
  %max = weft.max %x, %y : tensor<2x3xf32>, tensor<f32>
  %min = weft.min %x, %y : tensor<2x3xf32>, tensor<f32>
  weft.return %add, %sub, %mul, %div, %max, %min : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: program @new_dims{{$}}
// CHECK-NEXT: add = {{\[\[}}[-0.125, 1.25, -0.875]], {{\[\[}}-0.25, 1.125, -1]]] : 2x1x3xf32
// CHECK-NEXT: div = {{\[\[}}[-1.33333333, 2.33333333, -3.33333333]], {{\[\[}}-2, 3.5, -5]]] : 2x1x3xf32
// CHECK-NEXT: max = {{\[\[}}[0.375, 0.875, 0.375]], {{\[\[}}0.25, 0.875, 0.25]]] : 2x1x3xf32
// CHECK-NEXT: min = {{\[\[}}[-0.5, 0.375, -1.25]], {{\[\[}}-0.5, 0.25, -1.25]]] : 2x1x3xf32
// CHECK-NEXT: mul = {{\[\[}}[-0.1875, 0.328125, -0.46875]], {{\[\[}}-0.125, 0.21875, -0.3125]]] : 2x1x3xf32
// CHECK-NEXT: sub = {{\[\[}}[-0.875, 0.5, -1.625]], {{\[\[}}-0.75, 0.625, -1.5]]] : 2x1x3xf32
weft.program @new_dims() -> (tensor<2x1x3xf32> {weft.output = "add"}, tensor<2x1x3xf32> {weft.output = "sub"}, tensor<2x1x3xf32> {weft.output = "mul"}, tensor<2x1x3xf32> {weft.output = "div"}, tensor<2x1x3xf32> {weft.output = "max"}, tensor<2x1x3xf32> {weft.output = "min"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[-0.5, 0.875, -1.25]> : tensor<3xf32>
  %y = weft.constant dense<[[[0.375]], [[0.25]]]> : tensor<2x1x1xf32>
  %add = weft.add %x, %y : tensor<3xf32>, tensor<2x1x1xf32>
  %sub = weft.sub %x, %y : tensor<3xf32>, tensor<2x1x1xf32>
  %mul = weft.mul %x, %y : tensor<3xf32>, tensor<2x1x1xf32>
  %div = weft.div %x, %y : tensor<3xf32>, tensor<2x1x1xf32>
  %max = weft.max %x, %y : tensor<3xf32>, tensor<2x1x1xf32>
  %min = weft.min %x, %y : tensor<3xf32>, tensor<2x1x1xf32>
  weft.return %add, %sub, %mul, %div, %max, %min : tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>
}

// CHECK-LABEL: program @positive_pow{{$}}
// CHECK-NEXT: pow = {{\[\[}}0.818487553, 2.37841423, 1.75], [1.61233042, 2.19407561, 1.875]] : 2x3xf32
weft.program @positive_pow() -> (tensor<2x3xf32> {weft.output = "pow"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[0.875, 2.0, 1.75], [1.375, 1.875, 1.875]]> : tensor<2x3xf32>
  %y = weft.constant dense<[1.5, 1.25, 1.0]> : tensor<3xf32>
  %pow = weft.pow %x, %y : tensor<2x3xf32>, tensor<3xf32>
  weft.return %pow : tensor<2x3xf32>
}

// CHECK-LABEL: program @ints{{$}}
// CHECK-NEXT: add = {{\[\[}}11, 10], [5, 14]] : 2x2xi32
// CHECK-NEXT: div = {{\[\[}}0, 0], [0, 0]] : 2x2xi32
// CHECK-NEXT: max = {{\[\[}}16, 11], [16, 11]] : 2x2xi32
// CHECK-NEXT: min = {{\[\[}}-5, -1], [-11, 3]] : 2x2xi32
// CHECK-NEXT: mul = {{\[\[}}-80, -11], [-176, 33]] : 2x2xi32
// CHECK-NEXT: sub = {{\[\[}}-21, -12], [-27, -8]] : 2x2xi32
weft.program @ints() -> (tensor<2x2xi32> {weft.output = "add"}, tensor<2x2xi32> {weft.output = "sub"}, tensor<2x2xi32> {weft.output = "mul"}, tensor<2x2xi32> {weft.output = "div"}, tensor<2x2xi32> {weft.output = "max"}, tensor<2x2xi32> {weft.output = "min"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[-5, -1], [-11, 3]]> : tensor<2x2xi32>
  %y = weft.constant dense<[16, 11]> : tensor<2xi32>
  %add = weft.add %x, %y : tensor<2x2xi32>, tensor<2xi32>
  %sub = weft.sub %x, %y : tensor<2x2xi32>, tensor<2xi32>
  %mul = weft.mul %x, %y : tensor<2x2xi32>, tensor<2xi32>
  %div = weft.div %x, %y : tensor<2x2xi32>, tensor<2xi32>
  %max = weft.max %x, %y : tensor<2x2xi32>, tensor<2xi32>
  %min = weft.min %x, %y : tensor<2x2xi32>, tensor<2xi32>
  weft.return %add, %sub, %mul, %div, %max, %min : tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>
}

// CHECK-LABEL: program @compare{{$}}
// CHECK-NEXT: eq = {{\[\[}}0, 0], [0, 0]] : 2x2xi1
// CHECK-NEXT: ge = {{\[\[}}0, 0], [1, 1]] : 2x2xi1
// CHECK-NEXT: gt = {{\[\[}}0, 0], [1, 1]] : 2x2xi1
// CHECK-NEXT: le = {{\[\[}}1, 1], [0, 0]] : 2x2xi1
// CHECK-NEXT: lt = {{\[\[}}1, 1], [0, 0]] : 2x2xi1
// CHECK-NEXT: ne = {{\[\[}}1, 1], [1, 1]] : 2x2xi1
weft.program @compare() -> (tensor<2x2xi1> {weft.output = "eq"}, tensor<2x2xi1> {weft.output = "ne"}, tensor<2x2xi1> {weft.output = "lt"}, tensor<2x2xi1> {weft.output = "le"}, tensor<2x2xi1> {weft.output = "gt"}, tensor<2x2xi1> {weft.output = "ge"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = weft.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %eq = weft.compare eq %x, %y : tensor<2x2xf32>, tensor<2xf32>
  %ne = weft.compare ne %x, %y : tensor<2x2xf32>, tensor<2xf32>
  %lt = weft.compare lt %x, %y : tensor<2x2xf32>, tensor<2xf32>
  %le = weft.compare le %x, %y : tensor<2x2xf32>, tensor<2xf32>
  %gt = weft.compare gt %x, %y : tensor<2x2xf32>, tensor<2xf32>
  %ge = weft.compare ge %x, %y : tensor<2x2xf32>, tensor<2xf32>
  weft.return %eq, %ne, %lt, %le, %gt, %ge : tensor<2x2xi1>, tensor<2x2xi1>, tensor<2x2xi1>, tensor<2x2xi1>, tensor<2x2xi1>, tensor<2x2xi1>
}

// CHECK-LABEL: program @logic{{$}}
// CHECK-NEXT: and = [1, 0, 0, 0] : 4xi1
// CHECK-NEXT: not = [0, 0, 1, 1] : 4xi1
// CHECK-NEXT: or = [1, 1, 1, 0] : 4xi1
weft.program @logic() -> (tensor<4xi1> {weft.output = "and"}, tensor<4xi1> {weft.output = "or"}, tensor<4xi1> {weft.output = "not"})
    attributes {kind = #weft.kind<eval>} {
  %a = weft.constant dense<[true, true, false, false]> : tensor<4xi1>
  %b = weft.constant dense<[true, false, true, false]> : tensor<4xi1>
  %and = weft.and %a, %b : tensor<4xi1>, tensor<4xi1>
  %or = weft.or %a, %b : tensor<4xi1>, tensor<4xi1>
  %not = weft.not %a : tensor<4xi1>
  weft.return %and, %or, %not : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// CHECK-LABEL: program @select{{$}}
// CHECK-NEXT: r = {{\[\[}}1.5, 0.25, -1.5], [0.5, 0.5, 0.5]] : 2x3xf32
weft.program @select() -> (tensor<2x3xf32> {weft.output = "r"})
    attributes {kind = #weft.kind<eval>} {
  %c = weft.constant dense<[[true], [false]]> : tensor<2x1xi1>
  %x = weft.constant dense<[[1.5, 0.25, -1.5], [-1.125, 2.0, 1.25]]> : tensor<2x3xf32>
  %y = weft.constant dense<0.5> : tensor<f32>
  %r = weft.select %c, %x, %y : tensor<2x1xi1>, tensor<2x3xf32>, tensor<f32>
  weft.return %r : tensor<2x3xf32>
}

// CHECK-LABEL: program @casts{{$}}
// CHECK-NEXT: bool_to_float = [1, 0] : 2xf32
// CHECK-NEXT: bool_to_int = [1, 0] : 2xi64
// CHECK-NEXT: to_float = [-2, 0, 0, 3] : 4xf64
// CHECK-NEXT: to_int = [-2, 0, 0, 3] : 4xi32
weft.program @casts() -> (tensor<4xi32> {weft.output = "to_int"}, tensor<4xf64> {weft.output = "to_float"}, tensor<2xi64> {weft.output = "bool_to_int"}, tensor<2xf32> {weft.output = "bool_to_float"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[-2.75, -0.5, 0.0, 3.5]> : tensor<4xf32>
  %b = weft.constant dense<[true, false]> : tensor<2xi1>
  %i = weft.cast %x : tensor<4xf32> to tensor<4xi32>
  %f = weft.cast %i : tensor<4xi32> to tensor<4xf64>
  %n = weft.cast %b : tensor<2xi1> to tensor<2xi64>
  %g = weft.cast %b : tensor<2xi1> to tensor<2xf32>
  weft.return %i, %f, %n, %g : tensor<4xi32>, tensor<4xf64>, tensor<2xi64>, tensor<2xf32>
}
