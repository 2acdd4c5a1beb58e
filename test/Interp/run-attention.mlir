// RUN: weft-interp %s | FileCheck %s

// Attention and its adjoint, against PyTorch's formula and autograd.
// Values: test/Interp/reference.py (PyTorch in float64).

// CHECK-LABEL: program @full{{$}}
// CHECK-NEXT: dk = {{\[\[}}{{\[\[}}0.0551215999, -0.0828398725]], {{\[\[}}0.0635586896, -0.038373371]], {{\[\[}}-0.11868029, 0.121213244]]]] : 1x3x1x2xf32
// CHECK-NEXT: dq = {{\[\[}}{{\[\[}}-0.3034903, -0.0832269288]], {{\[\[}}0.426072296, -0.101697306]]]] : 1x2x1x2xf32
// CHECK-NEXT: dv = {{\[\[}}{{\[\[}}0.315419978, -0.279076609]], {{\[\[}}1.19971885, -0.883707754]], {{\[\[}}0.109861174, -0.0872156364]]]] : 1x3x1x2xf32
// CHECK-NEXT: lse = {{\[\[}}[1.02978553, 1.07685808]]] : 1x1x2xf32
// CHECK-NEXT: out = {{\[\[}}{{\[\[}}-0.811459321, -0.586811926]], {{\[\[}}-0.844207796, -0.632369248]]]] : 1x2x1x2xf32
weft.program @full() -> (tensor<1x2x1x2xf32> {weft.output = "out"}, tensor<1x1x2xf32> {weft.output = "lse"}, tensor<1x2x1x2xf32> {weft.output = "dq"}, tensor<1x3x1x2xf32> {weft.output = "dk"}, tensor<1x3x1x2xf32> {weft.output = "dv"})
    attributes {kind = #weft.kind<eval>} {
  %q = weft.constant dense<[[[[-1.0, 1.25]], [[-1.125, 1.125]]]]> : tensor<1x2x1x2xf32>
  %k = weft.constant dense<[[[[1.5, 0.5]], [[-1.5, -0.125]], [[1.375, -1.5]]]]> : tensor<1x3x1x2xf32>
  %v = weft.constant dense<[[[[-0.375, 0.375]], [[-1.125, -0.875]], [[0.875, -0.875]]]]> : tensor<1x3x1x2xf32>
  %g = weft.constant dense<[[[[0.0, -1.0]], [[1.625, -0.25]]]]> : tensor<1x2x1x2xf32>
  %out, %lse = weft.attention %q, %k, %v {scale = 0.5 : f64}
      : tensor<1x2x1x2xf32>, tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32>
  %dq, %dk, %dv = weft.attention_grad %g, %q, %k, %v, %out, %lse {scale = 0.5 : f64}
      : tensor<1x2x1x2xf32>, tensor<1x3x1x2xf32>, tensor<1x1x2xf32>
  weft.return %out, %lse, %dq, %dk, %dv : tensor<1x2x1x2xf32>, tensor<1x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32>
}

