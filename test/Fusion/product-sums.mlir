// RUN: weft-opt %s --weft-select-kernels=library=cuda | FileCheck %s
// RUN: weft-opt %s --weft-select-kernels="library=cuda epilogues=false" | FileCheck %s --check-prefix=OFF
// RUN: weft-opt %s --weft-select-kernels=library=cuda --remarks-filter=fusion -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: weft-opt %s --weft-select-kernels="library=cuda epilogues=false" --remarks-filter=fusion -o /dev/null 2>&1 | FileCheck %s --check-prefix=WITHOUT
// RUN: weft-opt %s --weft-select-kernels --remarks-filter=fusion -o /dev/null 2>&1 | FileCheck %s --check-prefix=CPU
// A product adds up a factor over the inner dimension, the bias gradient with the
// weight gradient, unless a kernel computes the factor: that kernel adds it up.

// The same numbers before and after, as a plan, and with all that a plan can say.
// RUN: weft-opt %s --weft-select-kernels=library=cuda -o %t.merged.mlir
// RUN: weft-interp --compare %s %t.merged.mlir --tolerance=1e-12 | FileCheck %s --check-prefix=SAME
// RUN: weft-opt %t.merged.mlir --weft-decompose --weft-fuse --weft-lower-to-plan --weft-add-device-workspaces=chips=sm_90 --weft-plan-memory --weft-verify-plan -o %t.plan.mlir
// RUN: weft-interp --compare %t.merged.mlir %t.plan.mlir --tolerance=1e-5 | FileCheck %s --check-prefix=SAME
// RUN: weft-opt %s --weft-select-kernels=library=interpreter -o %t.all.mlir
// RUN: weft-interp --compare %s %t.all.mlir --tolerance=1e-12 | FileCheck %s --check-prefix=SAME
// RUN: weft-opt %t.all.mlir --weft-decompose --weft-fuse --weft-lower-to-plan --weft-plan-memory --weft-verify-plan -o %t.all-plan.mlir
// RUN: weft-interp --compare %t.all.mlir %t.all-plan.mlir --tolerance=1e-5 | FileCheck %s --check-prefix=SAME
// SAME-DAG: joined: 0 of {{[1-9][0-9]*}} tensors differ
// SAME-DAG: inputs: 0 of {{[1-9][0-9]*}} tensors differ
// SAME-DAG: attention: 0 of {{[1-9][0-9]*}} tensors differ
// SAME-DAG: low: 0 of {{[1-9][0-9]*}} tensors differ
// SAME-DAG: moved: 0 of {{[1-9][0-9]*}} tensors differ
// SAME-DAG: kept: 0 of {{[1-9][0-9]*}} tensors differ
// SAME-DAG: both: 0 of {{[1-9][0-9]*}} tensors differ
// SAME-DAG: needed: 0 of {{[1-9][0-9]*}} tensors differ
// SAME-DAG: others: 0 of {{[1-9][0-9]*}} tensors differ

// CPU-DAG: Remark="reduce is not merged into the product that reads its operand: products of the CPU have no rhs_sum
// WITHOUT-DAG: Remark="reduce is not merged into the product that reads its operand: epilogues are off

