// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-kernels-to-gpu --weft-mark-kernel-arguments -o %t.gpu.mlir && FileCheck %s --input-file=%t.gpu.mlir
// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-to-cuda -o %t.mlir && FileCheck %s --check-prefix=LLVM --input-file=%t.mlir
// RUN: weft compile %t.mlir --from=lower-to-cuda --emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-kernels-to-gpu --weft-mark-kernel-arguments --remarks-filter=fusion 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARKS
// Arguments of kernels are read-only where no launch writes their bytes.

module attributes {weft.options = {target = "cuda:sm_90"}} {

// Buffers of their own.
// CHECK: gpu.func @k_apart(%{{.*}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr<1> {llvm.noalias}) kernel
// LLVM: llvm.func @k_apart(%{{.*}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr<1> {llvm.noalias})
// PTX: .entry k_apart(
// PTX-NOT: ld.global.v4
// PTX-COUNT-2: ld.global.nc.v4.b32
// PTX: st.global.v4.b32
weft.kernel @k_apart(%x: tensor<1024xf32>, %y: tensor<1024xf32>) -> tensor<1024xf32> elementwise [1024] inplace [[0]] {
  %z = weft.add %x, %y : tensor<1024xf32>, tensor<1024xf32>
  weft.yield %z : tensor<1024xf32>
}

// Over its first input. The other one is still read-only.
// CHECK: gpu.func @k_over(%{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr<1>) kernel
// LLVM: llvm.func @k_over(%{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr<1>)
// PTX: .entry k_over(
// PTX-DAG: ld.global.v4.b32
// PTX-DAG: ld.global.nc.v4.b32
// PTX: st.global.v4.b32
weft.kernel @k_over(%x: tensor<1024xf32>, %y: tensor<1024xf32>) -> tensor<1024xf32> elementwise [1024] inplace [[0]] {
  %z = weft.sub %x, %y : tensor<1024xf32>, tensor<1024xf32>
  weft.yield %z : tensor<1024xf32>
}

// Once over its input, in another program.
// CHECK: gpu.func @k_mixed(%{{[a-z0-9]+}}: !llvm.ptr<1>, %{{[a-z0-9]+}}: !llvm.ptr<1>) kernel
// REMARKS: mark-kernel-arguments.mlir:[[#]]:3: remark: {{.*}}input 0 of @k_mixed is not read-only: 1 of 2 launches overwrite it, the first one in @second
// REMARKS-NOT: remark
// PTX: .entry k_mixed(
// PTX-NOT: .nc
// PTX: .entry k_arena(
weft.kernel @k_mixed(%x: tensor<1024xf32>) -> tensor<1024xf32> elementwise [1024] inplace [[0]] {
  %y = weft.neg %x : tensor<1024xf32>
  weft.yield %y : tensor<1024xf32>
}

// Buffers at arena offsets that overlap: an edited plan.
// CHECK: gpu.func @k_arena(%{{[a-z0-9]+}}: !llvm.ptr<1>, %{{[a-z0-9]+}}: !llvm.ptr<1>) kernel
// PTX-NOT: .nc
// PTX: .entry k_columns(
weft.kernel @k_arena(%x: tensor<1024xf32>) -> tensor<1024xf32> elementwise [1024] inplace [[]] {
  %y = weft.abs %x : tensor<1024xf32>
  weft.yield %y : tensor<1024xf32>
}

// Columns of one matrix: other elements of the same rows.
// CHECK: gpu.func @k_columns(%{{.*}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr<1> {llvm.noalias}) kernel
weft.kernel @k_columns(%x: tensor<8x16xf32>) -> tensor<8x16xf32> elementwise [8, 16] inplace [[]] pitches [32, 32] {
  %y = weft.neg %x : tensor<8x16xf32>
  weft.yield %y : tensor<8x16xf32>
}

// One buffer twice, which nothing writes.
// CHECK: gpu.func @k_twice(%{{.*}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr<1> {llvm.noalias}) kernel
weft.kernel @k_twice(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> elementwise [64] inplace [[]] {
  %z = weft.mul %x, %y : tensor<64xf32>, tensor<64xf32>
  weft.yield %z : tensor<64xf32>
}

// Without a launch nothing is known.
// CHECK: gpu.func @k_idle(%{{[a-z0-9]+}}: !llvm.ptr<1>, %{{[a-z0-9]+}}: !llvm.ptr<1>) kernel
weft.kernel @k_idle(%x: tensor<64xf32>) -> tensor<64xf32> elementwise [64] inplace [[]] {
  %y = weft.abs %x : tensor<64xf32>
  weft.yield %y : tensor<64xf32>
}

// Members of a group, one of which updates a buffer in place. Blocks of @k_sums
// select one of two read-only pointers, blocks of @k_step one of which only the
// second is.
// CHECK: gpu.func @g_1(%{{[a-z0-9]+}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{[a-z0-9]+}}: !llvm.ptr<1>, %{{[a-z0-9]+}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{[a-z0-9]+}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{[a-z0-9]+}}: !llvm.ptr<1> {llvm.noalias}, %{{[a-z0-9]+}}: !llvm.ptr<1>, %{{[a-z0-9]+}}: !llvm.ptr<1> {llvm.noalias}, %{{[a-z0-9]+}}: !llvm.ptr<1> {llvm.noalias})
// PTX: .entry g_1(
// PTX: ld.global.nc.b32
// PTX: add.rn.f32
// PTX: bar.sync
// PTX-NOT: .nc
// PTX: neg.f32
weft.kernel @k_sums(%x: tensor<16x64xf32>) -> tensor<64xf32> columns [16, 64] over [0] inplace [[]] {
  %y = weft.reduce sum %x dims [0] : tensor<16x64xf32>
  weft.yield %y : tensor<64xf32>
}
weft.kernel @k_step(%x: tensor<64xf32>) -> tensor<64xf32> elementwise [64] inplace [[0]] {
  %y = weft.neg %x : tensor<64xf32>
  weft.yield %y : tensor<64xf32>
}
weft.kernel_group @g_1 of [@k_sums, @k_step, @k_sums, @k_step] : (tensor<16x64xf32>, tensor<64xf32>, tensor<16x64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) inplace [[], [1], [], [3]]

plan.program "eval" @first {
  %x = plan.input "x" {offset = 0 : i64} : memref<1024xf32>
  %y = plan.input "y" {offset = 4096 : i64} : memref<1024xf32>
  %z = plan.alloc temporary {offset = 8192 : i64} : memref<1024xf32>
  %n = plan.alloc temporary {offset = 12288 : i64} : memref<1024xf32>
  %o = plan.alloc temporary {offset = 14336 : i64} : memref<1024xf32>
  %m = plan.alloc temporary {offset = 20480 : i64} : memref<8x32xf32>
  %s = plan.input "s" {offset = 24576 : i64} : memref<16x64xf32>
  %t = plan.input "t" {offset = 28672 : i64} : memref<16x64xf32>
  %p = plan.alloc temporary {offset = 32768 : i64} : memref<64xf32>
  %q = plan.alloc temporary {offset = 33024 : i64} : memref<64xf32>
  %u = plan.alloc temporary {offset = 33280 : i64} : memref<64xf32>
  %v = plan.alloc temporary {offset = 33536 : i64} : memref<64xf32>
  %w = plan.alloc temporary {offset = 33792 : i64} : memref<64xf32>
  %left = plan.view %m : memref<8x32xf32> to memref<8x16xf32, strided<[32, 1]>>
  %right = plan.view %m : memref<8x32xf32> to memref<8x16xf32, strided<[32, 1], offset: 16>>
  plan.launch @k_apart ins(%x, %y : memref<1024xf32>, memref<1024xf32>) outs(%z : memref<1024xf32>)
  plan.launch @k_over ins(%z, %y : memref<1024xf32>, memref<1024xf32>) outs(%z : memref<1024xf32>)
  plan.launch @k_mixed ins(%z : memref<1024xf32>) outs(%n : memref<1024xf32>)
  plan.launch @k_arena ins(%n : memref<1024xf32>) outs(%o : memref<1024xf32>)
  plan.launch @k_columns ins(%left : memref<8x16xf32, strided<[32, 1]>>) outs(%right : memref<8x16xf32, strided<[32, 1], offset: 16>>)
  plan.launch @k_twice ins(%w, %w : memref<64xf32>, memref<64xf32>) outs(%q : memref<64xf32>)
  plan.launch @g_1 ins(%s, %q, %t, %w : memref<16x64xf32>, memref<64xf32>, memref<16x64xf32>, memref<64xf32>) outs(%p, %q, %u, %v : memref<64xf32>, memref<64xf32>, memref<64xf32>, memref<64xf32>)
}
plan.program "predict" @second {
  %x = plan.alloc temporary {offset = 0 : i64} : memref<1024xf32>
  plan.launch @k_mixed ins(%x : memref<1024xf32>) outs(%x : memref<1024xf32>)
}
}
