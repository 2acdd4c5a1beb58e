// The contracts of the phases are checked; each message once.
// RUN: split-file %s %t
// RUN: not weft-opt %t/none.mlir --weft-verify-contract=phase=verify 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: {{.*}}expects one program of kind model, but got 0
// RUN: not weft-opt %t/no-loss.mlir --weft-verify-contract=phase=verify 2>&1 | FileCheck %s --check-prefix=NO-LOSS
// NO-LOSS: error: {{.*}}expects an output named 'loss'
// RUN: not weft-opt %t/loss-type.mlir --weft-verify-contract=phase=verify 2>&1 | FileCheck %s --check-prefix=LOSS-TYPE
// LOSS-TYPE: error: {{.*}}expects output 'loss' of type tensor<f32>, but got 'tensor<4xf32>'
// RUN: not weft-opt %t/tied.mlir --weft-verify-contract=phase=tie-params 2>&1 | FileCheck %s --check-prefix=TIED
// TIED: error: {{.*}}expects no tied parameter after tie-params
// RUN: not weft-opt %t/region-left.mlir --weft-verify-contract=phase=autocast 2>&1 | FileCheck %s --check-prefix=REGION-LEFT
// REGION-LEFT: error: {{.*}}expects no region with a cast policy; run weft-autocast first
// RUN: not weft-opt %t/recompute-left.mlir --weft-verify-contract=phase=autocast 2>&1 | FileCheck %s --check-prefix=RECOMPUTE-LEFT
// RECOMPUTE-LEFT: error: {{.*}}expects no region that is computed again; run weft-inline-recompute first
// RUN: not weft-opt %t/dtype-left.mlir --weft-verify-contract=phase=autocast 2>&1 | FileCheck %s --check-prefix=DTYPE-LEFT
// DTYPE-LEFT: error: {{.*}}expects no dtype, but got 'f16'; run weft-autocast first
// RUN: not weft-opt %t/model-left.mlir --weft-verify-contract=phase=derive-programs 2>&1 | FileCheck %s --check-prefix=MODEL-LEFT
// MODEL-LEFT: error: {{.*}}expects no model program after derive-programs
// RUN: not weft-opt %t/no-micro.mlir --weft-verify-contract=phase=derive-programs 2>&1 | FileCheck %s --check-prefix=NO-MICRO
// NO-MICRO: error: {{.*}}expects one program of kind micro after derive-programs
// RUN: not weft-opt %t/no-gradient.mlir --weft-verify-contract=phase=autodiff 2>&1 | FileCheck %s --check-prefix=NO-GRADIENT
// NO-GRADIENT: error: {{.*}}expects a gradient that micro writes
// RUN: not weft-opt %t/no-apply.mlir --weft-verify-contract=phase=expand-optimizer 2>&1 | FileCheck %s --check-prefix=NO-APPLY
// NO-APPLY: error: {{.*}}expects one program of kind apply
// RUN: not weft-opt %t/no-update.mlir --weft-verify-contract=phase=expand-optimizer 2>&1 | FileCheck %s --check-prefix=NO-UPDATE
// NO-UPDATE: error: {{.*}}expects a parameter that apply updates
// RUN: not weft-opt %t/no-first.mlir --weft-verify-contract=phase=expand-optimizer 2>&1 | FileCheck %s --check-prefix=NO-FIRST
// NO-FIRST: no-first.mlir:3:{{.*}}error: 'weft.state' op expects a state that init writes
// RUN: not weft-opt %t/no-routine.mlir --weft-verify-contract=phase=fuse 2>&1 | FileCheck %s --check-prefix=NOT-FUSED
// NOT-FUSED: error: 'weft.exp' op expects a kernel around it; run weft-fuse first
// RUN: not weft-opt %t/composite.mlir --weft-verify-contract=phase=fuse 2>&1 | FileCheck %s --check-prefix=COMPOSITE
// COMPOSITE: error: 'weft.softmax' op expects a kernel around it; run weft-fuse first
// RUN: not weft-opt %t/reduce.mlir --weft-verify-contract=phase=fuse 2>&1 | FileCheck %s --check-prefix=REDUCE
// REDUCE: error: 'weft.reduce' op expects a kernel around it; run weft-fuse first
// RUN: not weft-opt %t/no-choice.mlir --weft-verify-contract=phase=select-kernels 2>&1 | FileCheck %s --check-prefix=NO-ROUTINE
// NO-ROUTINE: error: {{.*}}expects weft.impl, the choice of weft-select-kernels, but got none
// RUN: not weft-opt %t/program-left.mlir --weft-verify-contract=phase=lower-to-plan 2>&1 | FileCheck %s --check-prefix=PROGRAM-LEFT
// PROGRAM-LEFT: error: {{.*}}expects no weft program after lower-to-plan
// RUN: not weft-opt %t/no-time.mlir --weft-verify-contract=phase=estimate 2>&1 | FileCheck %s --check-prefix=NO-TIME
// NO-TIME: no-time.mlir:5:{{.*}}error: 'plan.copy' op expects an est_us after estimate
// RUN: not weft-opt %t/negative-time.mlir --weft-verify-contract=phase=estimate 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: 'plan.copy' op expects a finite est_us of at least 0, but got -1.000000e+00 : f64
// RUN: not weft-opt %t/no-time.mlir --weft-verify-contract=phase=plan-memory 2>&1 | FileCheck %s --check-prefix=NO-ARENA
// NO-ARENA: error: expects plan.arena_bytes after plan-memory
// RUN: not weft-opt %t/no-offset.mlir --weft-verify-contract=phase=plan-memory 2>&1 | FileCheck %s --check-prefix=NO-OFFSET
// NO-OFFSET: no-offset.mlir:5:{{.*}}error: 'plan.alloc' op expects an offset after plan-memory
// RUN: not weft-opt %t/outside.mlir --weft-verify-contract=phase=plan-memory 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: error: 'plan.state' op expects 32 bytes inside the arena of 64 after plan-memory, but got offset 64
// RUN: not weft-opt %t/negative.mlir --weft-verify-contract=phase=plan-memory 2>&1 | FileCheck %s --check-prefix=NEGATIVE-ARENA
// NEGATIVE-ARENA: error: {{.*}}expects "plan.arena_bytes" to be an i64 from 0 to 2^47, but got -64 : i64
// RUN: not weft-opt %t/sizes.mlir --weft-verify-contract=phase=fuse 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: sizes.mlir:2:{{.*}}error: 'weft.kernel' op expects elementwise [64], which its body runs over, but got elementwise [8, 8]
// RUN: not weft-opt %t/inplace.mlir --weft-verify-contract=phase=fuse 2>&1 | FileCheck %s --check-prefix=INPLACE
// INPLACE: inplace.mlir:2:{{.*}}error: 'weft.kernel' op expects result 0 not to reuse the buffer of argument 0, whose elements are read in another order or later
// RUN: not weft-opt %t/no-programs.mlir --weft-verify-contract=phase=verify-plan 2>&1 | FileCheck %s --check-prefix=NO-PROGRAM
// NO-PROGRAM: no-programs.mlir:1:{{.*}}error: expects a plan.program of kind micro, but got none
// RUN: not weft-opt %t/plan-loss.mlir --weft-verify-contract=phase=verify-plan 2>&1 | FileCheck %s --check-prefix=PLAN-LOSS
// PLAN-LOSS: plan-loss.mlir:4:{{.*}}error: 'plan.program' op expects an output 'loss', but got none
// RUN: not weft-opt %t/plan-loss-type.mlir --weft-verify-contract=phase=verify-plan 2>&1 | FileCheck %s --check-prefix=PLAN-TYPE
// PLAN-TYPE: plan-loss-type.mlir:6:{{.*}}error: 'plan.output' op expects output 'loss' of type 'memref<f32>', but got 'memref<f64>'
// RUN: not weft-opt %t/plan-found-inf.mlir --weft-verify-contract=phase=verify-plan 2>&1 | FileCheck %s --check-prefix=FOUND-INF
// FOUND-INF: plan-found-inf.mlir:14:{{.*}}error: 'plan.program' op expects an output 'found_inf', but got none
// RUN: not weft-opt %t/kernel-left.mlir --weft-verify-contract=phase=lower-to-cpu 2>&1 | FileCheck %s --check-prefix=KERNEL-LEFT
// KERNEL-LEFT: error: {{.*}}expects no weft kernel after lower-to-cpu
// RUN: not weft-opt %t/phase.mlir --weft-verify-contract=phase=nowhere 2>&1 | FileCheck %s --check-prefix=PHASE
// PHASE: error: {{.*}}expects the name of a phase, but got 'nowhere'

