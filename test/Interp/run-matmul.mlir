// RUN: weft-interp %s | FileCheck %s

// Matrix products of all batch forms, and tables.
// Values: test/Interp/reference.py (PyTorch in float64).

// CHECK-LABEL: program @plain{{$}}
// CHECK-NEXT: r = {{\[\[}}-0.09375, 0.5625, -1.625, 3.09375, 0.171875], [-0.5, -1.03125, -5.21875, -0.25, -0.3125]] : 2x5xf32
weft.program @plain() -> (tensor<2x5xf32> {weft.output = "r"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[-1.0, 1.375, 0.125], [1.25, 0.75, 1.0]]> : tensor<2x3xf32>
  %y = weft.constant dense<[[-0.25, -0.875, -1.375, -0.625, -0.875], [-0.25, -0.25, -2.0, 1.875, -0.625], [0.0, 0.25, -2.0, -0.875, 1.25]]> : tensor<3x5xf32>
  %r = weft.matmul %x, %y : tensor<2x3xf32>, tensor<3x5xf32>
  weft.return %r : tensor<2x5xf32>
}

// CHECK-LABEL: program @transposed{{$}}
// CHECK-NEXT: r = {{\[\[}}-1.96875, -0.609375, 3.421875, -3.375, -0.546875], [4.640625, 0.90625, -3.5, 0.9375, -1.609375]] : 2x5xf32
weft.program @transposed() -> (tensor<2x5xf32> {weft.output = "r"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[0.875, 0.5], [-1.0, 2.0], [-1.625, 1.625]]> : tensor<3x2xf32>
  %y = weft.constant dense<[[1.125, 1.125, 1.125], [1.125, -1.25, 1.75], [1.125, -1.625, -0.5], [-1.5, -0.375, 1.5], [-0.75, -1.125, 0.625]]> : tensor<5x3xf32>
  %r = weft.matmul %x, %y {transpose_lhs, transpose_rhs} : tensor<3x2xf32>, tensor<5x3xf32>
  weft.return %r : tensor<2x5xf32>
}

// CHECK-LABEL: program @shared_rhs{{$}}
// CHECK-NEXT: r = {{\[\[}}[-5.8125], [-0.21875]], {{\[\[}}-3.375], [-0.015625]]] : 2x2x1xf32
weft.program @shared_rhs() -> (tensor<2x2x1xf32> {weft.output = "r"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[[-1.625, -1.25, -2.0], [-0.875, -1.25, 0.875]], [[-1.875, -1.5, -0.375], [1.0, -0.875, 0.0]]]> : tensor<2x2x3xf32>
  %y = weft.constant dense<[[0.75, 0.875, 1.75]]> : tensor<1x3xf32>
  %r = weft.matmul %x, %y {transpose_rhs} : tensor<2x2x3xf32>, tensor<1x3xf32>
  weft.return %r : tensor<2x2x1xf32>
}

// CHECK-LABEL: program @shared_lhs{{$}}
// CHECK-NEXT: r = {{\[\[}}[1.734375, 2.953125], [0.171875, -4.421875]], {{\[\[}}1.78125, -0.375], [1.09375, -3.40625]]] : 2x2x2xf32
weft.program @shared_lhs() -> (tensor<2x2x2xf32> {weft.output = "r"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[-1.125, -1.125, 1.875], [1.625, 1.75, 1.75]]> : tensor<2x3xf32>
  %y = weft.constant dense<[[[0.375, -1.375], [-0.875, -1.25], [0.625, 0.0]], [[1.75, -0.75], [-1.875, -0.375], [0.875, -0.875]]]> : tensor<2x3x2xf32>
  %r = weft.matmul %x, %y : tensor<2x3xf32>, tensor<2x3x2xf32>
  weft.return %r : tensor<2x2x2xf32>
}

// CHECK-LABEL: program @batched{{$}}
// CHECK-NEXT: r = {{\[\[}}{{\[\[}}-2.4375, -3.328125], [-1.625, -1]]], {{\[\[}}[-1.4375, -2.84375], [-1.203125, -1.359375]]]] : 2x1x2x2xf32
weft.program @batched() -> (tensor<2x1x2x2xf32> {weft.output = "r"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[[[-1.875, 0.375, -1.375], [0.0, 0.875, -0.75]]], [[[0.75, -0.25, 2.0], [0.625, -0.25, -0.5]]]]> : tensor<2x1x2x3xf32>
  %y = weft.constant dense<[[[[-0.125, 1.125], [-0.25, -0.5], [1.875, 0.75]]], [[[-1.875, -1.875], [0.125, 1.75], [0.0, -0.5]]]]> : tensor<2x1x3x2xf32>
  %r = weft.matmul %x, %y : tensor<2x1x2x3xf32>, tensor<2x1x3x2xf32>
  weft.return %r : tensor<2x1x2x2xf32>
}

// CHECK-LABEL: program @embedding{{$}}
// CHECK-NEXT: grad = {{\[\[}}0.75, -1.375, -1.125], [-0.625, 1.375, 0.625], [0, 0, 0], [2.75, -2.5, 3.5]] : 4x3xf32
// CHECK-NEXT: rows = {{\[\[}}[-0.5, 0.625, -0.375], [0.75, 1.5, 0.75]], {{\[\[}}-0.5, 0.625, -0.375], [0.875, -1.375, -0.25]]] : 2x2x3xf32
weft.program @embedding() -> (tensor<2x2x3xf32> {weft.output = "rows"}, tensor<4x3xf32> {weft.output = "grad"})
    attributes {kind = #weft.kind<eval>} {
  %t = weft.constant dense<[[0.75, 1.5, 0.75], [0.875, -1.375, -0.25], [-1.25, -0.25, 1.75], [-0.5, 0.625, -0.375]]> : tensor<4x3xf32>
  %i = weft.constant dense<[[3, 0], [3, 1]]> : tensor<2x2xi32>
  %g = weft.constant dense<[[[1.75, -2.0, 1.75], [0.75, -1.375, -1.125]], [[1.0, -0.5, 1.75], [-0.625, 1.375, 0.625]]]> : tensor<2x2x3xf32>
  %r = weft.embedding %t, %i : tensor<4x3xf32>, tensor<2x2xi32>
  %d = weft.embedding_grad %g, %i : tensor<2x2x3xf32>, tensor<2x2xi32> to tensor<4x3xf32>
  weft.return %r, %d : tensor<2x2x3xf32>, tensor<4x3xf32>
}
