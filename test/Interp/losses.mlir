// RUN: weft-interp %s | FileCheck %s

// Losses with ignored rows, class weights and smoothing.
// Values: test/Interp/reference.py (PyTorch in float64).

// CHECK-LABEL: program @ce_plain{{$}}
// CHECK-NEXT: denom = 3 : f32
// CHECK-NEXT: grad = {{\[\[}}0.0156275197, -0.0873035731, 0.0291960505, 0.0424800028], [0.071264548, 0.0140328215, 0.0381451638, -0.123442533], [-0.116987546, 0.0496791207, 0.023466755, 0.0438416702]] : 3x4xf32
// CHECK-NEXT: loss = 1.10065676 : f32
// CHECK-NEXT: lse = [0.616962366, 0.849596829, 1.58541107] : 3xf32
weft.program @ce_plain() -> (tensor<f32> {weft.output = "loss"}, tensor<3xf32> {weft.output = "lse"}, tensor<f32> {weft.output = "denom"}, tensor<3x4xf32> {weft.output = "grad"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[-1.75, -0.125, -1.125, -0.75], [0.0, -1.625, -0.625, -0.5], [0.375, 0.375, -0.375, 0.25]]> : tensor<3x4xf32>
  %t = weft.constant dense<[1, 3, 0]> : tensor<3xi32>
  %g = weft.constant dense<0.5> : tensor<f32>
  %loss, %lse, %denom = weft.cross_entropy %x, %t : tensor<3x4xf32>, tensor<3xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %denom
      : tensor<f32>, tensor<3x4xf32>, tensor<3xi32>, tensor<3xf32>
  weft.return %loss, %lse, %denom, %d : tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3x4xf32>
}

// CHECK-LABEL: program @ce_ignored{{$}}
// CHECK-NEXT: denom = 3 : f32
// CHECK-NEXT: grad = {{\[\[}}[0.0602085911, -0.0673994818, 0.00719089075], [0, 0, 0]], {{\[\[}}-0.0393536333, 0.0221236879, 0.0172299454], [0.00313650066, 0.151125065, -0.154261566]]] : 2x2x3xf32
// CHECK-NEXT: loss = 1.12847192 : f32
// CHECK-NEXT: lse = {{\[\[}}2.51818076, 1.22480532], [0.269346926, 2.09788807]] : 2x2xf32
weft.program @ce_ignored() -> (tensor<f32> {weft.output = "loss"}, tensor<2x2xf32> {weft.output = "lse"}, tensor<f32> {weft.output = "denom"}, tensor<2x2x3xf32> {weft.output = "grad"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[[1.5, 2.0, -0.625], [0.125, 0.75, -1.875]], [[0.0, -1.75, -2.0], [-1.875, 2.0, -0.5]]]> : tensor<2x2x3xf32>
  %t = weft.constant dense<[[1, -100], [0, 2]]> : tensor<2x2xi32>
  %g = weft.constant dense<0.5> : tensor<f32>
  %loss, %lse, %denom = weft.cross_entropy %x, %t {ignore_index = -100} : tensor<2x2x3xf32>, tensor<2x2xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %denom {ignore_index = -100}
      : tensor<f32>, tensor<2x2x3xf32>, tensor<2x2xi32>, tensor<2x2xf32>
  weft.return %loss, %lse, %denom, %d : tensor<f32>, tensor<2x2xf32>, tensor<f32>, tensor<2x2x3xf32>
}

