// RUN: weft-opt --weft-decompose --weft-fuse %s | FileCheck %s
// RUN: weft-opt --weft-decompose --weft-fuse %s -o %t.mlir
// RUN: weft-interp --compare %s %t.mlir --tolerance=0 | FileCheck %s --check-prefix=EQUAL

// One kernel writes both halves of every head, and reads the tables as they are.
// EQUAL: f32: 0 of 1 tensors differ
// EQUAL: low: 0 of 1 tensors differ
// EQUAL: pairs: 0 of 1 tensors differ
// EQUAL: gradient: 0 of 1 tensors differ

// CHECK-LABEL: weft.program @f32
// CHECK-NOT: weft.concat
// CHECK-COUNT-1: weft.call
// CHECK-NOT: {{weft.call|weft.concat}}
// CHECK: weft.return
weft.program @f32(%x: tensor<2x3x2x20xf32> {weft.input = "x"}, %c: tensor<3x10xf32> {weft.input = "c"}, %s: tensor<3x10xf32> {weft.input = "s"})
    -> (tensor<2x3x2x20xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.rope %x, %c, %s : tensor<2x3x2x20xf32>, tensor<3x10xf32>
  weft.return %y : tensor<2x3x2x20xf32>
}

// CHECK-LABEL: weft.program @low
// CHECK-COUNT-1: weft.call
// CHECK-NOT: {{weft.call|weft.concat}}
// CHECK: weft.return
weft.program @low(%x: tensor<1x3x1x4xbf16> {weft.input = "x"}, %c: tensor<3x2xbf16> {weft.input = "c"}, %s: tensor<3x2xbf16> {weft.input = "s"})
    -> (tensor<1x3x1x4xbf16> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.rope %x, %c, %s : tensor<1x3x1x4xbf16>, tensor<3x2xbf16>
  weft.return %y : tensor<1x3x1x4xbf16>
}

// The least: halves of one element, one position.
// CHECK-LABEL: weft.program @pairs
// CHECK-COUNT-1: weft.call
// CHECK-NOT: {{weft.call|weft.concat}}
// CHECK: weft.return
weft.program @pairs(%x: tensor<1x1x1x2xf64> {weft.input = "x"}, %c: tensor<1x1xf64> {weft.input = "c"}, %s: tensor<1x1xf64> {weft.input = "s"})
    -> (tensor<1x1x1x2xf64> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.rope %x, %c, %s : tensor<1x1x1x2xf64>, tensor<1x1xf64>
  weft.return %y : tensor<1x1x1x2xf64>
}

// Later ops join the kernel; the sine of a gradient is negated.
// CHECK-LABEL: weft.program @gradient
// CHECK-NOT: weft.concat
// CHECK: weft.return
weft.program @gradient(%x: tensor<2x3x2x8xf32> {weft.input = "x"}, %c: tensor<3x4xf32> {weft.input = "c"}, %s: tensor<3x4xf32> {weft.input = "s"})
    -> (tensor<2x3x16xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %n = weft.neg %s : tensor<3x4xf32>
  %y = weft.rope %x, %c, %n : tensor<2x3x2x8xf32>, tensor<3x4xf32>
  %r = weft.reshape %y : tensor<2x3x2x8xf32> to tensor<2x3x16xf32>
  %e = weft.exp %r : tensor<2x3x16xf32>
  weft.return %e : tensor<2x3x16xf32>
}
