// RUN: weft-opt %s --weft-decompose --weft-fuse --remarks-filter=fusion -o /dev/null 2>&1 | FileCheck %s

// The name of a kernel in listings: its ops in order, each once, constants and views
// left out; the sizes of its largest value; the types that come in and go out.

// CHECK: Remark="add+relu 8x4 f32, @k_{{[0-9a-f]+}}, computes add, relu; calls: 1
weft.program @chain(%x: tensor<8x4xf32> {weft.input = "x"}, %b: tensor<4xf32> {weft.input = "b"})
    -> (tensor<8x4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.add %x, %b : tensor<8x4xf32>, tensor<4xf32>
  %y = weft.relu %s : tensor<8x4xf32>
  weft.return %y : tensor<8x4xf32>
}

// CHECK: Remark="mul+sum 8x4 f32, @k_{{[0-9a-f]+}}, computes
weft.program @reduces(%x: tensor<8x4xf32> {weft.input = "x"})
    -> (tensor<8xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.mul %x, %x : tensor<8x4xf32>, tensor<8x4xf32>
  %y = weft.reduce sum %s dims [1] : tensor<8x4xf32>
  weft.return %y : tensor<8xf32>
}

// CHECK: Remark="cast 6x2 bf16->f32, @k_
weft.program @casts(%x: tensor<6x2xbf16> {weft.input = "x"})
    -> (tensor<6x2xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.cast %x : tensor<6x2xbf16> to tensor<6x2xf32>
  weft.return %y : tensor<6x2xf32>
}

// More than four ops are counted.
// CHECK: Remark="exp+add+mul+neg+(2 more) 5x3 f32, @k_
weft.program @many(%x: tensor<5x3xf32> {weft.input = "x"})
    -> (tensor<5x3xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %a = weft.exp %x : tensor<5x3xf32>
  %b = weft.add %a, %x : tensor<5x3xf32>, tensor<5x3xf32>
  %c = weft.mul %b, %x : tensor<5x3xf32>, tensor<5x3xf32>
  %d = weft.neg %c : tensor<5x3xf32>
  %e = weft.exp %d : tensor<5x3xf32>
  %f = weft.sub %e, %x : tensor<5x3xf32>, tensor<5x3xf32>
  %y = weft.sqrt %f : tensor<5x3xf32>
  weft.return %y : tensor<5x3xf32>
}

// A scalar has no sizes.
// CHECK: Remark="add f32, @k_
weft.program @scalar(%x: tensor<f32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.add %x, %x : tensor<f32>, tensor<f32>
  weft.return %y : tensor<f32>
}

// Of a formula its op is named, once, among those beside it.
// CHECK: Remark="add+layer_norm+relu 8x4 f32, @k_{{[0-9a-f]+}}, computes add x3, reduce x2
weft.program @formula(%x: tensor<8x4xf32> {weft.input = "x"}, %y: tensor<8x4xf32> {weft.input = "y"}, %w: tensor<4xf32> {weft.input = "w"})
    -> (tensor<8x4xf32> {weft.output = "z"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.add %x, %y : tensor<8x4xf32>, tensor<8x4xf32>
  %n, %mean, %rstd = weft.layer_norm %s, %w, %w {eps = 1.0e-5 : f64} : tensor<8x4xf32>, tensor<4xf32>
  %z = weft.relu %n : tensor<8x4xf32>
  weft.return %z : tensor<8x4xf32>
}

// A kernel whose ops stand in one program and are a formula in another is called
// by the formula, whichever comes first.
// CHECK: Remark="softmax 8x12 f32, @k_{{[0-9a-f]+}}, computes reduce x2, sub, exp, div; calls: 2
weft.program @written(%x: tensor<8x12xf32> {weft.input = "x"}) -> (tensor<8x12xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %m = weft.reduce max %x dims [1] {keep_dims} : tensor<8x12xf32>
  %s = weft.sub %x, %m : tensor<8x12xf32>, tensor<8x1xf32>
  %e = weft.exp %s : tensor<8x12xf32>
  %t = weft.reduce sum %e dims [1] {keep_dims} : tensor<8x12xf32>
  %y = weft.div %e, %t : tensor<8x12xf32>, tensor<8x1xf32>
  weft.return %y : tensor<8x12xf32>
}
weft.program @named(%x: tensor<8x12xf32> {weft.input = "x"}) -> (tensor<8x12xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.softmax %x : tensor<8x12xf32>
  weft.return %y : tensor<8x12xf32>
}
