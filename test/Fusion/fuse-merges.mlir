// RUN: weft-opt %s --weft-decompose --weft-fuse --split-input-file --verify-roundtrip | FileCheck %s
// A kernel behind a routine that reads a result of an earlier kernel is computed
// with the earlier one, unless it needs the routine or more bytes.

// The gradients of silu(gate) * up, with the product of one in between: one
// kernel writes both.
// CHECK-LABEL: weft.program @gated
// CHECK-NEXT: %[[D:.*]]:2 = weft.call @{{.*}}(%arg0, %arg1, %arg2, %arg3)
// CHECK-NEXT: %[[UP:.*]] = weft.matmul %[[D]]#0, %arg4
// CHECK-NEXT: %[[GATE:.*]] = weft.matmul %[[D]]#1, %arg4
// CHECK-NEXT: weft.return %[[UP]], %[[GATE]]
// CHECK: weft.kernel {{.*}} inplace {{\[\[0, 1, 2, 3\], \[0, 1, 2, 3\]\]}}
weft.program @gated(%dy: tensor<64x32xbf16> {weft.input = "dy"}, %up: tensor<64x32xbf16> {weft.input = "up"},
    %silu: tensor<64x32xbf16> {weft.input = "silu"}, %gate: tensor<64x32xbf16> {weft.input = "gate"},
    %w: tensor<32x16xbf16> {weft.input = "w"})
    -> (tensor<64x16xbf16> {weft.output = "a"}, tensor<64x16xbf16> {weft.output = "b"}) attributes {kind = #weft.kind<eval>} {
  %ds = weft.mul %dy, %up : tensor<64x32xbf16>, tensor<64x32xbf16>
  %du = weft.mul %dy, %silu : tensor<64x32xbf16>, tensor<64x32xbf16>
  %a = weft.matmul %du, %w : tensor<64x32xbf16>, tensor<32x16xbf16>
  %x = weft.cast %gate : tensor<64x32xbf16> to tensor<64x32xf32>
  %s = weft.sigmoid %x : tensor<64x32xf32>
  %t = weft.mul %s, %x : tensor<64x32xf32>, tensor<64x32xf32>
  %wide = weft.cast %ds : tensor<64x32xbf16> to tensor<64x32xf32>
  %g = weft.mul %wide, %t : tensor<64x32xf32>, tensor<64x32xf32>
  %dg = weft.cast %g : tensor<64x32xf32> to tensor<64x32xbf16>
  %b = weft.matmul %dg, %w : tensor<64x32xbf16>, tensor<32x16xbf16>
  weft.return %a, %b : tensor<64x16xbf16>, tensor<64x16xbf16>
}

// -----

// Two routines in between, and a kernel that became part of an earlier one is
// itself one that a third kernel joins.
// CHECK-LABEL: weft.program @chain
// CHECK-NEXT: %[[K:.*]]:3 = weft.call @{{.*}}(%arg0, %arg1)
// CHECK-NEXT: weft.matmul %[[K]]#0, %[[K]]#0
// CHECK-NEXT: weft.matmul %[[K]]#1, %[[K]]#1
// CHECK-NEXT: weft.return {{.*}}, {{.*}}, %[[K]]#2
weft.program @chain(%x: tensor<16x16xf32> {weft.input = "x"}, %y: tensor<16x16xf32> {weft.input = "y"})
    -> (tensor<16x16xf32> {weft.output = "p"}, tensor<16x16xf32> {weft.output = "q"}, tensor<16x16xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %a = weft.exp %x : tensor<16x16xf32>
  %b = weft.mul %x, %y : tensor<16x16xf32>, tensor<16x16xf32>
  %e = weft.mul %y, %a : tensor<16x16xf32>, tensor<16x16xf32>
  %p = weft.matmul %a, %a : tensor<16x16xf32>, tensor<16x16xf32>
  %c = weft.neg %b : tensor<16x16xf32>
  %q = weft.matmul %c, %c : tensor<16x16xf32>, tensor<16x16xf32>
  %d = weft.log %e : tensor<16x16xf32>
  weft.return %p, %q, %d : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}

// -----

// The last kernel reads the one behind the first product, so it stays behind that
// product; it takes the place of %b.
// CHECK-LABEL: weft.program @needs_routine
// CHECK-NEXT: %[[A:.*]]:2 = weft.call
// CHECK-NEXT: %[[P:.*]] = weft.matmul %[[A]]#0
// CHECK-NEXT: %[[R:.*]]:2 = weft.call {{.*}}(%[[P]], %[[A]]#1)
// CHECK-NEXT: %[[Q:.*]] = weft.matmul %[[R]]#0
// CHECK-NEXT: weft.return %[[Q]], %[[R]]#1
weft.program @needs_routine(%x: tensor<16x16xf32> {weft.input = "x"})
    -> (tensor<16x16xf32> {weft.output = "q"}, tensor<16x16xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %a = weft.exp %x : tensor<16x16xf32>
  %b = weft.neg %x : tensor<16x16xf32>
  %p = weft.matmul %a, %a : tensor<16x16xf32>, tensor<16x16xf32>
  %r = weft.log %p : tensor<16x16xf32>
  %q = weft.matmul %r, %r : tensor<16x16xf32>, tensor<16x16xf32>
  %d = weft.mul %b, %r : tensor<16x16xf32>, tensor<16x16xf32>
  weft.return %q, %d : tensor<16x16xf32>, tensor<16x16xf32>
}

