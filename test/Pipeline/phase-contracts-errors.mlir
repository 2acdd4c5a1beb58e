// The contract of each phase is checked; each message once.
// RUN: split-file %s %t
// RUN: not weft-opt %t/plan.mlir --weft-verify-contract=phase=import 2>&1 | FileCheck %s --check-prefix=PLAN
// PLAN: plan.mlir:2:{{.*}}error: 'plan.program' op expects no plan program after import
// RUN: not weft-opt %t/nowhere.mlir --weft-verify-contract=phase=import 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: error: 'weft.exp' op expects a location after import
// RUN: not weft-opt %t/large.mlir --weft-verify-contract=phase=infer-shapes 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: large.mlir:2:{{.*}}error: 'weft.param' op expects its type to have at most 2^40 elements, but got 'tensor<1099511627777xf32>'
// RUN: not weft-opt %t/groups.mlir --weft-verify-contract=phase=apply-groups 2>&1 | FileCheck %s --check-prefix=GROUPS
// GROUPS: groups.mlir:1:{{.*}}error: expects the file of --groups in weft.option_files after apply-groups, but got none
// RUN: not weft-opt %t/mark.mlir --weft-verify-contract=phase=mark-recompute 2>&1 | FileCheck %s --check-prefix=MARK
// MARK: mark.mlir:5:{{.*}}error: 'weft.exp' op expects no weft.recompute in a program of kind init after mark-recompute
// RUN: not weft-opt %t/mark.mlir --weft-verify-contract=phase=autodiff 2>&1 | FileCheck %s --check-prefix=LEFT
// LEFT: mark.mlir:5:{{.*}}error: 'weft.exp' op expects no weft.recompute after autodiff; run weft-recompute first
// RUN: not weft-opt %t/scale.mlir --weft-verify-contract=phase=loss-scale 2>&1 | FileCheck %s --check-prefix=SCALE
// SCALE: scale.mlir:2:{{.*}}error: 'weft.state' op expects weft.scaler and the state 'loss_scale.state' after loss-scale, but got only the state
// RUN: not weft-opt %t/copy.mlir --weft-verify-contract=phase=working-copies 2>&1 | FileCheck %s --check-prefix=COPY
// COPY: copy.mlir:2:{{.*}}error: 'weft.state' op expects a parameter that it is a copy of after working-copies
// RUN: not weft-opt %t/whole.mlir --weft-verify-contract=phase=bucket 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: whole.mlir:3:{{.*}}error: 'weft.param' op expects segments of a sharded parameter after bucket, but got none
// RUN: not weft-opt %t/layout.mlir --weft-verify-contract=phase=shard 2>&1 | FileCheck %s --check-prefix=LAYOUT
// LAYOUT: layout.mlir:3:{{.*}}error: 'weft.param' op expects dist.layout after shard
// RUN: not weft-opt %t/layout.mlir --weft-verify-contract=phase=partition 2>&1 | FileCheck %s --check-prefix=COLLECTIVES
// COLLECTIVES: layout.mlir:2:{{.*}}error: 'dist.mesh' op expects collectives among its ranks after partition, but got none
// RUN: not weft-opt %t/composite.mlir --weft-verify-contract=phase=decompose 2>&1 | FileCheck %s --check-prefix=FORMULA
// FORMULA: composite.mlir:3:{{.*}}error: 'weft.silu' op expects its formula in its place after decompose
// RUN: not weft-opt %t/offset.mlir --weft-verify-contract=phase=align-products 2>&1 | FileCheck %s --check-prefix=OFFSET
// OFFSET: offset.mlir:3:{{.*}}error: 'plan.alloc' op expects no offset and no stream after align-products
// RUN: not weft-opt %t/stream.mlir --weft-verify-contract=phase=schedule 2>&1 | FileCheck %s --check-prefix=STREAM
// STREAM: stream.mlir:6:{{.*}}error: 'plan.all_gather' op expects a stream after schedule
// RUN: not weft-opt %t/event.mlir --weft-verify-contract=phase=assign-streams 2>&1 | FileCheck %s --check-prefix=EVENT
// EVENT: event.mlir:2:{{.*}}error: 'plan.event' op expects a plan.record of the event after assign-streams, but got none

// A phase of another target is none of this one.
// RUN: not weft-opt %t/plan.mlir --weft-verify-contract=phase=assign-streams 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: {{.*}}expects the name of a phase, but got 'assign-streams'

//--- plan.mlir
module {
  plan.program "eval" @eval {
  }
}

//--- nowhere.mlir
module {
  weft.program @m(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
    %y = weft.exp %x : tensor<4xf32> loc(unknown)
    weft.return
  }
}

//--- large.mlir
module {
  weft.param @w : tensor<1099511627777xf32>
}

//--- groups.mlir
module attributes {weft.options = {groups = "groups.toml"}} {
}

//--- mark.mlir
module {
  weft.param @w : tensor<4xf32>
  weft.program @init() attributes {kind = #weft.kind<init>} {
    %x = weft.read @w : tensor<4xf32>
    %y = weft.exp %x {weft.recompute = "h.0"} : tensor<4xf32>
    weft.return
  }
}

//--- scale.mlir
module {
  weft.state @loss_scale.state : tensor<4xf32> {kind = #weft.state_kind<scaler>}
}

//--- copy.mlir
module {
  weft.state @c : tensor<4xf16> {kind = #weft.state_kind<working>}
}

//--- whole.mlir
module {
  dist.mesh @mesh("dp" = 2)
  weft.param @w : tensor<4xf32> {dist.layout = #dist.layout<sharded on "dp">}
}

//--- layout.mlir
module {
  dist.mesh @mesh("dp" = 2)
  weft.param @w : tensor<4xf32>
}

//--- composite.mlir
module {
  weft.program @eval(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
    %y = weft.silu %x : tensor<4xf32>
    weft.return %y : tensor<4xf32>
  }
}

//--- offset.mlir
module attributes {weft.options = {target = "cuda:sm_90"}} {
  plan.program "eval" @eval {
    %a = plan.alloc temporary {offset = 0 : i64} : memref<4xf32>
  }
}

//--- stream.mlir
module attributes {weft.options = {mesh = "dp:2"}} {
  plan.state param @w : memref<4xf32>
  plan.program "eval" @eval {
    %s = plan.use @w : memref<4xf32>
    %a = plan.alloc temporary : memref<8xf32>
    plan.all_gather %s to %a among 2 : memref<4xf32> to memref<8xf32>
  }
}

//--- event.mlir
module attributes {weft.options = {target = "cuda:sm_90"}} {
  plan.event @uploaded on 1
}
