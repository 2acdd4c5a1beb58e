// RUN: weft-opt %s --weft-select-kernels --verify-diagnostics
// Without fusion an elementwise op has no routine.

weft.program @unfused(%x: tensor<16xf32> {weft.input = "x"})
    -> (tensor<16xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{has no implementation for the CPU; run weft-fuse before weft-select-kernels}}
  %y = weft.exp %x : tensor<16xf32>
  weft.return %y : tensor<16xf32>
}
