// RUN: weft-opt %s --weft-working-copies -split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-working-copies="master=false" -split-input-file | FileCheck %s --check-prefix=LOW
// RUN: weft-opt %s --weft-working-copies="persistent=false" -split-input-file | FileCheck %s --check-prefix=USE
// A parameter that programs cast has a copy that the update writes, or is low
// itself, or is cast at each use.

// CHECK-LABEL: module @step
// CHECK: weft.param @w : tensor<4x3xf32>
// CHECK: weft.state @w.bf16 : tensor<4x3xbf16> {kind = #weft.state_kind<working>, param = @w}
// LOW-LABEL: module @step
// LOW: weft.param @w : tensor<4x3xbf16>
// LOW-NOT: working
// USE-LABEL: module @step
// USE-NOT: working
module @step {
  weft.param @w : tensor<4x3xf32> {init = #weft.init<zeros>, scope = "fc"}
  weft.param @b : tensor<3xf32> {init = #weft.init<zeros>}
  weft.state @w.grad : tensor<4x3xf32> {kind = #weft.state_kind<gradient>, param = @w}
  weft.state @w.momentum_buffer : tensor<4x3xf32> {kind = #weft.state_kind<optimizer>, param = @w}

  // CHECK-LABEL: weft.program @init
  // CHECK: %[[FIRST:.*]] = weft.constant
  // CHECK: %[[ROUND:.*]] = weft.cast %[[FIRST]] {weft.scope = "fc"} : tensor<4x3xf32> to tensor<4x3xbf16>
  // CHECK: weft.return writes @w = %[[FIRST]] : tensor<4x3xf32>, @b = %{{.*}} : tensor<3xf32>, @w.bf16 = %[[ROUND]] : tensor<4x3xbf16>
  // LOW-LABEL: weft.program @init
  // LOW: %[[ROUND:.*]] = weft.cast %{{.*}} : tensor<4x3xf32> to tensor<4x3xbf16>
  // LOW: weft.return writes @w = %[[ROUND]] : tensor<4x3xbf16>, @b
  weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
    %w = weft.constant dense<0.0> : tensor<4x3xf32>
    %b = weft.constant dense<0.0> : tensor<3xf32>
    weft.return writes @w = %w : tensor<4x3xf32>, @b = %b : tensor<3xf32>
  }

  // The bias is used as it is.
  // CHECK-LABEL: weft.program @micro
  // CHECK: %[[W:.*]] = weft.read @w.bf16 : tensor<4x3xbf16>
  // CHECK: weft.matmul %{{.*}}, %[[W]]
  // CHECK: weft.read @b : tensor<3xf32>
  // LOW-LABEL: weft.program @micro
  // LOW: %[[W:.*]] = weft.read @w : tensor<4x3xbf16>
  // LOW: weft.matmul %{{.*}}, %[[W]]
  // USE-LABEL: weft.program @micro
  // USE: %[[W:.*]] = weft.read @w : tensor<4x3xf32>
  // USE: weft.cast %[[W]]
  weft.program @micro(%x: tensor<8x4xbf16> {weft.input = "x"}) -> (tensor<8x3xf32> {weft.output = "y"}) attributes {kind = #weft.kind<micro>} {
    %w = weft.read @w : tensor<4x3xf32>
    %l = weft.cast %w : tensor<4x3xf32> to tensor<4x3xbf16>
    %y = weft.matmul %x, %l : tensor<8x4xbf16>, tensor<4x3xbf16>
    %b = weft.read @b : tensor<3xf32>
    %c = weft.cast %y : tensor<8x3xbf16> to tensor<8x3xf32>
    %z = weft.add %c, %b : tensor<8x3xf32>, tensor<3xf32>
    weft.return %z : tensor<8x3xf32>
  }

  // CHECK-LABEL: weft.program @apply
  // CHECK: %[[W1:.*]], %[[M1:.*]], %[[L1:.*]] = weft.sgd({{.*}}) {lr_scale = 5.000000e-01 : f64} : {{.*}} -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xbf16>)
  // CHECK: weft.return writes @w = %[[W1]] : tensor<4x3xf32>, @w.momentum_buffer = %[[M1]] : tensor<4x3xf32>, @w.bf16 = %[[L1]] : tensor<4x3xbf16>
  // LOW-LABEL: weft.program @apply
  // LOW: weft.sgd({{.*}}) {{.*}} : (tensor<4x3xbf16>, tensor<4x3xf32>, tensor<4x3xf32>, {{.*}} -> (tensor<4x3xbf16>, tensor<4x3xf32>)
  // LOW: writes @w = %{{.*}} : tensor<4x3xbf16>
  weft.program @apply(%c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"}, %t: tensor<i64> {weft.input = "t"}, %n: tensor<f64> {weft.input = "n"}) attributes {kind = #weft.kind<apply>} {
    %w = weft.read @w : tensor<4x3xf32>
    %m = weft.read @w.momentum_buffer : tensor<4x3xf32>
    %g = weft.read @w.grad : tensor<4x3xf32>
    %w1, %m1 = weft.sgd(%w, %m, %g, %c, %s, %t, %n, %n, %n) {lr_scale = 0.5 : f64} : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
    weft.return writes @w = %w1 : tensor<4x3xf32>, @w.momentum_buffer = %m1 : tensor<4x3xf32>
  }

  // CHECK-LABEL: weft.program @refresh
  // CHECK-SAME: kind = #weft.kind<refresh>
  // CHECK: %[[W:.*]] = weft.read @w : tensor<4x3xf32>
  // CHECK: %[[R:.*]] = weft.cast %[[W]] {weft.scope = "fc"} : tensor<4x3xf32> to tensor<4x3xbf16>
  // CHECK: weft.return writes @w.bf16 = %[[R]] : tensor<4x3xbf16>
  // LOW-NOT: @refresh
  // USE-NOT: @refresh
}

// -----

// A parameter that is also used whole keeps its f32 form; two low types make
// two copies. A frozen one is written by @init and @refresh alone.
// CHECK-LABEL: module @mixed
// CHECK-DAG: weft.state @w.f16 : tensor<4x3xf16>
// CHECK-DAG: weft.state @w.bf16 : tensor<4x3xbf16>
// CHECK-LABEL: weft.program @apply
// CHECK: weft.return{{$}}
// CHECK-LABEL: weft.program @refresh
// CHECK: weft.return writes @w.bf16 = %{{.*}}, @w.f16 = %
// LOW-LABEL: module @mixed
// LOW: weft.param @w : tensor<4x3xf32>
module @mixed {
  weft.param @w : tensor<4x3xf32> {init = #weft.init<zeros>, trainable = false}
  weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
    %w = weft.constant dense<0.0> : tensor<4x3xf32>
    weft.return writes @w = %w : tensor<4x3xf32>
  }
  weft.program @micro(%x: tensor<8x4xbf16> {weft.input = "x"}) attributes {kind = #weft.kind<micro>} {
    %w = weft.read @w : tensor<4x3xf32>
    %h = weft.cast %w : tensor<4x3xf32> to tensor<4x3xf16>
    %e = weft.exp %h : tensor<4x3xf16>
    %l = weft.cast %w : tensor<4x3xf32> to tensor<4x3xbf16>
    %y = weft.matmul %x, %l : tensor<8x4xbf16>, tensor<4x3xbf16>
    %n = weft.neg %w : tensor<4x3xf32>
    weft.return
  }
  weft.program @apply() attributes {kind = #weft.kind<apply>} {
    weft.return
  }
}