// Of rows in batches, and of a factor that is transposed: the gradients of a
// weight and of one stored the other way.
// CHECK-LABEL: weft.program @inputs
// CHECK: %[[G:.*]] = weft.reshape %arg1
// CHECK: %[[W:.*]], %[[B:.*]] = weft.gemm %arg0 transposed * %[[G]] {weft.impl = "gemm"} : tensor<8x4xf32> * tensor<8x3xf32> -> tensor<4x3xf32> rhs_sum(tensor<3xf32>)
// CHECK: %[[V:.*]], %[[C:.*]] = weft.gemm %{{.*}} transposed * %arg0 {weft.impl = "gemm"} : tensor<8x3xf32> * tensor<8x4xf32> -> tensor<3x4xf32> lhs_sum(tensor<3xf32>)
// CHECK-NEXT: weft.return %[[W]], %[[B]], %[[V]], %[[C]]
// WHY: Remark="reduce is merged into the product that reads its operand; {{[0-9]+}} times, here first
// OFF-LABEL: weft.program @inputs
// OFF-NOT: weft.gemm
weft.program @inputs(%x: tensor<8x4xf32> {weft.input = "x"}, %g: tensor<2x4x3xf32> {weft.input = "g"}, %h: tensor<2x4x3xf32> {weft.input = "h"})
    -> (tensor<4x3xf32> {weft.output = "dw"}, tensor<3xf32> {weft.output = "db"}, tensor<3x4xf32> {weft.output = "dv"}, tensor<3xf32> {weft.output = "dc"}) attributes {kind = #weft.kind<eval>} {
  %b = weft.reduce sum %g dims [0, 1] : tensor<2x4x3xf32>
  %r = weft.reshape %g : tensor<2x4x3xf32> to tensor<8x3xf32>
  %w = weft.matmul %x, %r {transpose_lhs} : tensor<8x4xf32>, tensor<8x3xf32>
  %s = weft.reshape %h : tensor<2x4x3xf32> to tensor<8x3xf32>
  %v = weft.matmul %s, %x {transpose_lhs} : tensor<8x3xf32>, tensor<8x4xf32>
  %c = weft.reduce sum %h dims [0, 1] : tensor<2x4x3xf32>
  weft.return %w, %b, %v, %c : tensor<4x3xf32>, tensor<3xf32>, tensor<3x4xf32>, tensor<3xf32>
}

// Gradients of queries, keys and values lie side by side: a library writes all.
// CHECK-LABEL: weft.program @attention
// CHECK: weft.attention_grad
// CHECK: %[[W:.*]], %[[B:.*]] = weft.gemm %{{.*}} transposed * %{{.*}} {weft.impl = "gemm"} : tensor<8x8xf32> * tensor<8x24xf32> -> tensor<8x24xf32> rhs_sum(tensor<24xf32>)
// CHECK-NEXT: weft.return %[[W]], %[[B]]
weft.program @attention(%x: tensor<8x8xf32> {weft.input = "x"}, %q: tensor<2x4x2x4xf32> {weft.input = "q"}, %g: tensor<2x4x2x4xf32> {weft.input = "g"})
    -> (tensor<8x24xf32> {weft.output = "dw"}, tensor<24xf32> {weft.output = "db"}) attributes {kind = #weft.kind<eval>} {
  %o, %lse = weft.attention %q, %q, %q {causal, scale = 0.5 : f64} : tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>
  %dq, %dk, %dv = weft.attention_grad %g, %q, %q, %q, %o, %lse {causal, scale = 0.5 : f64} : tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>, tensor<2x2x4xf32>
  %a = weft.reshape %dq : tensor<2x4x2x4xf32> to tensor<2x4x8xf32>
  %b = weft.reshape %dk : tensor<2x4x2x4xf32> to tensor<2x4x8xf32>
  %c = weft.reshape %dv : tensor<2x4x2x4xf32> to tensor<2x4x8xf32>
  %d = weft.concat %a, %b, %c {dim = 2} : tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %db = weft.reduce sum %d dims [0, 1] : tensor<2x4x24xf32>
  %r = weft.reshape %d : tensor<2x4x24xf32> to tensor<8x24xf32>
  %dw = weft.matmul %x, %r {transpose_lhs} : tensor<8x8xf32>, tensor<8x24xf32>
  weft.return %dw, %db : tensor<8x24xf32>, tensor<24xf32>
}

