// RUN: weft-interp %s | FileCheck %s

// Reductions and ops that move elements.
// Values: test/Interp/reference.py (PyTorch in float64).

// CHECK-LABEL: program @reductions{{$}}
// CHECK-NEXT: max_0 = {{\[\[}}-0.75, 0.625, 0.125, 1.875], [1.25, -1.625, 0.375, 1.5], [0.625, 1, 1.875, 1.625]] : 3x4xf32
// CHECK-NEXT: max_02_kept = {{\[\[}}[1.875], [1.5], [1.875]]] : 1x3x1xf32
// CHECK-NEXT: max_12 = [1.875, 1.75] : 2xf32
// CHECK-NEXT: max_all = 1.875 : f32
// CHECK-NEXT: mean_0 = {{\[\[}}-1.125, -0.375, -0.375, 1.8125], [-0.125, -1.6875, -0.5625, 1], [0.4375, 0.875, 1.3125, -0.125]] : 3x4xf32
// CHECK-NEXT: mean_02_kept = {{\[\[}}[-0.015625], [-0.34375], [0.625]]] : 1x3x1xf32
// CHECK-NEXT: mean_12 = [0.354166667, -0.177083333] : 2xf32
// CHECK-NEXT: mean_all = 0.0885416667 : f32
// CHECK-NEXT: min_0 = {{\[\[}}-1.5, -1.375, -0.875, 1.75], [-1.5, -1.75, -1.5, 0.5], [0.25, 0.75, 0.75, -1.875]] : 3x4xf32
// CHECK-NEXT: min_02_kept = {{\[\[}}[-1.5], [-1.75], [-1.875]]] : 1x3x1xf32
// CHECK-NEXT: min_12 = [-1.75, -1.875] : 2xf32
// CHECK-NEXT: min_all = -1.875 : f32
// CHECK-NEXT: sum_0 = {{\[\[}}-2.25, -0.75, -0.75, 3.625], [-0.25, -3.375, -1.125, 2], [0.875, 1.75, 2.625, -0.25]] : 3x4xf32
// CHECK-NEXT: sum_02_kept = {{\[\[}}[-0.125], [-2.75], [5]]] : 1x3x1xf32
// CHECK-NEXT: sum_12 = [4.25, -2.125] : 2xf32
// CHECK-NEXT: sum_all = 2.125 : f32
weft.program @reductions() -> (tensor<3x4xf32> {weft.output = "sum_0"}, tensor<2xf32> {weft.output = "sum_12"}, tensor<1x3x1xf32> {weft.output = "sum_02_kept"}, tensor<f32> {weft.output = "sum_all"}, tensor<3x4xf32> {weft.output = "mean_0"}, tensor<2xf32> {weft.output = "mean_12"}, tensor<1x3x1xf32> {weft.output = "mean_02_kept"}, tensor<f32> {weft.output = "mean_all"}, tensor<3x4xf32> {weft.output = "max_0"}, tensor<2xf32> {weft.output = "max_12"}, tensor<1x3x1xf32> {weft.output = "max_02_kept"}, tensor<f32> {weft.output = "max_all"}, tensor<3x4xf32> {weft.output = "min_0"}, tensor<2xf32> {weft.output = "min_12"}, tensor<1x3x1xf32> {weft.output = "min_02_kept"}, tensor<f32> {weft.output = "min_all"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[[-0.75, 0.625, -0.875, 1.875], [1.25, -1.75, -1.5, 0.5], [0.625, 0.75, 1.875, 1.625]], [[-1.5, -1.375, 0.125, 1.75], [-1.5, -1.625, 0.375, 1.5], [0.25, 1.0, 0.75, -1.875]]]> : tensor<2x3x4xf32>
  %sum_0 = weft.reduce sum %x dims [0] : tensor<2x3x4xf32>
  %sum_12 = weft.reduce sum %x dims [1, 2] : tensor<2x3x4xf32>
  %sum_02_kept = weft.reduce sum %x dims [0, 2] {keep_dims} : tensor<2x3x4xf32>
  %sum_all = weft.reduce sum %x dims [0, 1, 2] : tensor<2x3x4xf32>
  %mean_0 = weft.reduce mean %x dims [0] : tensor<2x3x4xf32>
  %mean_12 = weft.reduce mean %x dims [1, 2] : tensor<2x3x4xf32>
  %mean_02_kept = weft.reduce mean %x dims [0, 2] {keep_dims} : tensor<2x3x4xf32>
  %mean_all = weft.reduce mean %x dims [0, 1, 2] : tensor<2x3x4xf32>
  %max_0 = weft.reduce max %x dims [0] : tensor<2x3x4xf32>
  %max_12 = weft.reduce max %x dims [1, 2] : tensor<2x3x4xf32>
  %max_02_kept = weft.reduce max %x dims [0, 2] {keep_dims} : tensor<2x3x4xf32>
  %max_all = weft.reduce max %x dims [0, 1, 2] : tensor<2x3x4xf32>
  %min_0 = weft.reduce min %x dims [0] : tensor<2x3x4xf32>
  %min_12 = weft.reduce min %x dims [1, 2] : tensor<2x3x4xf32>
  %min_02_kept = weft.reduce min %x dims [0, 2] {keep_dims} : tensor<2x3x4xf32>
  %min_all = weft.reduce min %x dims [0, 1, 2] : tensor<2x3x4xf32>
  weft.return %sum_0, %sum_12, %sum_02_kept, %sum_all, %mean_0, %mean_12, %mean_02_kept, %mean_all, %max_0, %max_12, %max_02_kept, %max_all, %min_0, %min_12, %min_02_kept, %min_all : tensor<3x4xf32>, tensor<2xf32>, tensor<1x3x1xf32>, tensor<f32>, tensor<3x4xf32>, tensor<2xf32>, tensor<1x3x1xf32>, tensor<f32>, tensor<3x4xf32>, tensor<2xf32>, tensor<1x3x1xf32>, tensor<f32>, tensor<3x4xf32>, tensor<2xf32>, tensor<1x3x1xf32>, tensor<f32>
}

