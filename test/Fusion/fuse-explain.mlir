// RUN: weft-opt %s --weft-decompose --weft-fuse --remarks-filter=fusion --split-input-file --verify-diagnostics
// Each op that is not in the kernel of its operand says why.

weft.program @between(%x: tensor<64x64xf32> {weft.input = "x"})
    -> (tensor<64x64xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{computes exp; calls: 1}}
  %a = weft.exp %x : tensor<64x64xf32>
  %m = weft.matmul %a, %x : tensor<64x64xf32>, tensor<64x64xf32>
  // expected-remark @+2 {{is not fused with the kernel of its operand: an op in between uses a result of that kernel}}
  // expected-remark @+1 {{computes add; calls: 1}}
  %b = weft.add %a, %m : tensor<64x64xf32>, tensor<64x64xf32>
  weft.return %b : tensor<64x64xf32>
}

// -----

weft.program @dimensions(%x: tensor<64x64xf32> {weft.input = "x"})
    -> (tensor<64xf32> {weft.output = "r"}, tensor<64xf32> {weft.output = "c"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{computes exp, reduce; calls: 1}}
  %a = weft.exp %x : tensor<64x64xf32>
  %r = weft.reduce sum %a dims [1] : tensor<64x64xf32>
  // expected-remark @+2 {{is not fused with the kernel of its operand: one loop nest cannot compute both}}
  // expected-remark @+1 {{computes reduce; calls: 1}}
  %c = weft.reduce sum %a dims [0] : tensor<64x64xf32>
  weft.return %r, %c : tensor<64xf32>, tensor<64xf32>
}

// -----

// One that joins that kernel later says nothing.
weft.program @moved(%x: tensor<64x64xf32> {weft.input = "x"})
    -> (tensor<64x64xf32> {weft.output = "y"}, tensor<64x64xf32> {weft.output = "z"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{computes exp, abs, neg; calls: 1}}
  %a = weft.exp %x : tensor<64x64xf32>
  %b = weft.abs %x : tensor<64x64xf32>
  %m = weft.matmul %a, %x : tensor<64x64xf32>, tensor<64x64xf32>
  %n = weft.neg %b : tensor<64x64xf32>
  weft.return %m, %n : tensor<64x64xf32>, tensor<64x64xf32>
}
