// RUN: weft-opt %s --weft-select-kernels --weft-decompose --weft-fuse | FileCheck %s
// Chains of elementwise ops and reductions become kernels; equal chains share
// one, and an op whose operand is used in between starts a kernel of its own.

// CHECK-LABEL: weft.program @shared
// CHECK-NEXT: %[[A:.*]] = weft.call @[[LN:k_[0-9a-f]+]](%arg0, %arg1)
// CHECK-NEXT: %[[M:.*]] = weft.matmul %[[A]], %arg2
// CHECK-NEXT: %[[B:.*]] = weft.call @[[LN]](%[[M]], %arg1)
// CHECK-NEXT: weft.return %[[B]]
weft.program @shared(%x: tensor<4x8x16xf32> {weft.input = "x"}, %g: tensor<16xf32> {weft.input = "g"},
    %w: tensor<16x16xf32> {weft.input = "w"})
    -> (tensor<4x8x16xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %a, %m0, %r0 = weft.layer_norm %x, %g, %g {eps = 1.0e-5 : f64, weft.scope = "h.0"} : tensor<4x8x16xf32>, tensor<16xf32>
  %b = weft.matmul %a, %w : tensor<4x8x16xf32>, tensor<16x16xf32>
  %c, %m1, %r1 = weft.layer_norm %b, %g, %g {eps = 1.0e-5 : f64, weft.scope = "h.1"} : tensor<4x8x16xf32>, tensor<16xf32>
  weft.return %c : tensor<4x8x16xf32>
}

// A reshape between row-compatible shapes does not split the chain.
// CHECK-LABEL: weft.program @reshape
// CHECK-NEXT: %[[Z:.*]] = weft.call @{{.*}}(%arg0, %arg1)
// CHECK-NEXT: weft.return %[[Z]]
weft.program @reshape(%x: tensor<4x8x16xf32> {weft.input = "x"}, %g: tensor<16xf32> {weft.input = "g"})
    -> (tensor<32x16xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %a = weft.exp %x : tensor<4x8x16xf32>
  %b = weft.reshape %a : tensor<4x8x16xf32> to tensor<32x16xf32>
  %c = weft.mul %b, %g : tensor<32x16xf32>, tensor<16xf32>
  weft.return %c : tensor<32x16xf32>
}

// The second multiplication would need the matmul's result before the kernel
// that the matmul waits for: no cycle is made.
// CHECK-LABEL: weft.program @no_cycle
// CHECK-NEXT: %[[E:.*]] = weft.call
// CHECK-NEXT: %[[P:.*]] = weft.matmul %[[E]], %[[E]]
// CHECK-NEXT: %[[S:.*]] = weft.call @{{.*}}({{.*}}%[[P]]
// CHECK-NEXT: weft.return %[[S]]
weft.program @no_cycle(%x: tensor<16x16xf32> {weft.input = "x"})
    -> (tensor<16x16xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %a = weft.exp %x : tensor<16x16xf32>
  %p = weft.matmul %a, %a : tensor<16x16xf32>, tensor<16x16xf32>
  %b = weft.mul %a, %p : tensor<16x16xf32>, tensor<16x16xf32>
  weft.return %b : tensor<16x16xf32>
}

// A gradient of a bias: the elementwise producer, the sum over the rows and the
// accumulation are one kernel, which may write over the old sum.
// CHECK-LABEL: weft.program @bias_gradient
// CHECK: %[[OLD:.*]] = weft.read @g
// CHECK: %[[R:.*]]:2 = weft.call @[[BIAS:k_[0-9a-f]+]]
// CHECK: weft.return %[[R]]#0 {{.*}} writes @g = %[[R]]#1
weft.param @b : tensor<256xf32>
weft.state @g : tensor<256xf32> {kind = #weft.state_kind<gradient>, param = @b}
weft.program @bias_gradient(%x: tensor<64x256xf32> {weft.input = "x"}, %y: tensor<64x256xf32> {weft.input = "y"},
    %f: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<64x256xf32> {weft.output = "d"}) attributes {kind = #weft.kind<micro>} {
  %d = weft.mul %x, %y : tensor<64x256xf32>, tensor<64x256xf32>
  %s = weft.reduce sum %d dims [0] : tensor<64x256xf32>
  %old = weft.read @g : tensor<256xf32>
  %acc = weft.accumulate %old, %s, %f : tensor<256xf32>
  weft.return %d : tensor<64x256xf32> writes @g = %acc : tensor<256xf32>
}

// A matmul accumulates by itself.
// CHECK-LABEL: weft.program @matmul_gradient
// CHECK: weft.matmul
// CHECK: weft.accumulate
weft.param @w : tensor<16x16xf32>
weft.state @wg : tensor<16x16xf32> {kind = #weft.state_kind<gradient>, param = @w}
weft.program @matmul_gradient(%x: tensor<16x16xf32> {weft.input = "x"}, %f: tensor<f32> {weft.input = "accumulate"})
    attributes {kind = #weft.kind<micro>} {
  %p = weft.matmul %x, %x : tensor<16x16xf32>, tensor<16x16xf32>
  %old = weft.read @wg : tensor<16x16xf32>
  %acc = weft.accumulate %old, %p, %f : tensor<16x16xf32>
  weft.return writes @wg = %acc : tensor<16x16xf32>
}

// CHECK: weft.kernel @[[LN]](
// CHECK-SAME: rows [32, 16] over [1] inplace {{\[\[0\]\]}}
// CHECK: weft.rsqrt
// CHECK: weft.kernel @[[BIAS]](
// CHECK-SAME: tensor<64x256xf32>
// CHECK: weft.reduce sum
// CHECK: weft.select
