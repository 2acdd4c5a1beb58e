// RUN: weft-reduce %s --reduction-tree="traversal-mode=0 test=%S/Inputs/has-tanh.sh" | FileCheck %s
// The smallest module that still has what the script looks for.

// CHECK-NOT: weft.param @unused
// CHECK: weft.tanh
module {
  weft.param @unused : tensor<4xf32>
  weft.param @w : tensor<4xf32>
  weft.program @model(%x: tensor<4xf32> {weft.input = "x"})
      -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<model>} {
    %t = weft.tanh %x : tensor<4xf32>
    weft.return %t : tensor<4xf32>
  }
}
