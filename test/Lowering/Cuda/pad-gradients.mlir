// RUN: weft-opt %s --weft-pad-rows --weft-widen-products="rows=8 share=0" --weft-pad-gradients="rows=8 share=0" -o %t.mlir && FileCheck %s --input-file=%t.mlir
// RUN: weft-opt %t.mlir --weft-pad-rows --weft-widen-products="rows=8 share=0" --weft-pad-gradients="rows=8 share=0" -o %t.twice.mlir && cmp %t.mlir %t.twice.mlir
// RUN: weft-interp --compare %s %t.mlir --tolerance=0 --steps 3 --accum 2
// RUN: weft-opt %t.mlir --weft-plan-memory="alignment=16" --weft-verify-plan -o %t.memory.mlir && FileCheck %s --check-prefix=MEMORY --input-file=%t.memory.mlir
// RUN: weft-interp --compare %s %t.memory.mlir --tolerance=0 --steps 3 --accum 2
// RUN: weft-opt %s --weft-pad-rows --weft-widen-products="rows=8 share=0" --weft-pad-gradients="rows=9 share=0" | FileCheck %s --check-prefix=NONE
// RUN: weft-opt %s --weft-pad-rows --weft-widen-products="rows=8 share=0" --weft-pad-gradients="rows=8 share=32" | FileCheck %s --check-prefix=NONE
// RUN: weft-opt %s --weft-pad-rows --weft-pad-gradients="rows=8 share=0" | FileCheck %s --check-prefix=NONE
// RUN: weft-opt %s --weft-pad-rows --weft-widen-products="rows=8 share=0" --weft-pad-gradients="rows=8 share=0" --remarks-filter=fusion 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARKS
// The gradient of a weight has memory for rows of padding, which its product alone
// writes. Everything else sees its shape.

// NONE-NOT: padded_rows
// NONE: plan.gemm {{.*}} transposed * {{.*}} -> memref<31x4xf32>