// CHECK-LABEL: program @ce_sum{{$}}
// CHECK-NEXT: denom = 1 : f32
// CHECK-NEXT: grad = {{\[\[}}0.263402755, -0.294861728, 0.0314589729], [0, 0, 0], [-0.308099359, 0.0906474443, 0.217451915]] : 3x3xf32
// CHECK-NEXT: loss = 1.8485542 : f32
// CHECK-NEXT: lse = [2.64092385, 2.16599424, 2.83263035] : 3xf32
weft.program @ce_sum() -> (tensor<f32> {weft.output = "loss"}, tensor<3xf32> {weft.output = "lse"}, tensor<f32> {weft.output = "denom"}, tensor<3x3xf32> {weft.output = "grad"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[2.0, 1.75, -0.125], [1.5, -1.25, 1.375], [1.875, 1.125, 2.0]]> : tensor<3x3xf32>
  %t = weft.constant dense<[1, 2, 0]> : tensor<3xi32>
  %g = weft.constant dense<0.5> : tensor<f32>
  %loss, %lse, %denom = weft.cross_entropy %x, %t {reduction = #weft.loss_reduction<sum>, ignore_index = 2} : tensor<3x3xf32>, tensor<3xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %denom {reduction = #weft.loss_reduction<sum>, ignore_index = 2}
      : tensor<f32>, tensor<3x3xf32>, tensor<3xi32>, tensor<3xf32>
  weft.return %loss, %lse, %denom, %d : tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3x3xf32>
}

// CHECK-LABEL: program @ce_weighted{{$}}
// CHECK-NEXT: denom = 2 : f32
// CHECK-NEXT: grad = {{\[\[}}0.132911928, -0.374716851, 0.0711426285, 0.170662294], [0.00614232948, 0.00372551115, 0.0311933229, -0.0410611636], [0, 0, 0, 0]] : 3x4xf32
// CHECK-NEXT: loss = 1.83246155 : f32
// CHECK-NEXT: lse = [1.56638999, 1.81996249, -0.0798481202] : 3xf32
weft.program @ce_weighted() -> (tensor<f32> {weft.output = "loss"}, tensor<3xf32> {weft.output = "lse"}, tensor<f32> {weft.output = "denom"}, tensor<3x4xf32> {weft.output = "grad"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[0.375, -0.375, -0.25, 0.625], [-0.5, -1.0, 1.125, 0.75], [-1.625, -1.0, -2.0, -1.5]]> : tensor<3x4xf32>
  %t = weft.constant dense<[1, 3, -100]> : tensor<3xi32>
  %w = weft.constant dense<[1.125, 1.75, 0.75, 0.25]> : tensor<4xf32>
  %g = weft.constant dense<0.5> : tensor<f32>
  %loss, %lse, %denom = weft.cross_entropy %x, %t weight %w : tensor<4xf32> {ignore_index = -100} : tensor<3x4xf32>, tensor<3xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %denom weight %w : tensor<4xf32> {ignore_index = -100}
      : tensor<f32>, tensor<3x4xf32>, tensor<3xi32>, tensor<3xf32>
  weft.return %loss, %lse, %denom, %d : tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3x4xf32>
}

// CHECK-LABEL: program @ce_smoothed{{$}}
// CHECK-NEXT: denom = 3 : f32
// CHECK-NEXT: grad = {{\[\[}}-0.00158937093, -0.112134154, 0.100553251, 0.0131702742], [0.0146175814, 0.0236382024, -0.00130437925, -0.0369514046], [-0.137570817, 0.00667964989, 0.0233094559, 0.107581711]] : 3x4xf32
// CHECK-NEXT: loss = 1.51095861 : f32
// CHECK-NEXT: lse = [2.45480845, 2.0040059, 1.89046773] : 3xf32
weft.program @ce_smoothed() -> (tensor<f32> {weft.output = "loss"}, tensor<3xf32> {weft.output = "lse"}, tensor<f32> {weft.output = "denom"}, tensor<3x4xf32> {weft.output = "grad"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[-1.375, 1.0, 2.0, 0.25], [-0.125, 0.25, -1.75, 1.625], [-0.625, -0.75, 0.125, 1.5]]> : tensor<3x4xf32>
  %t = weft.constant dense<[1, 3, 0]> : tensor<3xi32>
  %g = weft.constant dense<0.5> : tensor<f32>
  %loss, %lse, %denom = weft.cross_entropy %x, %t {label_smoothing = 0.125 : f64} : tensor<3x4xf32>, tensor<3xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %denom {label_smoothing = 0.125 : f64}
      : tensor<f32>, tensor<3x4xf32>, tensor<3xi32>, tensor<3xf32>
  weft.return %loss, %lse, %denom, %d : tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3x4xf32>
}

// CHECK-LABEL: program @ce_smoothed_weighted{{$}}
// CHECK-NEXT: denom = 3 : f32
// CHECK-NEXT: grad = {{\[\[}}-0.00783191664, -0.17208972, 0.111149478, 0.0687721581], [0, 0, 0, 0], [-0.141129133, 0.121894543, 0.0311933539, -0.0119587637]] : 3x4xf32
// CHECK-NEXT: loss = 1.66870363 : f32
// CHECK-NEXT: lse = [1.68685376, 1.42551112, 1.24556167] : 3xf32
weft.program @ce_smoothed_weighted() -> (tensor<f32> {weft.output = "loss"}, tensor<3xf32> {weft.output = "lse"}, tensor<f32> {weft.output = "denom"}, tensor<3x4xf32> {weft.output = "grad"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[-2.0, 0.0, 0.875, 0.625], [0.5, -0.125, -1.75, 0.375], [-0.375, 0.75, -0.625, -2.0]]> : tensor<3x4xf32>
  %t = weft.constant dense<[1, -100, 0]> : tensor<3xi32>
  %w = weft.constant dense<[1.375, 1.625, 0.375, 2.0]> : tensor<4xf32>
  %g = weft.constant dense<0.5> : tensor<f32>
  %loss, %lse, %denom = weft.cross_entropy %x, %t weight %w : tensor<4xf32> {label_smoothing = 0.25 : f64} : tensor<3x4xf32>, tensor<3xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %denom weight %w : tensor<4xf32> {label_smoothing = 0.25 : f64}
      : tensor<f32>, tensor<3x4xf32>, tensor<3xi32>, tensor<3xf32>
  weft.return %loss, %lse, %denom, %d : tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3x4xf32>
}

// CHECK-LABEL: program @ce_all_ignored{{$}}
// CHECK-NEXT: denom = 0 : f32
// CHECK-NEXT: loss = nan : f32
weft.program @ce_all_ignored() -> (tensor<f32> {weft.output = "loss"}, tensor<f32> {weft.output = "denom"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[0.125, 2.0, -0.5], [-0.125, 2.0, -2.0]]> : tensor<2x3xf32>
  %t = weft.constant dense<[-100, -100]> : tensor<2xi64>
  %loss, %lse, %denom = weft.cross_entropy %x, %t : tensor<2x3xf32>, tensor<2xi64>
  weft.return %loss, %denom : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: program @pairs{{$}}
// CHECK-NEXT: bce = 0.835319392 : f32
// CHECK-NEXT: bce_sum = 5.01191635 : f32
// CHECK-NEXT: mse = 2.33333333 : f32
// CHECK-NEXT: mse_sum = 14 : f32
weft.program @pairs() -> (tensor<f32> {weft.output = "mse"}, tensor<f32> {weft.output = "mse_sum"}, tensor<f32> {weft.output = "bce"}, tensor<f32> {weft.output = "bce_sum"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[-1.375, 0.0, -1.375], [-0.875, 1.125, -1.75]]> : tensor<2x3xf32>
  %t = weft.constant dense<[[0.75, 0.0, 0.5], [0.5, 0.375, 0.125]]> : tensor<2x3xf32>
  %mse = weft.mse %x, %t : tensor<2x3xf32>
  %mse_sum = weft.mse %x, %t {reduction = #weft.loss_reduction<sum>} : tensor<2x3xf32>
  %bce = weft.bce_with_logits %x, %t : tensor<2x3xf32>
  %bce_sum = weft.bce_with_logits %x, %t {reduction = #weft.loss_reduction<sum>} : tensor<2x3xf32>
  weft.return %mse, %mse_sum, %bce, %bce_sum : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
