// RUN: weft-opt %s --weft-select-kernels --weft-decompose --weft-fuse --split-input-file --verify-diagnostics | FileCheck %s
// RUN: weft-opt %s --weft-select-kernels=library=cpu --weft-decompose --weft-fuse --split-input-file | FileCheck %s
// The library of the CPU claims the ops that it runs; the others become kernels.

weft.param @w : tensor<16x16xf32>
weft.state @wg : tensor<16x16xf32> {kind = #weft.state_kind<gradient>, param = @w}
// CHECK-LABEL: weft.program @micro
// CHECK: weft.call @{{[^{]*}} :
// CHECK: weft.reshape {{[^{]*$}}
// CHECK: weft.transpose {{[^{]*$}}
// CHECK: weft.matmul {{.*}} {weft.folded, weft.impl = "gemm"}
// CHECK: weft.accumulate {{.*}} {weft.impl = "folded"}
weft.program @micro(%x: tensor<4x4x16xf32> {weft.input = "x"}, %f: tensor<f32> {weft.input = "accumulate"})
    attributes {kind = #weft.kind<micro>} {
  %e = weft.exp %x : tensor<4x4x16xf32>
  %r = weft.reshape %e : tensor<4x4x16xf32> to tensor<16x16xf32>
  %t = weft.transpose %r [1, 0] : tensor<16x16xf32>
  %p = weft.matmul %t, %r : tensor<16x16xf32>, tensor<16x16xf32>
  %old = weft.read @wg : tensor<16x16xf32>
  %acc = weft.accumulate %old, %p, %f : tensor<16x16xf32>
  weft.return writes @wg = %acc : tensor<16x16xf32>
}

// -----

// A state that a program still reads is kept: nothing is added to its bytes, and
// the sum is a kernel.
weft.state @kept : tensor<16x16xf32> {kind = #weft.state_kind<gradient>}
// CHECK-LABEL: weft.program @reads_old
// CHECK: weft.matmul {{.*}} {weft.impl = "gemm"}
// CHECK: weft.call @
weft.program @reads_old(%x: tensor<16x16xf32> {weft.input = "x"}, %f: tensor<f32> {weft.input = "accumulate"})
    attributes {kind = #weft.kind<micro>} {
  %old = weft.read @kept : tensor<16x16xf32>
  %p = weft.matmul %old, %x : tensor<16x16xf32>, tensor<16x16xf32>
  %acc = weft.accumulate %old, %p, %f : tensor<16x16xf32>
  weft.return writes @kept = %acc : tensor<16x16xf32>
}

// -----

// Ops that move elements need no routine.
// CHECK-LABEL: weft.program @moves
// CHECK: weft.concat {{.*}} {dim = 0 : i64} :
weft.program @moves(%x: tensor<2xbf16> {weft.input = "x"})
    -> (tensor<4xbf16> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.concat %x, %x {dim = 0} : tensor<2xbf16>, tensor<2xbf16>
  weft.return %y : tensor<4xbf16>
}

// -----

// Routines take low types, with a result in f32 where the op has one. A loss has none.
// CHECK-LABEL: weft.program @low
// CHECK: weft.matmul {{.*}} {weft.impl = "gemm"} : tensor<16x16xbf16>
// CHECK: weft.matmul {{.*}} {out = f32, weft.impl = "gemm"} : tensor<16x16xbf16>
// CHECK-NOT: weft.cross_entropy
weft.program @low(%x: tensor<16x16xbf16> {weft.input = "x"}, %b: tensor<16xbf16> {weft.input = "b"},
    %t: tensor<16xi32> {weft.input = "t"})
    -> (tensor<16x16xf32> {weft.output = "y"}, tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<eval>} {
  %p = weft.matmul %x, %x bias %b : tensor<16xbf16> : tensor<16x16xbf16>, tensor<16x16xbf16>
  %y = weft.matmul %x, %x {out = f32} : tensor<16x16xbf16>, tensor<16x16xbf16>
  %loss, %lse, %denom = weft.cross_entropy %p, %t : tensor<16x16xbf16>, tensor<16xi32>
  weft.return %y, %loss : tensor<16x16xf32>, tensor<f32>
}

// -----

// Another name between a product and its accumulation changes nothing.
weft.param @w : tensor<16xf32>
weft.state @g : tensor<16xf32> {kind = #weft.state_kind<gradient>, param = @w}
// CHECK-LABEL: weft.program @renamed
// CHECK: weft.matmul {{.*}} {weft.folded, weft.impl = "gemm"}
// CHECK: weft.accumulate {{.*}} {weft.impl = "folded"}
weft.program @renamed(%x: tensor<4x4xf32> {weft.input = "x"}, %f: tensor<f32> {weft.input = "accumulate"})
    attributes {kind = #weft.kind<micro>} {
  %p = weft.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %r = weft.reshape %p : tensor<4x4xf32> to tensor<16xf32>
  %old = weft.read @g : tensor<16xf32>
  %acc = weft.accumulate %old, %r, %f : tensor<16xf32>
  weft.return writes @g = %acc : tensor<16xf32>
}

// -----

// Nothing of a step has a routine.
// CHECK-LABEL: weft.program @update
// CHECK-NOT: weft.sgd
// CHECK: weft.call @
weft.program @update(%p: tensor<4xf32> {weft.input = "p"}, %coef: tensor<f32> {weft.input = "coef"},
    %skip: tensor<i1> {weft.input = "skip"}, %step: tensor<i64> {weft.input = "step"}, %lr: tensor<f64> {weft.input = "lr"})
    -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<apply>} {
  %y, %b = weft.sgd(%p, %p, %p, %coef, %skip, %step, %lr, %lr, %lr) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
  weft.return %y : tensor<4xf32>
}