// A phase that promises nothing about a module is silent, as is one that holds.
// RUN: weft-opt %t/good.mlir --weft-verify-contract=phase=tie-params --weft-verify-contract=phase=autocast --weft-verify-contract=phase=fuse -o %t/out
// RUN: weft-opt %t/placed.mlir --weft-verify-contract=phase=estimate --weft-verify-contract=phase=plan-memory -o %t/out

//--- none.mlir
module {
}

//--- no-loss.mlir
module {
weft.program @m() attributes {kind = #weft.kind<model>} {
  weft.return
}
}

//--- loss-type.mlir
module {
weft.program @m(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "loss"})
    attributes {kind = #weft.kind<model>} {
  weft.return %x : tensor<4xf32>
}
}

//--- tied.mlir
module {
weft.param @a : tensor<4xf32>
weft.param @b : tensor<4xf32> {tie = @a}
}

//--- region-left.mlir
module {
weft.program @m() attributes {kind = #weft.kind<model>} {
  weft.autocast {
    weft.yield
  }
  weft.return
}
}

//--- recompute-left.mlir
module {
weft.program @m() attributes {kind = #weft.kind<model>} {
  weft.recompute "a" {
    weft.yield
  }
  weft.return
}
}

//--- dtype-left.mlir
module {
weft.program @m(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf16> {weft.output = "y"})
    attributes {kind = #weft.kind<model>} {
  %y = weft.softmax %x {dtype = f16} : tensor<4xf32>
  weft.return %y : tensor<4xf16>
}
}

