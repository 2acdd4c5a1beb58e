// REQUIRES: full
// RUN: rm -rf %t && mkdir -p %t
// RUN: weft-opt %s --weft-select-kernels=library=cuda --weft-decompose --weft-fuse -o %t/fused.mlir
// RUN: weft-interp --compare %s %t/fused.mlir --tolerance=1e-6 | FileCheck %s --check-prefix=INTERP
// RUN: sed -E '/weft.program/,/^  }/d; s/@k_\w+(\(%%arg0: tensor<f32>\))/@k_flag_zeros0\1/; s/@k_\w+(\(%%arg0: tensor<1005x(\w+)>)/@k_starts_\2_nan0_ones2\1/; s/@k_\w+(\(%%arg0: tensor<1003x(\w+)>)/@k_adds_\2_zeros2\1/' %t/fused.mlir > %t/kernels.mlir
// RUN: %python %S/Inputs/emulate.py %t/kernels.mlir %t/run 1 | FileCheck %s
// RUN: for type in f32 f16 bf16; do cmp %t/run/written/k_starts_${type}_nan0_ones2.1 %t/run/written/k_starts_${type}_nan0_ones2.3 || exit 1; done
// RUN: not cmp %t/run/written/k_product_nan0_zeros2.1 %t/run/written/k_product_nan0_zeros2.3
// RUN: od -An -tu1 %t/run/written/k_flag_zeros0.1 | FileCheck %s --check-prefix=FLAG
// In the first micro-step an accumulator is NaN, as memory that nobody has written, and
// becomes the value to the bit, which a product with the flag would not give. In others it gets the sum.

// INTERP: starts: 0 of 3 tensors differ
// INTERP: adds: 0 of 3 tensors differ
// CHECK-COUNT-8: {{^k_.*: equal$}}
// CHECK-NEXT: {{^8 results of 8 kernels as the interpreter computes them$}}
// CHECK-NOT: {{.}}
// FLAG: {{^ +1$}}
module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.program @starts(%a: tensor<1005xf32> {weft.input = "a"}, %b: tensor<1005xf16> {weft.input = "b"}, %c: tensor<1005xbf16> {weft.input = "c"},
    %x: tensor<1005xf32> {weft.input = "x"}, %y: tensor<1005xf16> {weft.input = "y"}, %z: tensor<1005xbf16> {weft.input = "z"}, %flag: tensor<f32> {weft.input = "flag"})
    -> (tensor<1005xf32> {weft.output = "p"}, tensor<1005xf16> {weft.output = "q"}, tensor<1005xbf16> {weft.output = "r"}) attributes {kind = #weft.kind<apply>} {
  %p = weft.accumulate %a, %x, %flag : tensor<1005xf32>
  %q = weft.accumulate %b, %y, %flag : tensor<1005xf16>
  %r = weft.accumulate %c, %z, %flag : tensor<1005xbf16>
  weft.return %p, %q, %r : tensor<1005xf32>, tensor<1005xf16>, tensor<1005xbf16>
}
weft.program @adds(%a: tensor<1003xf32> {weft.input = "a"}, %b: tensor<1003xf16> {weft.input = "b"}, %c: tensor<1003xbf16> {weft.input = "c"},
    %x: tensor<1003xf32> {weft.input = "x"}, %y: tensor<1003xf16> {weft.input = "y"}, %z: tensor<1003xbf16> {weft.input = "z"}, %flag: tensor<f32> {weft.input = "flag"})
    -> (tensor<1003xf32> {weft.output = "p"}, tensor<1003xf16> {weft.output = "q"}, tensor<1003xbf16> {weft.output = "r"}) attributes {kind = #weft.kind<apply>} {
  %p = weft.accumulate %a, %x, %flag : tensor<1003xf32>
  %q = weft.accumulate %b, %y, %flag : tensor<1003xf16>
  %r = weft.accumulate %c, %z, %flag : tensor<1003xbf16>
  weft.return %p, %q, %r : tensor<1003xf32>, tensor<1003xf16>, tensor<1003xbf16>
}
weft.kernel @k_product_nan0_zeros2(%old: tensor<1007xf32>, %value: tensor<1007xf32>, %flag: tensor<f32>) -> tensor<1007xf32> elementwise [1007] inplace [[]] {
  %kept = weft.mul %old, %flag : tensor<1007xf32>, tensor<f32>
  %sum = weft.add %kept, %value : tensor<1007xf32>, tensor<1007xf32>
  weft.yield %sum : tensor<1007xf32>
}
}