// -----

// The residual add behind a norm's gradient, of which a sum is taken in between:
// one kernel reduces the rows and writes the f32 and the bf16 gradient in the
// place of the residual's and its own.
// CHECK-LABEL: weft.program @residual
// CHECK-NEXT: %[[G:.*]] = weft.matmul
// CHECK-NEXT: %[[K:.*]]:3 = weft.call @[[ROWS:.*]](%arg0, %[[G]])
// CHECK-NEXT: %[[S:.*]] = weft.call {{.*}}(%[[K]]#0)
// CHECK-NEXT: weft.return %[[S]], %[[K]]#1, %[[K]]#2
// CHECK: weft.kernel @[[ROWS]]{{.*}} rows [64, 32] over [1]
weft.program @residual(%d: tensor<64x32xf32> {weft.input = "d"}, %w: tensor<32x32xf32> {weft.input = "w"})
    -> (tensor<32xf32> {weft.output = "s"}, tensor<64x32xf32> {weft.output = "r"}, tensor<64x32xbf16> {weft.output = "l"}) attributes {kind = #weft.kind<eval>} {
  %g = weft.matmul %d, %w : tensor<64x32xf32>, tensor<32x32xf32>
  %e = weft.exp %d : tensor<64x32xf32>
  %m = weft.reduce mean %e dims [1] {keep_dims} : tensor<64x32xf32>
  %c = weft.sub %e, %m : tensor<64x32xf32>, tensor<64x1xf32>
  %s = weft.reduce sum %e dims [0] : tensor<64x32xf32>
  %r = weft.add %g, %c : tensor<64x32xf32>, tensor<64x32xf32>
  %l = weft.cast %r : tensor<64x32xf32> to tensor<64x32xbf16>
  weft.return %s, %r, %l : tensor<32xf32>, tensor<64x32xf32>, tensor<64x32xbf16>
}

// -----

// The residual's gradient is read again, so f32 and bf16 results would take more
// bytes than the f32 result of the first kernel: both kernels stay apart.
// CHECK-LABEL: weft.program @residual_read
// CHECK-NEXT: %[[G:.*]] = weft.matmul
// CHECK-NEXT: %[[K:.*]]:2 = weft.call
// CHECK-NEXT: %[[S:.*]] = weft.call {{.*}}(%[[K]]#0)
// CHECK-NEXT: %[[R:.*]]:2 = weft.call {{.*}}(%[[G]], %[[K]]#1)
// CHECK-NEXT: weft.return %[[S]], %[[R]]#0, %[[R]]#1, %[[G]]
weft.program @residual_read(%d: tensor<64x32xf32> {weft.input = "d"}, %w: tensor<32x32xf32> {weft.input = "w"})
    -> (tensor<32xf32> {weft.output = "s"}, tensor<64x32xf32> {weft.output = "r"}, tensor<64x32xbf16> {weft.output = "l"},
        tensor<64x32xf32> {weft.output = "g"}) attributes {kind = #weft.kind<eval>} {
  %g = weft.matmul %d, %w : tensor<64x32xf32>, tensor<32x32xf32>
  %e = weft.exp %d : tensor<64x32xf32>
  %m = weft.reduce mean %e dims [1] {keep_dims} : tensor<64x32xf32>
  %c = weft.sub %e, %m : tensor<64x32xf32>, tensor<64x1xf32>
  %s = weft.reduce sum %e dims [0] : tensor<64x32xf32>
  %r = weft.add %g, %c : tensor<64x32xf32>, tensor<64x32xf32>
  %l = weft.cast %r : tensor<64x32xf32> to tensor<64x32xbf16>
  weft.return %s, %r, %l, %g : tensor<32xf32>, tensor<64x32xf32>, tensor<64x32xbf16>, tensor<64x32xf32>
}

// -----

// The first kernel would write f32 instead of bf16, or the same value besides.
// CHECK-LABEL: weft.program @more_bytes
// CHECK-NEXT: %[[A:.*]]:3 = weft.call
// CHECK-NEXT: %[[P:.*]] = weft.matmul %[[A]]#0
// CHECK-NEXT: %[[W:.*]]:2 = weft.call {{.*}}(%[[A]]#1, %[[A]]#2)
// CHECK-NEXT: weft.return %[[P]], %[[W]]#0, %[[W]]#1, %[[A]]#2
weft.program @more_bytes(%x: tensor<16x16xbf16> {weft.input = "x"})
    -> (tensor<16x16xbf16> {weft.output = "p"}, tensor<16x16xf32> {weft.output = "w"}, tensor<16x16xbf16> {weft.output = "d"},
        tensor<16x16xbf16> {weft.output = "c"}) attributes {kind = #weft.kind<eval>} {
  %a = weft.exp %x : tensor<16x16xbf16>
  %b = weft.neg %x : tensor<16x16xbf16>
  %c = weft.abs %x : tensor<16x16xbf16>
  %p = weft.matmul %a, %a : tensor<16x16xbf16>, tensor<16x16xbf16>
  %w = weft.cast %b : tensor<16x16xbf16> to tensor<16x16xf32>
  %d = weft.mul %c, %b : tensor<16x16xbf16>, tensor<16x16xbf16>
  weft.return %p, %w, %d, %c : tensor<16x16xbf16>, tensor<16x16xf32>, tensor<16x16xbf16>, tensor<16x16xbf16>
}

