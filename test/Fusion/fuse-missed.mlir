// RUN: weft-opt %s --weft-decompose --weft-fuse=max-ops=2 --remarks-filter=fusion --verify-diagnostics
// A group that has reached the limit says so on the op that is left out; each
// kernel lists its ops.

weft.program @long(%x: tensor<64xf32> {weft.input = "x"})
    -> (tensor<64xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{computes exp, neg; calls: 1}}
  %a = weft.exp %x : tensor<64xf32>
  %b = weft.neg %a : tensor<64xf32>
  // expected-remark @+2 {{computes exp; calls: 1}}
  // expected-remark @+1 {{is not fused with the kernel of its operand: that has 2 ops and 1 buffers, the limits are 2 and 24}}
  %c = weft.exp %b : tensor<64xf32>
  weft.return %c : tensor<64xf32>
}
