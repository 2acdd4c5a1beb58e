// RUN: weft-interp %s | FileCheck %s

// Draws and dropout masks by counter and key.
// Values: test/Interp/reference.py (PyTorch in float64).

// CHECK-LABEL: program @uniform{{$}}
// CHECK-NEXT: r = {{\[\[}}0.318570852, -0.278897047, 2.69858742], [0.98147893, 1.14368272, -0.315749884]] : 2x3xf32
weft.program @uniform() -> (tensor<2x3xf32> {weft.output = "r"})
    attributes {kind = #weft.kind<eval>} {
  %s = weft.constant dense<42> : tensor<i64>
  %r = weft.random_uniform %s {key = "h.0.w", low = -1.0 : f64, high = 3.0 : f64} : tensor<2x3xf32>
  weft.return %r : tensor<2x3xf32>
}

// CHECK-LABEL: program @dropout{{$}}
// CHECK-NEXT: r = {{\[\[}}[1.5, 2, 0.5], [2.16666667, 2.16666667, 0.5]], {{\[\[}}2, 2.33333333, 1.5], [0.333333333, 1.5, 0]], {{\[\[}}0.333333333, 1.66666667, 0.833333333], [1.33333333, 1.5, 0]]] : 3x2x3xf32
weft.program @dropout() -> (tensor<3x2x3xf32> {weft.output = "r"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[[1.125, 1.5, 0.375], [1.625, 1.625, 0.375]], [[1.5, 1.75, 1.125], [0.25, 1.125, 0.5]], [[0.25, 1.25, 0.625], [1.0, 1.125, 1.75]]]> : tensor<3x2x3xf32>
  %rng = weft.constant dense<[42, 7]> : tensor<2xi64>
  %r = weft.dropout %x rng %rng : tensor<2xi64> {p = 0.25 : f64, op_id = 5} : tensor<3x2x3xf32>
  weft.return %r : tensor<3x2x3xf32>
}