// CHECK-LABEL: program @causal{{$}}
// CHECK-NEXT: dk = {{\[\[}}{{\[\[}}-1.02962595, 0.317197469]], {{\[\[}}1.00378269, -0.394727237]], {{\[\[}}0.0258432562, 0.0775297686]]]] : 1x3x1x2xf32
// CHECK-NEXT: dq = {{\[\[}}{{\[\[}}0, 0]], {{\[\[}}-0.133571581, -0.734643694]], {{\[\[}}0.0149174632, 0.269409655]]]] : 1x3x1x2xf32
// CHECK-NEXT: dv = {{\[\[}}{{\[\[}}0.93591855, 1.97712528]], {{\[\[}}-0.865547255, 0.651023238]], {{\[\[}}0.304628706, 0.121851482]]]] : 1x3x1x2xf32
// CHECK-NEXT: lse = {{\[\[}}[0.265625, 1.38268996, 0.749907973]]] : 1x1x3xf32
// CHECK-NEXT: out = {{\[\[}}{{\[\[}}0.75, 0.5]], {{\[\[}}-0.460936884, 0.713694744]], {{\[\[}}-1.21939055, 0.682681621]]]] : 1x3x1x2xf32
weft.program @causal() -> (tensor<1x3x1x2xf32> {weft.output = "out"}, tensor<1x1x3xf32> {weft.output = "lse"}, tensor<1x3x1x2xf32> {weft.output = "dq"}, tensor<1x3x1x2xf32> {weft.output = "dk"}, tensor<1x3x1x2xf32> {weft.output = "dv"})
    attributes {kind = #weft.kind<eval>} {
  %q = weft.constant dense<[[[[-1.25, 1.125]], [[1.875, -0.75]], [[-0.25, -0.75]]]]> : tensor<1x3x1x2xf32>
  %k = weft.constant dense<[[[[1.375, 2.0]], [[1.125, 0.625]], [[1.25, -0.5]]]]> : tensor<1x3x1x2xf32>
  %v = weft.constant dense<[[[[0.75, 0.5]], [[-1.375, 0.875]], [[-1.875, 0.625]]]]> : tensor<1x3x1x2xf32>
  %g = weft.constant dense<[[[[1.625, 1.5]], [[-1.875, 1.0]], [[0.625, 0.25]]]]> : tensor<1x3x1x2xf32>
  %out, %lse = weft.attention %q, %k, %v {causal, scale = 0.5 : f64}
      : tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32>
  %dq, %dk, %dv = weft.attention_grad %g, %q, %k, %v, %out, %lse {causal, scale = 0.5 : f64}
      : tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32>, tensor<1x1x3xf32>
  weft.return %out, %lse, %dq, %dk, %dv : tensor<1x3x1x2xf32>, tensor<1x1x3xf32>, tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32>
}

// CHECK-LABEL: program @grouped_causal{{$}}
// CHECK-NEXT: dk = {{\[\[}}{{\[\[}}0.0437721989], [0.0187962467]], {{\[\[}}-0.0437721989], [-0.0187962467]]]] : 1x2x2x1xf32
// CHECK-NEXT: dq = {{\[\[}}{{\[\[}}0], [0], [0], [0]], {{\[\[}}-0.00529032147], [0.0644987452], [-0.0256347656], [0.0563887402]]]] : 1x2x4x1xf32
// CHECK-NEXT: dv = {{\[\[}}{{\[\[}}2.69645421], [-0.491943728]], {{\[\[}}-0.321454214], [0.366943728]]]] : 1x2x2x1xf32
// CHECK-NEXT: lse = {{\[\[}}[-1.75, 1.36361342], [1.3125, 1.44648597], [0.3515625, 0.693147181], [0.078125, 0.642434594]]] : 1x4x2xf32
// CHECK-NEXT: out = {{\[\[}}{{\[\[}}1.375], [1.375], [0], [0]], {{\[\[}}1.31587094], [1.32099712], [-0.4375], [-0.432373282]]]] : 1x2x4x1xf32
weft.program @grouped_causal() -> (tensor<1x2x4x1xf32> {weft.output = "out"}, tensor<1x4x2xf32> {weft.output = "lse"}, tensor<1x2x4x1xf32> {weft.output = "dq"}, tensor<1x2x2x1xf32> {weft.output = "dk"}, tensor<1x2x2x1xf32> {weft.output = "dv"})
    attributes {kind = #weft.kind<eval>} {
  %q = weft.constant dense<[[[[2.0], [-1.5], [-1.125], [-0.25]], [[-1.25], [-1.375], [0.0], [0.125]]]]> : tensor<1x2x4x1xf32>
  %k = weft.constant dense<[[[[-1.75], [-0.625]], [[0.125], [-1.0]]]]> : tensor<1x2x2x1xf32>
  %v = weft.constant dense<[[[[1.375], [0.0]], [[1.125], [-0.875]]]]> : tensor<1x2x2x1xf32>
  %g = weft.constant dense<[[[[2.0], [1.875], [0.5], [-1.375]], [[0.125], [-1.625], [-0.625], [1.375]]]]> : tensor<1x2x4x1xf32>
  %out, %lse = weft.attention %q, %k, %v {causal, scale = 0.5 : f64}
      : tensor<1x2x4x1xf32>, tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>
  %dq, %dk, %dv = weft.attention_grad %g, %q, %k, %v, %out, %lse {causal, scale = 0.5 : f64}
      : tensor<1x2x4x1xf32>, tensor<1x2x2x1xf32>, tensor<1x4x2xf32>
  weft.return %out, %lse, %dq, %dk, %dv : tensor<1x2x4x1xf32>, tensor<1x4x2xf32>, tensor<1x2x4x1xf32>, tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>
}

