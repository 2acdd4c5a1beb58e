// RUN: weft-opt %s --weft-fuse=explain=true -o /dev/null 2>&1 | FileCheck %s

// What people call a kernel: its ops in order, each once, constants and views
// left out; the sizes of its largest value; the types that come in and go out.

// CHECK: remark: add+relu 8x4 f32, @k_{{[0-9a-f]+}}, computes add, relu; calls: 1
weft.program @chain(%x: tensor<8x4xf32> {weft.input = "x"}, %b: tensor<4xf32> {weft.input = "b"})
    -> (tensor<8x4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.add %x, %b : tensor<8x4xf32>, tensor<4xf32>
  %y = weft.relu %s : tensor<8x4xf32>
  weft.return %y : tensor<8x4xf32>
}

// CHECK: remark: mul+sum 8x4 f32, @k_{{[0-9a-f]+}}, computes
weft.program @reduces(%x: tensor<8x4xf32> {weft.input = "x"})
    -> (tensor<8xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.mul %x, %x : tensor<8x4xf32>, tensor<8x4xf32>
  %y = weft.reduce sum %s dims [1] : tensor<8x4xf32>
  weft.return %y : tensor<8xf32>
}

// CHECK: remark: cast 6x2 bf16->f32, @k_
weft.program @casts(%x: tensor<6x2xbf16> {weft.input = "x"})
    -> (tensor<6x2xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.cast %x : tensor<6x2xbf16> to tensor<6x2xf32>
  weft.return %y : tensor<6x2xf32>
}

// More than four ops are counted.
// CHECK: remark: exp+add+mul+neg+(2 more) 5x3 f32, @k_
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
// CHECK: remark: add f32, @k_
weft.program @scalar(%x: tensor<f32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.add %x, %x : tensor<f32>, tensor<f32>
  weft.return %y : tensor<f32>
}
