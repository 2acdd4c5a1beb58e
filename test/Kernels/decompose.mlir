// RUN: weft-opt %s --weft-decompose | FileCheck %s
// Composite ops become formulas; scopes are kept.

// CHECK-LABEL: weft.program @silu
// CHECK: %[[ONE:.*]] = weft.constant {{.*}}dense<1.0
// CHECK: %[[N:.*]] = weft.neg %arg0 {weft.scope = "h.0"}
// CHECK: %[[E:.*]] = weft.exp %[[N]]
// CHECK: %[[D:.*]] = weft.add %[[ONE]], %[[E]]
// CHECK: %[[S:.*]] = weft.div %[[ONE]], %[[D]]
// CHECK: weft.mul %arg0, %[[S]]
weft.program @silu(%x: tensor<8xf32> {weft.input = "x"})
    -> (tensor<8xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.silu %x {weft.scope = "h.0"} : tensor<8xf32>
  weft.return %y : tensor<8xf32>
}

// A reduction over dimensions of size 1 is a reshape.
// CHECK-LABEL: weft.program @trivial
// CHECK-NEXT: weft.reshape %arg0 : tensor<8x1xf32> to tensor<8xf32>
weft.program @trivial(%x: tensor<8x1xf32> {weft.input = "x"})
    -> (tensor<8xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.reduce sum %x dims [1] : tensor<8x1xf32>
  weft.return %y : tensor<8xf32>
}

// bf16 is computed in f32 and rounded once.
// CHECK-LABEL: weft.program @narrow
// CHECK: weft.cast %arg0 : tensor<8xbf16> to tensor<8xf32>
// CHECK: weft.cast {{.*}} : tensor<8xf32> to tensor<8xbf16>
weft.program @narrow(%x: tensor<8xbf16> {weft.input = "x"})
    -> (tensor<8xbf16> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.gelu %x : tensor<8xbf16>
  weft.return %y : tensor<8xbf16>
}