// The rows of one rank and micro-step go together: row 0 drops the layer, row 1 does not.
// CHECK-LABEL: program @layer_drop{{$}}
// CHECK-NEXT: dropped = 1 : i1
// CHECK-NEXT: first = [1, 1] : 2xf32
// CHECK-NEXT: never = [2, 2] : 2xf32
// CHECK-NEXT: second = [2, 2] : 2xf32
weft.program @layer_drop() -> (tensor<2xf32> {weft.output = "first"}, tensor<i1> {weft.output = "dropped"}, tensor<2xf32> {weft.output = "second"}, tensor<2xf32> {weft.output = "never"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<1.0> : tensor<2xf32>
  %f = weft.constant dense<2.0> : tensor<2xf32>
  %rng0 = weft.constant dense<[0, 0]> : tensor<2xi64>
  %rng1 = weft.constant dense<[0, 1]> : tensor<2xi64>
  %r0, %d0 = weft.layer_drop %x, %f rng %rng0 : tensor<2xi64> {p = 0.5 : f64, op_id = 4754} : tensor<2xf32>
  %r1, %d1 = weft.layer_drop %x, %f rng %rng1 : tensor<2xi64> {p = 0.5 : f64, op_id = 4754} : tensor<2xf32>
  %r2, %d2 = weft.layer_drop %x, %f {p = 0.0 : f64, op_id = 4754} : tensor<2xf32>
  weft.return %r0, %d0, %r1, %r2 : tensor<2xf32>, tensor<i1>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: program @attention_dropout{{$}}
// CHECK-NEXT: dk = {{\[\[}}{{\[\[}}-0.0624328733, -0.051336788], [-0.277682164, 0.146613668]], {{\[\[}}0.0624328733, 0.051336788], [0.277682164, -0.146613668]]], {{\[\[}}[1.32185141, -2.06227893], [-0.3404652, -2.7237216]], {{\[\[}}-1.32185141, 2.06227893], [0.3404652, 2.7237216]]]] : 2x2x2x2xf32
// CHECK-NEXT: dq = {{\[\[}}{{\[\[}}-0.103291141, 0.11544304], [0.665031786, 0.480300734]], {{\[\[}}0.0480896409, -0.0537472458], [0.144012606, 0.104009105]]], {{\[\[}}[-0.124625045, -0.0553889089], [-4.0855824, 0.6809304]], {{\[\[}}1.68171966, 0.747430961], [0, 0]]]] : 2x2x2x2xf32
// CHECK-NEXT: dv = {{\[\[}}{{\[\[}}1.93771234, 0.726642127], [0, 0]], {{\[\[}}-0.0907544962, 0.0233578729], [-1.26419937, 0.933020208]]], {{\[\[}}[2.02128753, 2.59588378], [0.820383597, 0.820383597]], {{\[\[}}1.72871247, 2.65411622], [0.929616403, 0.929616403]]]] : 2x2x2x2xf32
// CHECK-NEXT: out = {{\[\[}}{{\[\[}}-0.229563236, -0.497387011], [-0.799731607, 2.13261762]], {{\[\[}}-2.22664213, 2.56313702], [-1.37595399, 3.66921063]]], {{\[\[}}[1.10584895, 2.09576604], [-0.820058584, 0.179941416]], {{\[\[}}0.192103791, 2.13231585], [0, 0]]]] : 2x2x2x2xf32
weft.program @attention_dropout() -> (tensor<2x2x2x2xf32> {weft.output = "out"}, tensor<2x2x2x2xf32> {weft.output = "dq"}, tensor<2x2x2x2xf32> {weft.output = "dk"}, tensor<2x2x2x2xf32> {weft.output = "dv"})
    attributes {kind = #weft.kind<eval>} {
  %q = weft.constant dense<[[[[1.75, 0.125], [0.75, -0.875]], [[1.0, -2.0], [0.875, 1.75]]], [[[0.125, 1.625], [-0.25, -2.0]], [[-0.875, 1.5], [0.875, -0.75]]]]> : tensor<2x2x2x2xf32>
  %k = weft.constant dense<[[[[0.625, -0.375], [-1.625, -0.5]], [[-1.5, 2.0], [0.625, 1.125]]], [[[-1.375, -1.875], [-1.625, 2.0]], [[-0.25, -1.375], [1.375, 1.5]]]]> : tensor<2x2x2x2xf32>
  %v = weft.constant dense<[[[[-1.125, 1.375], [-1.0, 0.5]], [[-0.75, -1.625], [-0.75, 2.0]]], [[[-1.375, 1.125], [1.25, 1.75]], [[1.75, 1.0], [-1.875, -1.375]]]]> : tensor<2x2x2x2xf32>
  %g = weft.constant dense<[[[[-0.5, 0.0], [0.75, 0.875]], [[1.0, 0.375], [-1.125, 0.0]]], [[[-0.125, 0.625], [0.875, 0.875]], [[2.0, 2.0], [-0.625, -1.875]]]]> : tensor<2x2x2x2xf32>
  %rng = weft.constant dense<[5, 4]> : tensor<2xi64>
  %out, %lse = weft.attention %q, %k, %v rng %rng : tensor<2xi64> {scale = 0.5 : f64, dropout = 0.5 : f64, op_id = 9}
      : tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>
  %dq, %dk, %dv = weft.attention_grad %g, %q, %k, %v, %out, %lse rng %rng : tensor<2xi64> {scale = 0.5 : f64, dropout = 0.5 : f64, op_id = 9}
      : tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>, tensor<2x2x2xf32>
  weft.return %out, %dq, %dk, %dv : tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>
}

// The adjoint that reads stored bits gives the same.
// CHECK-LABEL: program @attention_bits{{$}}
// CHECK-NEXT: dk = {{\[\[}}{{\[\[}}-0.0624328733, -0.051336788], [-0.277682164, 0.146613668]], {{\[\[}}0.0624328733, 0.051336788], [0.277682164, -0.146613668]]], {{\[\[}}[1.32185141, -2.06227893], [-0.3404652, -2.7237216]], {{\[\[}}-1.32185141, 2.06227893], [0.3404652, 2.7237216]]]] : 2x2x2x2xf32
// CHECK-NEXT: dq = {{\[\[}}{{\[\[}}-0.103291141, 0.11544304], [0.665031786, 0.480300734]], {{\[\[}}0.0480896409, -0.0537472458], [0.144012606, 0.104009105]]], {{\[\[}}[-0.124625045, -0.0553889089], [-4.0855824, 0.6809304]], {{\[\[}}1.68171966, 0.747430961], [0, 0]]]] : 2x2x2x2xf32
// CHECK-NEXT: dv = {{\[\[}}{{\[\[}}1.93771234, 0.726642127], [0, 0]], {{\[\[}}-0.0907544962, 0.0233578729], [-1.26419937, 0.933020208]]], {{\[\[}}[2.02128753, 2.59588378], [0.820383597, 0.820383597]], {{\[\[}}1.72871247, 2.65411622], [0.929616403, 0.929616403]]]] : 2x2x2x2xf32
weft.program @attention_bits() -> (tensor<2x2x2x2xf32> {weft.output = "dq"}, tensor<2x2x2x2xf32> {weft.output = "dk"}, tensor<2x2x2x2xf32> {weft.output = "dv"})
    attributes {kind = #weft.kind<eval>} {
  %q = weft.constant dense<[[[[1.75, 0.125], [0.75, -0.875]], [[1.0, -2.0], [0.875, 1.75]]], [[[0.125, 1.625], [-0.25, -2.0]], [[-0.875, 1.5], [0.875, -0.75]]]]> : tensor<2x2x2x2xf32>
  %k = weft.constant dense<[[[[0.625, -0.375], [-1.625, -0.5]], [[-1.5, 2.0], [0.625, 1.125]]], [[[-1.375, -1.875], [-1.625, 2.0]], [[-0.25, -1.375], [1.375, 1.5]]]]> : tensor<2x2x2x2xf32>
  %v = weft.constant dense<[[[[-1.125, 1.375], [-1.0, 0.5]], [[-0.75, -1.625], [-0.75, 2.0]]], [[[-1.375, 1.125], [1.25, 1.75]], [[1.75, 1.0], [-1.875, -1.375]]]]> : tensor<2x2x2x2xf32>
  %g = weft.constant dense<[[[[-0.5, 0.0], [0.75, 0.875]], [[1.0, 0.375], [-1.125, 0.0]]], [[[-0.125, 0.625], [0.875, 0.875]], [[2.0, 2.0], [-0.625, -1.875]]]]> : tensor<2x2x2x2xf32>
  %rng = weft.constant dense<[5, 4]> : tensor<2xi64>
  %out, %lse, %bits = weft.attention %q, %k, %v rng %rng : tensor<2xi64> {scale = 0.5 : f64, dropout = 0.5 : f64, op_id = 9, stores_bits}
      : tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>
  %dq, %dk, %dv = weft.attention_grad %g, %q, %k, %v, %out, %lse bits %bits : tensor<2x2x4x1x32xi32> {scale = 0.5 : f64, dropout = 0.5 : f64, op_id = 9}
      : tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>, tensor<2x2x2xf32>
  weft.return %dq, %dk, %dv : tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>
}

// Values of single numbers: an implementation of Philox4x32-10 in Python.
// CHECK-LABEL: program @philox{{$}}
// CHECK-NEXT: n = [-0.760080{{[0-9]*}}, 2.13636{{[0-9]*}}, -0.601495{{[0-9]*}}, 0.880986{{[0-9]*}}, -1.55085{{[0-9]*}}] : 5xf32
// CHECK-NEXT: u = {{\[\[}}0.447556317, 0.712461174, 0.905979455], [0.356018305, 0.92269659, 0.464385092]] : 2x3xf32
weft.program @philox() -> (tensor<2x3xf32> {weft.output = "u"}, tensor<5xf32> {weft.output = "n"})
    attributes {kind = #weft.kind<eval>} {
  %seed = weft.constant dense<42> : tensor<i64>
  %stream = weft.constant dense<5> : tensor<i64>
  %row = weft.constant dense<[[7], [1099511627776]]> : tensor<2x1xi64>
  %element = weft.constant dense<[3, 4, 5]> : tensor<3xi64>
  %u = weft.philox uniform %seed, %stream, %row, %element : tensor<i64>, tensor<i64>, tensor<2x1xi64>, tensor<3xi64>
  %s = weft.constant dense<-3> : tensor<i64>
  %t = weft.constant dense<9> : tensor<i64>
  %r = weft.constant dense<1> : tensor<i64>
  %e = weft.iota [0] : tensor<5xi64>
  %n = weft.philox normal %s, %t, %r, %e : tensor<i64>, tensor<i64>, tensor<i64>, tensor<5xi64>
  weft.return %u, %n : tensor<2x3xf32>, tensor<5xf32>
}

// CHECK-LABEL: program @iota{{$}}
// CHECK-NEXT: all = {{\[\[}}{{\[}}0, 1], [2, 3], [4, 5]], {{\[\[}}6, 7], [8, 9], [10, 11]]] : 2x3x2xi64
// CHECK-NEXT: none = [0, 0] : 2xi32
// CHECK-NEXT: outer = {{\[\[}}{{\[}}0, 1], [0, 1], [0, 1]], {{\[\[}}2, 3], [2, 3], [2, 3]]] : 2x3x2xi32
weft.program @iota() -> (tensor<2x3x2xi64> {weft.output = "all"}, tensor<2x3x2xi32> {weft.output = "outer"}, tensor<2xi32> {weft.output = "none"})
    attributes {kind = #weft.kind<eval>} {
  %a = weft.iota [0, 1, 2] : tensor<2x3x2xi64>
  %b = weft.iota [0, 2] : tensor<2x3x2xi32>
  %c = weft.iota [] : tensor<2xi32>
  weft.return %a, %b, %c : tensor<2x3x2xi64>, tensor<2x3x2xi32>, tensor<2xi32>
}