// CHECK-LABEL: program @broadcasts{{$}}
// CHECK-NEXT: r = {{\[\[}}[1.625, 1.625], [0.75, 0.75], [-0.75, -0.75]], {{\[\[}}1.625, 1.625], [0.75, 0.75], [-0.75, -0.75]]] : 2x3x2xf32
weft.program @broadcasts() -> (tensor<2x3x2xf32> {weft.output = "r"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[1.625], [0.75], [-0.75]]> : tensor<3x1xf32>
  %r = weft.broadcast %x : tensor<3x1xf32> to tensor<2x3x2xf32>
  weft.return %r : tensor<2x3x2xf32>
}

// CHECK-LABEL: program @moves{{$}}
// CHECK-NEXT: reshape = {{\[\[}}-0.75, 0.625, -0.875, 1.875, 1.25, -1.75], [-1.5, 0.5, 0.625, 0.75, 1.875, 1.625], [-1.5, -1.375, 0.125, 1.75, -1.5, -1.625], [0.375, 1.5, 0.25, 1, 0.75, -1.875]] : 4x6xf32
// CHECK-NEXT: slice = {{\[\[}}[-1.375, 1.75], [1, -1.875]]] : 1x2x2xf32
// CHECK-NEXT: transpose = {{\[\[}}[-0.75, 1.25, 0.625], [-1.5, -1.5, 0.25]], {{\[\[}}0.625, -1.75, 0.75], [-1.375, -1.625, 1]], {{\[\[}}-0.875, -1.5, 1.875], [0.125, 0.375, 0.75]], {{\[\[}}1.875, 0.5, 1.625], [1.75, 1.5, -1.875]]] : 4x2x3xf32
weft.program @moves() -> (tensor<4x6xf32> {weft.output = "reshape"}, tensor<4x2x3xf32> {weft.output = "transpose"}, tensor<1x2x2xf32> {weft.output = "slice"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[[-0.75, 0.625, -0.875, 1.875], [1.25, -1.75, -1.5, 0.5], [0.625, 0.75, 1.875, 1.625]], [[-1.5, -1.375, 0.125, 1.75], [-1.5, -1.625, 0.375, 1.5], [0.25, 1.0, 0.75, -1.875]]]> : tensor<2x3x4xf32>
  %reshape = weft.reshape %x : tensor<2x3x4xf32> to tensor<4x6xf32>
  %transpose = weft.transpose %x [2, 0, 1] : tensor<2x3x4xf32>
  %slice = weft.slice %x offsets [1, 0, 1] sizes [1, 2, 2] strides [1, 2, 2] : tensor<2x3x4xf32>
  weft.return %reshape, %transpose, %slice : tensor<4x6xf32>, tensor<4x2x3xf32>, tensor<1x2x2xf32>
}

// CHECK-LABEL: program @pad{{$}}
// CHECK-NEXT: r = {{\[\[}}0, 0, 0, 0], [-1.125, 1.875, 0, 0], [0, 0, 0, 0], [-1.625, -0.375, 0, 0]] : 4x4xf32
weft.program @pad() -> (tensor<4x4xf32> {weft.output = "r"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[-1.125, 1.875], [-1.625, -0.375]]> : tensor<2x2xf32>
  %r = weft.pad %x low [1, 0] high [0, 2] interior [1, 0] : tensor<2x2xf32>
  weft.return %r : tensor<4x4xf32>
}

// CHECK-LABEL: program @concat{{$}}
// CHECK-NEXT: r = {{\[\[}}0, -5, 3, -7, -4, 5], [-2, 3, 6, 3, 8, -1]] : 2x6xi32
weft.program @concat() -> (tensor<2x6xi32> {weft.output = "r"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[0, -5], [-2, 3]]> : tensor<2x2xi32>
  %y = weft.constant dense<[[3], [6]]> : tensor<2x1xi32>
  %z = weft.constant dense<[[-7, -4, 5], [3, 8, -1]]> : tensor<2x3xi32>
  %r = weft.concat %x, %y, %z {dim = 1} : tensor<2x2xi32>, tensor<2x1xi32>, tensor<2x3xi32>
  weft.return %r : tensor<2x6xi32>
}
