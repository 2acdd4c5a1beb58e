// RUN: weft-opt %s -split-input-file -verify-diagnostics
// RUN: sed '/^\/\/ ---/,$d' %s > %t.mlir
// RUN: not weft-interp %t.mlir 2>&1 | FileCheck %s
// Facts that states of a plan have about each other; the interpreter checks them too.
// CHECK: error: {{.*}}expects the segment @w [4] at 0 to 4 as in @flat, but got @v [4] at 0 to 4

// expected-note @+1 {{declared here}}
plan.state param @flat : memref<8xf32> {segments = [#plan.segment<@w [4] at 0 to 4 source "x">, #plan.segment<@v [4] at 4 to 8>]}
// expected-error @+1 {{expects the segment @w [4] at 0 to 4 as in @flat, but got @v [4] at 0 to 4}}
plan.state gradient @flat.grad : memref<8xf32> {param = @flat, slot = "grad", segments = [#plan.segment<@v [4] at 0 to 4>, #plan.segment<@w [4] at 4 to 8>]}

// -----

// expected-note @+1 {{declared here}}
plan.state param @flat : memref<8xf32> {segments = [#plan.segment<@w [4] at 0 to 4>]}
// expected-error @+1 {{expects the segments of @flat, but got none}}
plan.state optimizer @flat.exp_avg : memref<8xf32> {param = @flat}

// -----

// expected-error @+1 {{expects param to name a parameter, but got @nothing}}
plan.state optimizer @m : memref<8xf32> {param = @nothing}

// -----

plan.state optimizer @step : memref<i64>
// expected-error @+1 {{expects param to name a parameter, but got @step}}
plan.state optimizer @m : memref<8xf32> {param = @step}

// -----

plan.state param @w : memref<4xf32>
// expected-note @+1 {{the first is here}}
plan.state optimizer @a : memref<8xf32> {slot = "exp_avg", segments = [#plan.segment<@w [4] at 0 to 4>]}
// expected-error @+1 {{expects each tensor in one place, but got a second @w.exp_avg}}
plan.state optimizer @b : memref<8xf32> {slot = "exp_avg", segments = [#plan.segment<@w [4] at 4 to 8>]}

// -----

// expected-error @+1 {{expects segments of parameters, but got @w}}
plan.state optimizer @m : memref<8xf32> {slot = "exp_avg", segments = [#plan.segment<@w [4] at 0 to 4>]}