// Sums of f16 are f32, as their widened copy has them; one that is rounded, or
// that others widen too, stays.
// CHECK-LABEL: weft.program @low
// CHECK-NEXT: %[[W:.*]], %[[B:.*]] = weft.gemm %arg0 transposed * %arg1 {out = f32, weft.impl = "gemm"} : tensor<8x4xf16> * tensor<8x3xf16> -> tensor<4x3xf32> rhs_sum(tensor<3xf32>)
// CHECK: weft.matmul %arg0, %arg2
// CHECK: weft.reduce sum %arg2
// CHECK: weft.reduce sum
// WHY-DAG: Remark="reduce is not merged into the product that reads its operand: it is rounded
// WHY-DAG: Remark="reduce is not merged into the product that reads its operand: another op widens that too
weft.program @low(%x: tensor<8x4xf16> {weft.input = "x"}, %g: tensor<8x3xf16> {weft.input = "g"}, %h: tensor<8x3xf16> {weft.input = "h"})
    -> (tensor<4x3xf32> {weft.output = "dw"}, tensor<3xf32> {weft.output = "db"}, tensor<4x3xf32> {weft.output = "dv"}, tensor<3xf16> {weft.output = "dc"}) attributes {kind = #weft.kind<eval>} {
  %wide = weft.cast %g : tensor<8x3xf16> to tensor<8x3xf32>
  %b = weft.reduce sum %wide dims [0] : tensor<8x3xf32>
  %w = weft.matmul %x, %g {out = f32, transpose_lhs} : tensor<8x4xf16>, tensor<8x3xf16>
  %v = weft.matmul %x, %h {out = f32, transpose_lhs} : tensor<8x4xf16>, tensor<8x3xf16>
  %c = weft.reduce sum %h dims [0] : tensor<8x3xf16>
  %other = weft.cast %h : tensor<8x3xf16> to tensor<8x3xf32>
  %d = weft.reduce sum %other dims [0] : tensor<8x3xf32>
  %m = weft.reduce max %other dims [0] : tensor<8x3xf32>
  %md = weft.add %m, %d : tensor<3xf32>, tensor<3xf32>
  %bd = weft.add %b, %md : tensor<3xf32>, tensor<3xf32>
  weft.return %w, %bd, %v, %c : tensor<4x3xf32>, tensor<3xf32>, tensor<4x3xf32>, tensor<3xf16>
}