// -----

// A product reads the slice of %v again, so %v stays in use behind the kernel.
// CHECK-LABEL: weft.program @read_through_view
// CHECK: %[[A:.*]] = weft.call {{.*}}(%arg2)
// CHECK-NEXT: weft.matmul %[[A]], %arg3
// CHECK-NEXT: weft.call {{.*}}(%{{.*}}, %[[A]])
// CHECK: weft.matmul
weft.program @read_through_view(%x: tensor<64x64xf32> {weft.input = "x"}, %w: tensor<64x32xf32> {weft.input = "w"},
    %y: tensor<64x16xf32> {weft.input = "y"}, %q: tensor<16x16xf32> {weft.input = "q"})
    -> (tensor<64x16xf32> {weft.output = "p"}, tensor<64x16xf32> {weft.output = "d"}, tensor<64x16xf32> {weft.output = "z"}) attributes {kind = #weft.kind<eval>} {
  %v = weft.matmul %x, %w : tensor<64x64xf32>, tensor<64x32xf32>
  %s = weft.slice %v offsets [0, 0] sizes [64, 16] strides [1, 1] : tensor<64x32xf32>
  %a = weft.exp %y : tensor<64x16xf32>
  %p = weft.matmul %a, %q : tensor<64x16xf32>, tensor<16x16xf32>
  %d = weft.mul %a, %s : tensor<64x16xf32>, tensor<64x16xf32>
  %z = weft.matmul %s, %q : tensor<64x16xf32>, tensor<16x16xf32>
  weft.return %p, %d, %z : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>
}

// -----

// Loops of another size, and reductions, stay behind the routine.
// CHECK-LABEL: weft.program @other_loops
// CHECK-NEXT: %[[A:.*]]:3 = weft.call
// CHECK-NEXT: %[[P:.*]] = weft.matmul %[[A]]#0
// CHECK-NEXT: weft.call {{.*}}(%[[A]]#1)
// CHECK-NEXT: weft.matmul
// CHECK-NEXT: weft.call {{.*}}(%[[A]]#2, %arg1)
weft.program @other_loops(%x: tensor<16x16xf32> {weft.input = "x"}, %y: tensor<4x16x16xf32> {weft.input = "y"})
    -> (tensor<16x16xf32> {weft.output = "p"}, tensor<16xf32> {weft.output = "r"}, tensor<4x16x16xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %a = weft.exp %x : tensor<16x16xf32>
  %b = weft.neg %x : tensor<16x16xf32>
  %c = weft.abs %x : tensor<16x16xf32>
  %p = weft.matmul %a, %a : tensor<16x16xf32>, tensor<16x16xf32>
  %r = weft.reduce sum %b dims [1] : tensor<16x16xf32>
  %m = weft.matmul %p, %p : tensor<16x16xf32>, tensor<16x16xf32>
  %d = weft.mul %c, %y : tensor<16x16xf32>, tensor<4x16x16xf32>
  weft.return %m, %r, %d : tensor<16x16xf32>, tensor<16xf32>, tensor<4x16x16xf32>
}

// -----

// A constant that the later kernel reads stays in front of its other users.
// CHECK-LABEL: weft.program @constant
// CHECK: %[[C:.*]] = weft.constant
// CHECK-NEXT: %[[Q:.*]] = weft.matmul %[[C]], %[[C]]
// CHECK-NEXT: %[[A:.*]]:2 = weft.call
// CHECK-NEXT: %[[P:.*]] = weft.matmul %[[A]]#0, %[[Q]]
// CHECK-NEXT: weft.return %[[P]], %[[A]]#1
weft.program @constant(%x: tensor<16x16xf32> {weft.input = "x"})
    -> (tensor<16x16xf32> {weft.output = "p"}, tensor<16x16xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %c = weft.constant dense<2.0> : tensor<16x16xf32>
  %q = weft.matmul %c, %c : tensor<16x16xf32>, tensor<16x16xf32>
  %a = weft.exp %x : tensor<16x16xf32>
  %b = weft.neg %x : tensor<16x16xf32>
  %p = weft.matmul %a, %q : tensor<16x16xf32>, tensor<16x16xf32>
  %d = weft.mul %b, %c : tensor<16x16xf32>, tensor<16x16xf32>
  weft.return %p, %d : tensor<16x16xf32>, tensor<16x16xf32>
}
