// RUN: weft-interp %s | FileCheck %s

// Softmax, norms and rotary embedding.
// Values: test/Interp/reference.py (PyTorch in float64).

// CHECK-LABEL: program @softmax{{$}}
// CHECK-NEXT: last = {{\[\[}}[0.07585818, 0.92414182], [0.622459331, 0.377540669], [0.348645135, 0.651354865]], {{\[\[}}0.562176501, 0.437823499], [0.268941421, 0.731058579], [0.92414182, 0.07585818]]] : 2x3x2xf32
// CHECK-NEXT: log = {{\[\[}}[-3.09492296, -0.767027076], [-0.0949229564, -0.767027076], [-3.09492296, -2.64202708]], {{\[\[}}-2.49119232, -1.1836569], [-3.61619232, -1.0586569], [-0.116192325, -1.0586569]]] : 2x3x2xf32
// CHECK-NEXT: middle = {{\[\[}}[0.0452785007, 0.464391619], [0.909442999, 0.464391619], [0.0452785007, 0.0712167614]], {{\[\[}}0.0828111699, 0.306157104], [0.0268848506, 0.346921448], [0.890303979, 0.346921448]]] : 2x3x2xf32
weft.program @softmax() -> (tensor<2x3x2xf32> {weft.output = "last"}, tensor<2x3x2xf32> {weft.output = "middle"}, tensor<2x3x2xf32> {weft.output = "log"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[[-1.375, 1.125], [1.625, 1.125], [-1.375, -0.75]], [[-0.75, -1.0], [-1.875, -0.875], [1.625, -0.875]]]> : tensor<2x3x2xf32>
  %last = weft.softmax %x : tensor<2x3x2xf32>
  %middle = weft.softmax %x {dim = 1} : tensor<2x3x2xf32>
  %log = weft.log_softmax %x {dim = -2} : tensor<2x3x2xf32>
  weft.return %last, %middle, %log : tensor<2x3x2xf32>, tensor<2x3x2xf32>, tensor<2x3x2xf32>
}

// CHECK-LABEL: program @softmax_large{{$}}
// CHECK-NEXT: log = {{\[\[}}-0.313261688, -1.31326169, -2000.31326]] : 1x3xf32
// CHECK-NEXT: r = {{\[\[}}0.731058579, 0.268941421, 0]] : 1x3xf32
weft.program @softmax_large() -> (tensor<1x3xf32> {weft.output = "r"}, tensor<1x3xf32> {weft.output = "log"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[1000.0, 999.0, -1000.0]]> : tensor<1x3xf32>
  %r = weft.softmax %x : tensor<1x3xf32>
  %l = weft.log_softmax %x : tensor<1x3xf32>
  weft.return %r, %l : tensor<1x3xf32>, tensor<1x3xf32>
}

// CHECK-LABEL: program @layer_norm{{$}}
// CHECK-NEXT: mean = {{\[\[}}-0.25, -0.675], [-0.475, 0.725]] : 2x2xf32
// CHECK-NEXT: rstd = {{\[\[}}0.762767852, 0.88215875], [1.3530078, 1.24999023]] : 2x2xf32
// CHECK-NEXT: y = {{\[\[}}[0.474464295, -2.23949776, -1.23254743, 1.07037668, -3.4243722], [3.16886034, -0.175732918, -1.0900262, 4.93869134, -1.68202777]], {{\[\[}}1.86469922, 2.07809274, -0.392990972, 2.21986377, -0.648836683], [0.406262451, 0.726549011, -1.08593585, 0.527355255, -1.05469391]]] : 2x2x5xf32
weft.program @layer_norm() -> (tensor<2x2x5xf32> {weft.output = "y"}, tensor<2x2xf32> {weft.output = "mean"}, tensor<2x2xf32> {weft.output = "rstd"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[[1.75, 0.75, -0.875, -1.0, -1.875], [-2.0, -1.25, -1.0, 1.375, -0.5]], [[-0.375, -1.875, 0.0, -0.375, 0.25], [2.0, -0.125, 0.5, 0.0, 1.25]]]> : tensor<2x2x5xf32>
  %w = weft.constant dense<[-1.0, -1.625, 0.75, 1.625, 1.25]> : tensor<5xf32>
  %b = weft.constant dense<[2.0, -1.0, -0.875, 2.0, -1.875]> : tensor<5xf32>
  %y, %mean, %rstd = weft.layer_norm %x, %w, %b {eps = 1.0e-5 : f64} : tensor<2x2x5xf32>, tensor<5xf32>
  weft.return %y, %mean, %rstd : tensor<2x2x5xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: program @rms_norm{{$}}
// CHECK-NEXT: rstd = [0.800800945, 0.79134234, 0.814800573] : 3xf32
// CHECK-NEXT: y = {{\[\[}}0.150150177, 0.875876034, 2.00200236, -1.40140165, -0.750750886], [-0.0865530685, -2.42348592, 1.11282517, -2.57186261, 0.593506755], [0.178237625, 1.78237625, 1.65506366, -0.203700143, -0.61110043]] : 3x5xf32
weft.program @rms_norm() -> (tensor<3x5xf32> {weft.output = "y"}, tensor<3xf32> {weft.output = "rstd"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[1.5, -0.625, -2.0, -0.875, -0.625], [-0.875, 1.75, -1.125, -1.625, 0.5], [1.75, -1.25, -1.625, -0.125, -0.5]]> : tensor<3x5xf32>
  %w = weft.constant dense<[0.125, -1.75, -1.25, 2.0, 1.5]> : tensor<5xf32>
  %y, %rstd = weft.rms_norm %x, %w {eps = 1.0e-6 : f64} : tensor<3x5xf32>, tensor<5xf32>
  weft.return %y, %rstd : tensor<3x5xf32>, tensor<3xf32>
}

// CHECK-LABEL: program @rope{{$}}
// CHECK-NEXT: r = {{\[\[}}{{\[\[}}-1.875, -1.125, 1.5, -0.875], [2, 0.90625, -0.5, 1.5625]], {{\[\[}}1.25, -3, -0.3125, 1], [-0.28125, -1.5, -0.0625, -0.75]]]] : 1x2x2x4xf32
weft.program @rope() -> (tensor<1x2x2x4xf32> {weft.output = "r"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[[[-1.875, -1.5, 1.5, 0.5], [2.0, 2.0, -0.5, 0.125]], [[1.5, 2.0, 1.75, 2.0], [-0.125, 0.0, -0.5, 1.5]]]]> : tensor<1x2x2x4xf32>
  %c = weft.constant dense<[[1.0, 0.5], [0.25, -0.5]]> : tensor<2x2xf32>
  %s = weft.constant dense<[[0.0, 0.75], [-0.5, 1.0]]> : tensor<2x2xf32>
  %r = weft.rope %x, %c, %s : tensor<1x2x2x4xf32>, tensor<2x2xf32>
  weft.return %r : tensor<1x2x2x4xf32>
}