// An op that reads the sum before the product moves after it, and the product still
// performs the accumulation of its result.
weft.param @w : tensor<4x3xf32>
weft.state @w.grad : tensor<4x3xf32> {kind = #weft.state_kind<gradient>, param = @w}
weft.param @b : tensor<3xf32>
weft.state @b.grad : tensor<3xf32> {kind = #weft.state_kind<gradient>, param = @b}
// CHECK-LABEL: weft.program @moved
// CHECK: %[[W:.*]], %[[B:.*]] = weft.gemm %arg0 transposed * %arg1 {weft.folded, weft.impl = "gemm"} : {{.*}} rhs_sum(tensor<3xf32>)
// CHECK-NEXT: %[[A:.*]] = weft.accumulate %{{.*}}, %[[B]], %arg2 : tensor<3xf32>
// CHECK-NEXT: %[[R:.*]] = weft.reshape %[[A]]
// CHECK: %[[C:.*]] = weft.accumulate %{{.*}}, %[[W]], %arg2 {weft.impl = "folded"}
weft.program @moved(%x: tensor<8x4xf32> {weft.input = "x"}, %g: tensor<8x3xf32> {weft.input = "g"}, %flag: tensor<f32> {weft.input = "accumulate"})
    attributes {kind = #weft.kind<micro>} {
  %b = weft.reduce sum %g dims [0] : tensor<8x3xf32>
  %old = weft.read @b.grad : tensor<3xf32>
  %a = weft.accumulate %old, %b, %flag : tensor<3xf32>
  %r = weft.reshape %a : tensor<3xf32> to tensor<1x3xf32>
  %w = weft.matmul %x, %g {transpose_lhs} : tensor<8x4xf32>, tensor<8x3xf32>
  %before = weft.read @w.grad : tensor<4x3xf32>
  %c = weft.accumulate %before, %w, %flag : tensor<4x3xf32>
  %f = weft.reshape %r : tensor<1x3xf32> to tensor<3xf32>
  weft.return writes @w.grad = %c : tensor<4x3xf32>, @b.grad = %f : tensor<3xf32>
}

// Sums that stay: of rows that a kernel computes; of a product with an epilogue; over
// other dimensions, which is no part of the product at all.
// CHECK-LABEL: weft.program @kept
// CHECK: weft.exp
// CHECK: weft.matmul
// CHECK: weft.reduce
// CHECK: weft.gemm {{.*}} epilogue relu {weft.impl = "gemm"} : {{.*}} -> tensor<4x3xf32>{{$}}
// CHECK: weft.reduce
// CHECK: weft.matmul
// CHECK-NEXT: weft.reduce sum %{{.*}} dims [1]
// WHY-DAG: Remark="reduce is not merged into the product that reads its operand: a kernel computes that
// WHY-DAG: Remark="reduce is not merged into the product that reads its operand: expects the sum of a factor without an epilogue, but got 1
weft.program @kept(%x: tensor<8x4xf32> {weft.input = "x"}, %g: tensor<8x3xf32> {weft.input = "g"}, %k: tensor<8x3xf32> {weft.input = "k"})
    -> (tensor<4x3xf32> {weft.output = "a"}, tensor<3xf32> {weft.output = "b"}, tensor<4x3xf32> {weft.output = "c"}, tensor<3xf32> {weft.output = "d"}, tensor<4x3xf32> {weft.output = "o"}, tensor<8xf32> {weft.output = "j"}) attributes {kind = #weft.kind<eval>} {
  %n = weft.exp %g : tensor<8x3xf32>
  %a = weft.matmul %x, %n {transpose_lhs} : tensor<8x4xf32>, tensor<8x3xf32>
  %b = weft.reduce sum %n dims [0] : tensor<8x3xf32>
  %p = weft.matmul %x, %g {transpose_lhs} : tensor<8x4xf32>, tensor<8x3xf32>
  %c = weft.relu %p : tensor<4x3xf32>
  %d = weft.reduce sum %g dims [0] : tensor<8x3xf32>
  %o = weft.matmul %x, %k {transpose_lhs} : tensor<8x4xf32>, tensor<8x3xf32>
  %j = weft.reduce sum %k dims [1] : tensor<8x3xf32>
  weft.return %a, %b, %c, %d, %o, %j : tensor<4x3xf32>, tensor<3xf32>, tensor<4x3xf32>, tensor<3xf32>, tensor<4x3xf32>, tensor<8xf32>
}

// A call of cuBLASLt adds up one factor, and each reduction joins one product.
// CHECK-LABEL: weft.program @both
// CHECK: weft.gemm {{.*}} lhs_sum(tensor<4xf32>)
// CHECK-NEXT: weft.reduce sum %arg1
// CHECK-NEXT: weft.matmul
// WHY-DAG: Remark="reduce is not merged into the product that reads its operand: expects the sum of one factor, but got both
weft.program @both(%x: tensor<8x4xf32> {weft.input = "x"}, %h: tensor<8x3xf32> {weft.input = "h"})
    -> (tensor<4x3xf32> {weft.output = "e"}, tensor<4xf32> {weft.output = "i"}, tensor<3xf32> {weft.output = "f"}, tensor<4x4xf32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %e = weft.matmul %x, %h {transpose_lhs} : tensor<8x4xf32>, tensor<8x3xf32>
  %i = weft.reduce sum %x dims [0] : tensor<8x4xf32>
  %f = weft.reduce sum %h dims [0] : tensor<8x3xf32>
  %s = weft.matmul %x, %x {transpose_lhs} : tensor<8x4xf32>, tensor<8x4xf32>
  weft.return %e, %i, %f, %s : tensor<4x3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<4x4xf32>
}

// The result of another product; its columns, where a factor stands as it is;
// products of batches and of f16 that is not widened keep theirs outside.
// CHECK-LABEL: weft.program @others
// CHECK: %[[P:.*]] = weft.matmul %arg0, %arg1
// CHECK-NEXT: %{{.*}}, %{{.*}} = weft.gemm %[[P]] * %arg2 {weft.impl = "gemm"} : tensor<8x3xf32> * tensor<3x4xf32> -> tensor<8x4xf32> lhs_sum(tensor<8xf32>)
// CHECK: weft.matmul %arg3
// CHECK: weft.reduce
// CHECK: weft.matmul
// CHECK: weft.reduce
// WHY-DAG: Remark="reduce is not merged into the product that reads its operand: expects the sum of a factor of the type of C, f32 (0), but got 2
weft.program @others(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"}, %v: tensor<3x4xf32> {weft.input = "v"}, %y: tensor<2x3x4xf32> {weft.input = "y"}, %l: tensor<8x4xf16> {weft.input = "l"})
    -> (tensor<8x4xf32> {weft.output = "a"}, tensor<8xf32> {weft.output = "b"}, tensor<2x3x3xf32> {weft.output = "c"}, tensor<4xf32> {weft.output = "d"}, tensor<4xf32> {weft.output = "e"}) attributes {kind = #weft.kind<eval>} {
  %p = weft.matmul %x, %w : tensor<8x4xf32>, tensor<4x3xf32>
  %a = weft.matmul %p, %v : tensor<8x3xf32>, tensor<3x4xf32>
  %b = weft.reduce sum %p dims [1] : tensor<8x3xf32>
  %c = weft.matmul %y, %y {transpose_rhs} : tensor<2x3x4xf32>, tensor<2x3x4xf32>
  %d = weft.reduce sum %y dims [0, 1] : tensor<2x3x4xf32>
  %m = weft.matmul %l, %l {transpose_lhs} : tensor<8x4xf16>, tensor<8x4xf16>
  %wide = weft.cast %l : tensor<8x4xf16> to tensor<8x4xf32>
  %n = weft.reduce sum %wide dims [0] : tensor<8x4xf32>
  %mw = weft.cast %m : tensor<4x4xf16> to tensor<4x4xf32>
  %mm = weft.reduce max %mw dims [0] : tensor<4x4xf32>
  %e = weft.add %n, %mm : tensor<4xf32>, tensor<4xf32>
  weft.return %a, %b, %c, %d, %e : tensor<8x4xf32>, tensor<8xf32>, tensor<2x3x3xf32>, tensor<4xf32>, tensor<4xf32>
}

// The product itself needs the sum: as what its other factor is made of, or as
// its bias.
// CHECK-LABEL: weft.program @needed
// CHECK: weft.reduce
// CHECK-NEXT: weft.sub
// CHECK-NEXT: weft.matmul
// CHECK-NEXT: weft.reduce
// CHECK-NEXT: weft.matmul {{.*}} bias
// WHY-DAG: Remark="reduce is not merged into the product that reads its operand: it is needed before the product
weft.program @needed(%g: tensor<8x3xf32> {weft.input = "g"}, %x: tensor<8x3xf32> {weft.input = "x"}, %h: tensor<8x3xf32> {weft.input = "h"})
    -> (tensor<3x3xf32> {weft.output = "a"}, tensor<3x3xf32> {weft.output = "b"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.reduce sum %g dims [0] : tensor<8x3xf32>
  %y = weft.sub %x, %s : tensor<8x3xf32>, tensor<3xf32>
  %a = weft.matmul %y, %g {transpose_lhs} : tensor<8x3xf32>, tensor<8x3xf32>
  %p = weft.matmul %x, %h {transpose_lhs} : tensor<8x3xf32>, tensor<8x3xf32>
  %t = weft.reduce sum %h dims [0] : tensor<8x3xf32>
  %b = weft.add %p, %t : tensor<3x3xf32>, tensor<3xf32>
  weft.return %a, %b : tensor<3x3xf32>, tensor<3x3xf32>
}

// The other factor is no matrix; the bias is made of the sum, and stands behind
// the product.
// CHECK-LABEL: weft.program @joined
// CHECK-NEXT: weft.matmul
// CHECK-NEXT: weft.reduce
// CHECK-NEXT: weft.reduce
// CHECK-NEXT: %[[R:.*]] = weft.relu
// CHECK-NEXT: weft.matmul {{.*}} bias %[[R]]
weft.program @joined(%x: tensor<2x8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"}, %g: tensor<8x3xf32> {weft.input = "g"}, %h: tensor<8x3xf32> {weft.input = "h"})
    -> (tensor<2x8x3xf32> {weft.output = "a"}, tensor<3xf32> {weft.output = "b"}, tensor<3x3xf32> {weft.output = "c"}) attributes {kind = #weft.kind<eval>} {
  %a = weft.matmul %x, %w : tensor<2x8x4xf32>, tensor<4x3xf32>
  %b = weft.reduce sum %w dims [0] : tensor<4x3xf32>
  %p = weft.matmul %g, %h {transpose_lhs} : tensor<8x3xf32>, tensor<8x3xf32>
  %t = weft.reduce sum %h dims [0] : tensor<8x3xf32>
  %r = weft.relu %t : tensor<3xf32>
  %c = weft.add %p, %r : tensor<3x3xf32>, tensor<3xf32>
  weft.return %a, %b, %c : tensor<2x8x3xf32>, tensor<3xf32>, tensor<3x3xf32>
}