//--- model-left.mlir
module {
weft.program @m() attributes {kind = #weft.kind<model>} {
  weft.return
}
}

//--- no-micro.mlir
module {
weft.program @i() attributes {kind = #weft.kind<init>} {
  weft.return
}
}

//--- no-gradient.mlir
module {
weft.param @w : tensor<4xf32>
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
weft.program @m() attributes {kind = #weft.kind<micro>} {
  weft.return
}
}

//--- no-apply.mlir
module {
}

//--- no-update.mlir
module {
weft.param @w : tensor<4xf32>
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
weft.program @a() attributes {kind = #weft.kind<apply>} {
  weft.return
}
}

//--- no-first.mlir
module {
weft.param @w : tensor<4xf32>
weft.state @step : tensor<i64> {kind = #weft.state_kind<optimizer>}
weft.program @i() attributes {kind = #weft.kind<init>} {
  weft.return
}
weft.program @a() attributes {kind = #weft.kind<apply>} {
  weft.return
}
}

//--- no-routine.mlir
module {
weft.param @w : tensor<4xf32>
weft.program @a() attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4xf32>
  %e = weft.exp %w : tensor<4xf32>
  weft.return
}
}

//--- no-choice.mlir
module {
weft.program @a(%x: tensor<4x4xf32> {weft.input = "x"}) -> (tensor<4x4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  weft.return %y : tensor<4x4xf32>
}
}

//--- composite.mlir
module {
weft.program @a(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<micro>} {
  %e = weft.softmax %x : tensor<4xf32>
  weft.return
}
}