// CHECK-LABEL: program @longer_keys{{$}}
// CHECK-NEXT: dk = {{\[\[}}{{\[\[}}-0.00941465647]], {{\[\[}}0.0310420465]], {{\[\[}}-0.0216273901]]], {{\[\[}}[0.0401887892]], {{\[\[}}-0.014309448]], {{\[\[}}-0.0258793412]]]] : 2x3x1x1xf32
// CHECK-NEXT: dq = {{\[\[}}{{\[\[}}0.0166868887]]], {{\[\[}}[-0.102905691]]]] : 2x1x1x1xf32
// CHECK-NEXT: dv = {{\[\[}}{{\[\[}}0.0646880802]], {{\[\[}}0.044459424]], {{\[\[}}0.0158524958]]], {{\[\[}}[-0.326257746]], {{\[\[}}-0.350023467]], {{\[\[}}-0.323718788]]]] : 2x3x1x1xf32
// CHECK-NEXT: lse = {{\[\[}}[2.06498678]], {{\[\[}}1.03413008]]] : 2x1x1xf32
// CHECK-NEXT: out = {{\[\[}}{{\[\[}}-0.19405237]]], {{\[\[}}[-0.02910234]]]] : 2x1x1x1xf32
weft.program @longer_keys() -> (tensor<2x1x1x1xf32> {weft.output = "out"}, tensor<2x1x1xf32> {weft.output = "lse"}, tensor<2x1x1x1xf32> {weft.output = "dq"}, tensor<2x3x1x1xf32> {weft.output = "dk"}, tensor<2x3x1x1xf32> {weft.output = "dv"})
    attributes {kind = #weft.kind<eval>} {
  %q = weft.constant dense<[[[[-1.5]]], [[[0.125]]]]> : tensor<2x1x1x1xf32>
  %k = weft.constant dense<[[[[-1.875]], [[-1.375]], [[0.0]]], [[[-1.375]], [[-0.25]], [[-1.5]]]]> : tensor<2x3x1x1xf32>
  %v = weft.constant dense<[[[[0.0]], [[-1.125]], [[1.625]]], [[[-2.0]], [[0.625]], [[1.25]]]]> : tensor<2x3x1x1xf32>
  %g = weft.constant dense<[[[[0.125]]], [[[-1.0]]]]> : tensor<2x1x1x1xf32>
  %out, %lse = weft.attention %q, %k, %v {causal, scale = 0.5 : f64}
      : tensor<2x1x1x1xf32>, tensor<2x3x1x1xf32>, tensor<2x3x1x1xf32>
  %dq, %dk, %dv = weft.attention_grad %g, %q, %k, %v, %out, %lse {causal, scale = 0.5 : f64}
      : tensor<2x1x1x1xf32>, tensor<2x3x1x1xf32>, tensor<2x1x1xf32>
  weft.return %out, %lse, %dq, %dk, %dv : tensor<2x1x1x1xf32>, tensor<2x1x1xf32>, tensor<2x1x1x1xf32>, tensor<2x3x1x1xf32>, tensor<2x3x1x1xf32>
}
