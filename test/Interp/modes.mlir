// RUN: weft-interp %s | FileCheck %s --check-prefix=F64
// RUN: weft-interp %s --mode=f32 | FileCheck %s --check-prefix=F32

// In f32 mode each result is rounded to its element type, in f64 mode none is.

// 1 + 2^-30 is no f32 and 1 + 2^-9 no bf16 value; 1e30 overflows f16. Sums inside
// of one op are not rounded: 2^-30 arrives in the product of @inside.
// F64-LABEL: program @rounding
// F64-NEXT: bf16 = 1.00195312 : bf16
// F64-NEXT: f16 = 1e+30 : f16
// F64-NEXT: f32 = 9.31322575e-10 : f32
// F64-NEXT: f64 = 9.31322575e-10 : f64
// F32-LABEL: program @rounding
// F32-NEXT: bf16 = 1 : bf16
// F32-NEXT: f16 = inf : f16
// F32-NEXT: f32 = 0 : f32
// F32-NEXT: f64 = 9.31322575e-10 : f64
weft.program @rounding() -> (tensor<f32> {weft.output = "f32"}, tensor<bf16> {weft.output = "bf16"},
                             tensor<f16> {weft.output = "f16"}, tensor<f64> {weft.output = "f64"})
    attributes {kind = #weft.kind<eval>} {
  %one = weft.constant dense<1.0> : tensor<f32>
  %tiny = weft.constant dense<9.31322574615478515625e-10> : tensor<f32>
  %sum = weft.add %one, %tiny : tensor<f32>, tensor<f32>
  %r = weft.sub %sum, %one : tensor<f32>, tensor<f32>
  %x = weft.constant dense<1.001953125> : tensor<f32>
  %b = weft.cast %x : tensor<f32> to tensor<bf16>
  %y = weft.constant dense<1.0e30> : tensor<f64>
  %h = weft.cast %y : tensor<f64> to tensor<f16>
  %one64 = weft.constant dense<1.0> : tensor<f64>
  %tiny64 = weft.constant dense<9.31322574615478515625e-10> : tensor<f64>
  %sum64 = weft.add %one64, %tiny64 : tensor<f64>, tensor<f64>
  %r64 = weft.sub %sum64, %one64 : tensor<f64>, tensor<f64>
  weft.return %r, %b, %h, %r64 : tensor<f32>, tensor<bf16>, tensor<f16>, tensor<f64>
}

// F64-LABEL: program @inside
// F64-NEXT: r = {{\[\[}}9.31322575e-10]] : 1x1xf32
// F32-LABEL: program @inside
// F32-NEXT: r = {{\[\[}}9.31322575e-10]] : 1x1xf32
weft.program @inside() -> (tensor<1x1xf32> {weft.output = "r"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[1.0, 9.31322574615478515625e-10, -1.0]]> : tensor<1x3xf32>
  %y = weft.constant dense<1.0> : tensor<3x1xf32>
  %r = weft.matmul %x, %y : tensor<1x3xf32>, tensor<3x1xf32>
  weft.return %r : tensor<1x1xf32>
}

// Integers wrap around in both modes.
// F64-LABEL: program @integers
// F64-NEXT: r = [-2147483648, -2, 0] : 3xi32
weft.program @integers() -> (tensor<3xi32> {weft.output = "r"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[2147483647, 2147483647, -1]> : tensor<3xi32>
  %y = weft.constant dense<[1, 2147483647, 1]> : tensor<3xi32>
  %r = weft.add %x, %y : tensor<3xi32>, tensor<3xi32>
  weft.return %r : tensor<3xi32>
}