//--- reduce.mlir
module {
weft.program @a(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<micro>} {
  %e = weft.reduce sum %x dims [0] : tensor<4xf32>
  weft.return
}
}

//--- no-time.mlir
module {
plan.program "eval" @eval {
  %x = plan.input "x" : memref<8xf32>
  %y = plan.alloc temporary : memref<8xf32>
  plan.copy %x to %y : memref<8xf32> to memref<8xf32>
}
}

//--- negative-time.mlir
module {
plan.program "eval" @eval {
  %x = plan.input "x" : memref<8xf32>
  %y = plan.alloc temporary : memref<8xf32>
  plan.copy %x to %y {est_us = -1.0 : f64} : memref<8xf32> to memref<8xf32>
}
}

//--- no-offset.mlir
module attributes {plan.arena_bytes = 128 : i64} {
plan.state param @w : memref<8xf32> {offset = 0 : i64}
plan.program "eval" @eval {
  %w = plan.use @w {offset = 0 : i64} : memref<8xf32>
  %y = plan.alloc temporary : memref<8xf32>
}
}

//--- outside.mlir
module attributes {plan.arena_bytes = 64 : i64} {
plan.state param @w : memref<8xf32> {offset = 64 : i64}
}

//--- negative.mlir
module attributes {plan.arena_bytes = -64 : i64} {
plan.state param @w : memref<8xf32> {offset = 0 : i64}
}

//--- sizes.mlir
module {
weft.kernel @k(%x: tensor<64xf32>) -> tensor<64xf32> elementwise [8, 8] inplace [[]] {
  %y = weft.neg %x : tensor<64xf32>
  weft.yield %y : tensor<64xf32>
}
}

//--- inplace.mlir
module {
weft.kernel @k(%x: tensor<8x8xf32>) -> tensor<8x8xf32> elementwise [8, 8] inplace [[0]] {
  %t = weft.transpose %x [1, 0] : tensor<8x8xf32>
  %y = weft.neg %t : tensor<8x8xf32>
  weft.yield %y : tensor<8x8xf32>
}
}

//--- placed.mlir
module attributes {plan.arena_bytes = 96 : i64} {
plan.state param @w : memref<8xf32> {offset = 0 : i64}
plan.program "eval" @eval {
  %w = plan.use @w {offset = 0 : i64} : memref<8xf32>
  %y = plan.alloc temporary {offset = 64 : i64} : memref<8xf32>
  plan.copy %w to %y {est_us = 1.0 : f64} : memref<8xf32> to memref<8xf32>
}
}

//--- program-left.mlir
module {
weft.program @a() attributes {kind = #weft.kind<micro>} {
  weft.return
}
}

//--- kernel-left.mlir
module {
weft.kernel @k_1(%x: tensor<4xf32>) -> tensor<4xf32> elementwise [4] inplace [[]] {
  weft.yield %x : tensor<4xf32>
}
}

//--- no-programs.mlir
module {
plan.program "init" @init {
}
}

//--- plan-loss.mlir
module {
plan.program "init" @init {
}
plan.program "micro" @micro {
  %y = plan.alloc temporary : memref<f32>
  plan.output "term" %y : memref<f32>
}
}

//--- plan-loss-type.mlir
module {
plan.program "init" @init {
}
plan.program "micro" @micro {
  %y = plan.alloc temporary : memref<f64>
  plan.output "loss" %y : memref<f64>
}
}

//--- plan-found-inf.mlir
module {
plan.program "init" @init {
}
plan.program "micro" @micro {
  %y = plan.alloc temporary : memref<f32>
  plan.output "loss" %y : memref<f32>
}
plan.program "eval" @other {
}
plan.program "eval" @eval {
  %y = plan.alloc temporary : memref<f32>
  plan.output "loss" %y : memref<f32>
}
plan.program "apply" @apply {
}
}

//--- phase.mlir
module {
}

//--- good.mlir
module {
weft.program @m() attributes {kind = #weft.kind<model>} {
  weft.return
}
}