module {

weft.kernel @k_scale(%z: tensor<8x31xf32>) -> tensor<8x31xf32> elementwise [248] inplace [[0]] {
  %y = weft.neg %z : tensor<8x31xf32>
  weft.yield %y : tensor<8x31xf32>
}

weft.kernel @k_step(%g: tensor<31x4xf32>, %w: tensor<31x4xf32>) -> tensor<31x4xf32> elementwise [124] inplace [[1]] {
  %y = weft.sub %w, %g : tensor<31x4xf32>, tensor<31x4xf32>
  weft.yield %y : tensor<31x4xf32>
}

plan.state param @w : memref<31x4xf32>
// The next state begins behind the padding: 2032 and 32 rows of 16 bytes.
// CHECK: plan.state gradient @w.grad : memref<31x4xf32> {padded_rows = 32 : i64, param = @w}
// MEMORY: plan.state gradient @w.grad : memref<31x4xf32> {offset = 2032 : i64, padded_rows = 32 : i64, param = @w}
// MEMORY: plan.state gradient @v.grad : memref<31x4xf32> {offset = 2544 : i64
plan.state gradient @w.grad : memref<31x4xf32> {param = @w}
plan.state param @v : memref<31x4xf32>
plan.state gradient @v.grad : memref<31x4xf32> {param = @v}

plan.program "init" @init {
  %w = plan.use @w : memref<31x4xf32>
  %v = plan.use @v : memref<31x4xf32>
  plan.constant %w = dense<0.25> : tensor<31x4xf32> : memref<31x4xf32>
  plan.constant %v = dense<0.5> : tensor<31x4xf32> : memref<31x4xf32>
}

// Two products add to the gradient of w, the first unless the flag is 0. A product
// without padding in its factor keeps the rows of v.
// CHECK-LABEL: plan.program "micro" @micro
// CHECK-DAG: %[[X:.*]] = plan.input "x"
// CHECK-DAG: %[[G:.*]] = plan.use @w.grad : memref<32x4xf32>
// CHECK-DAG: %[[ROWS:.*]] = plan.view %[[G]] : memref<32x4xf32> to memref<31x4xf32>
// CHECK-DAG: %[[Z:.*]] = plan.alloc activation : memref<8x32xf32>
// CHECK-DAG: %[[Y:.*]] = plan.alloc activation : memref<8x32xf32>
// CHECK: plan.gemm %[[X]] * {{.*}} transposed -> %[[Z]] : {{.*}} -> memref<8x32xf32>
// CHECK: plan.gemm %[[Z]] transposed * %[[X]] -> %[[G]] accumulate({{.*}}) : memref<8x32xf32> * memref<8x4xf32> -> memref<32x4xf32>
// CHECK: plan.gemm %[[X]] * {{.*}} transposed -> %[[Y]] : {{.*}} -> memref<8x32xf32>
// CHECK: plan.gemm %[[Y]] transposed * %[[X]] -> %[[G]] accumulate : memref<8x32xf32> * memref<8x4xf32> -> memref<32x4xf32>
// CHECK: plan.copy %[[ROWS]] to {{.*}} : memref<31x4xf32> to memref<31x4xf32>
// CHECK: plan.gemm {{.*}} transposed * %[[X]] -> {{.*}} accumulate({{.*}}) : memref<8x31xf32> * memref<8x4xf32> -> memref<31x4xf32>
// REMARKS: remark: {{.*}}a product of 31 rows writes 32
// REMARKS: remark: {{.*}}a product of 31 rows writes 32
plan.program "micro" @micro {
  %x = plan.input "x" : memref<8x4xf32>
  %add = plan.input "accumulate" : memref<f32>
  %dense = plan.input "dense" : memref<8x31xf32>
  %w = plan.use @w : memref<31x4xf32>
  %g = plan.use @w.grad : memref<31x4xf32>
  %h = plan.use @v.grad : memref<31x4xf32>
  %z = plan.alloc activation : memref<8x31xf32>
  %y = plan.alloc activation : memref<8x31xf32>
  %seen = plan.alloc temporary : memref<31x4xf32>
  plan.gemm %x * %w transposed -> %z : memref<8x4xf32> * memref<31x4xf32> -> memref<8x31xf32>
  plan.launch @k_scale ins(%z : memref<8x31xf32>) outs(%z : memref<8x31xf32>)
  plan.gemm %z transposed * %x -> %g accumulate(%add : memref<f32>) : memref<8x31xf32> * memref<8x4xf32> -> memref<31x4xf32>
  plan.gemm %x * %w transposed -> %y : memref<8x4xf32> * memref<31x4xf32> -> memref<8x31xf32>
  plan.gemm %y transposed * %x -> %g accumulate : memref<8x31xf32> * memref<8x4xf32> -> memref<31x4xf32>
  plan.copy %g to %seen : memref<31x4xf32> to memref<31x4xf32>
  plan.gemm %dense transposed * %x -> %h accumulate(%add : memref<f32>) : memref<8x31xf32> * memref<8x4xf32> -> memref<31x4xf32>
  plan.output "seen" %seen : memref<31x4xf32>
}

// CHECK-LABEL: plan.program "apply" @apply
// CHECK: %[[G:.*]] = plan.use @w.grad : memref<32x4xf32>
// CHECK: %[[ROWS:.*]] = plan.view %[[G]] : memref<32x4xf32> to memref<31x4xf32>
// CHECK: plan.launch @k_step ins(%[[ROWS]], {{.*}}
plan.program "apply" @apply {
  %g = plan.use @w.grad : memref<31x4xf32>
  %w = plan.use @w : memref<31x4xf32>
  plan.launch @k_step ins(%g, %w : memref<31x4xf32>, memref<31x4xf32>) outs(%w : memref<31x4xf32>)
}

// A gradient that is no state, as before a reduction, and products that stay: into a
// part of a bucket, and an addition to padding that nothing has written.
// CHECK-LABEL: plan.program "eval" @eval
// CHECK: plan.gemm {{.*}} transposed * {{.*}} : memref<8x32xf32> * memref<8x4xf32> -> memref<32x4xf32>
// CHECK: plan.gemm {{.*}} transposed * {{.*}} -> {{.*}} : memref<8x31xf32, strided<[32, 1]>> * memref<8x4xf32> -> memref<31x4xf32{{.*}}>
// CHECK: plan.gemm {{.*}} transposed * {{.*}} -> {{.*}} accumulate : memref<8x31xf32, strided<[32, 1]>> * memref<8x4xf32> -> memref<31x4xf32>
// CHECK: plan.output "d" {{.*}} : memref<31x4xf32>
// REMARKS: remark: {{.*}}a product of 31 rows writes 32
// REMARKS: remark: {{.*}}a product keeps 31 rows: its target is a part of a buffer
// REMARKS: remark: {{.*}}a product keeps 31 rows: it adds to padding that nothing has written
plan.program "eval" @eval {
  %x = plan.input "x" : memref<8x4xf32>
  %w = plan.use @w : memref<31x4xf32>
  %z = plan.alloc temporary : memref<8x31xf32>
  %d = plan.alloc temporary : memref<31x4xf32>
  %bucket = plan.alloc temporary : memref<256xf32>
  %part = plan.view %bucket : memref<256xf32> to memref<31x4xf32>
  %rest = plan.view %bucket : memref<256xf32> to memref<33x4xf32, strided<[4, 1], offset: 124>>
  %zeros = plan.alloc temporary : memref<33x4xf32>
  %sum = plan.alloc temporary : memref<31x4xf32>
  plan.gemm %x * %w transposed -> %z : memref<8x4xf32> * memref<31x4xf32> -> memref<8x31xf32>
  plan.gemm %z transposed * %x -> %d : memref<8x31xf32> * memref<8x4xf32> -> memref<31x4xf32>
  plan.gemm %z transposed * %x -> %part : memref<8x31xf32> * memref<8x4xf32> -> memref<31x4xf32>
  plan.constant %zeros = dense<0.0> : tensor<33x4xf32> : memref<33x4xf32>
  plan.copy %zeros to %rest : memref<33x4xf32> to memref<33x4xf32, strided<[4, 1], offset: 124>>
  plan.copy %d to %sum : memref<31x4xf32> to memref<31x4xf32>
  plan.gemm %z transposed * %x -> %sum accumulate : memref<8x31xf32> * memref<8x4xf32> -> memref<31x4xf32>
  plan.output "d" %d : memref<31x4xf32>
  plan.output "bucket" %bucket : memref<256xf32>
  plan.output "sum" %sum : memref<31x4xf32>
}

// Padding that the memory of a target cannot have. Pitches of 32 and 40 cannot pad
// one allocation, and no whole rows of 124, 31 or 124 elements are 32 * 4.
// CHECK-LABEL: plan.program "eval" @refused
// CHECK-DAG: %[[THREE:.*]] = plan.use @three.grad : memref<3x4xf32>
// CHECK-DAG: %[[TWICE:.*]] = plan.alloc temporary : memref<40x4xf32>
// CHECK: plan.gemm {{.*}} transposed * {{.*}} : memref<8x31xf32, strided<[32, 1]>> * memref<8x4xf32> -> memref<31x4xf32{{.*}}>
// CHECK: plan.gemm {{.*}} transposed * {{.*}} : memref<8x31xf32, strided<[32, 1]>> * memref<8x4xf32> -> memref<31x4xf32{{.*}}>
// CHECK: plan.gemm {{.*}} transposed * {{.*}} : memref<8x31xf32, strided<[32, 1]>> * memref<8x4xf32> -> memref<31x4xf32{{.*}}>
// CHECK: plan.gemm {{.*}} transposed * {{.*}} -> %[[THREE]] : memref<8x3xf32, strided<[40, 1]>> * memref<8x4xf32> -> memref<3x4xf32>
// CHECK: plan.gemm {{.*}} transposed * {{.*}} -> %[[TWICE]] : memref<8x40xf32> * memref<8x4xf32> -> memref<40x4xf32>
// CHECK: plan.gemm {{.*}} transposed * {{.*}} accumulate : memref<8x31xf32, strided<[32, 1]>> * memref<8x4xf32> -> memref<31x4xf32>
// CHECK: plan.gemm {{.*}} transposed * {{.*}} accumulate : memref<8x20xf32, strided<[40, 1]>> * memref<8x4xf32> -> memref<20x4xf32>
// REMARKS: remark: {{.*}}a product keeps 31 rows: its padding is no whole rows of the target's buffer
// REMARKS: remark: {{.*}}a product keeps 31 rows: its padding is no whole rows of the target's buffer
// REMARKS: remark: {{.*}}a product keeps 31 rows: its padding is no whole rows of the target's buffer
// REMARKS: remark: {{.*}}a product keeps 3 rows: it would have more rows of padding than others
// REMARKS: remark: {{.*}}a product of 31 rows writes 40
// REMARKS: remark: {{.*}}a product keeps 31 rows: its target has other padding
// REMARKS: remark: {{.*}}a product keeps 20 rows: its target is a part of a buffer
plan.state param @deep : memref<1x31x4xf32>
plan.state gradient @deep.grad : memref<1x31x4xf32> {param = @deep}
plan.state param @wide : memref<4x31xf32>
plan.state gradient @wide.grad : memref<4x31xf32> {param = @wide}
plan.state param @three : memref<3x4xf32>
plan.state gradient @three.grad : memref<3x4xf32> {param = @three}
plan.program "eval" @refused {
  %x = plan.input "x" : memref<8x4xf32>
  %w32 = plan.input "w32" : memref<32x4xf32>
  %w40 = plan.input "w40" : memref<40x4xf32>
  %deep = plan.use @deep.grad : memref<1x31x4xf32>
  %deepRows = plan.view %deep : memref<1x31x4xf32> to memref<31x4xf32>
  %wide = plan.use @wide.grad : memref<4x31xf32>
  %wideRows = plan.view %wide : memref<4x31xf32> to memref<31x4xf32>
  %three = plan.use @three.grad : memref<3x4xf32>
  %own = plan.alloc temporary : memref<1x31x4xf32>
  %ownRows = plan.view %own : memref<1x31x4xf32> to memref<31x4xf32>
  %twice = plan.alloc temporary : memref<31x4xf32>
  %part = plan.view %twice : memref<31x4xf32> to memref<20x4xf32>
  %z32 = plan.alloc temporary : memref<8x32xf32>
  %z = plan.view %z32 : memref<8x32xf32> to memref<8x31xf32, strided<[32, 1]>>
  %z40 = plan.alloc temporary : memref<8x40xf32>
  %y = plan.view %z40 : memref<8x40xf32> to memref<8x31xf32, strided<[40, 1]>>
  %half = plan.view %z40 : memref<8x40xf32> to memref<8x20xf32, strided<[40, 1]>>
  %few = plan.view %z40 : memref<8x40xf32> to memref<8x3xf32, strided<[40, 1]>>
  plan.gemm %x * %w32 transposed -> %z32 : memref<8x4xf32> * memref<32x4xf32> -> memref<8x32xf32>
  plan.gemm %x * %w40 transposed -> %z40 : memref<8x4xf32> * memref<40x4xf32> -> memref<8x40xf32>
  plan.gemm %z transposed * %x -> %deepRows : memref<8x31xf32, strided<[32, 1]>> * memref<8x4xf32> -> memref<31x4xf32>
  plan.gemm %z transposed * %x -> %wideRows : memref<8x31xf32, strided<[32, 1]>> * memref<8x4xf32> -> memref<31x4xf32>
  plan.gemm %z transposed * %x -> %ownRows : memref<8x31xf32, strided<[32, 1]>> * memref<8x4xf32> -> memref<31x4xf32>
  plan.gemm %few transposed * %x -> %three : memref<8x3xf32, strided<[40, 1]>> * memref<8x4xf32> -> memref<3x4xf32>
  plan.gemm %y transposed * %x -> %twice : memref<8x31xf32, strided<[40, 1]>> * memref<8x4xf32> -> memref<31x4xf32>
  plan.gemm %z transposed * %x -> %twice accumulate : memref<8x31xf32, strided<[32, 1]>> * memref<8x4xf32> -> memref<31x4xf32>
  plan.gemm %half transposed * %x -> %part accumulate : memref<8x20xf32, strided<[40, 1]>> * memref<8x4xf32> -> memref<20x4xf32>
  plan.output "own" %own : memref<1x31x4xf32>
  plan.output "twice" %twice : memref<31x4xf32>
}
}
