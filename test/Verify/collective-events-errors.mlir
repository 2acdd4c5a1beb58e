// RUN: weft-opt --weft-plan-memory --weft-verify-plan --split-input-file --verify-diagnostics %s

plan.state param @w : memref<4xf32>
plan.event @w.gather on 3
plan.program "eval" @eval {
  %w = plan.use @w : memref<4xf32>
  %f = plan.alloc temporary : memref<8xf32>
  plan.all_gather %w to %f among 2 {stream = 3 : i64} : memref<4xf32> to memref<8xf32>
  // expected-error @+1 {{expects a wait for the collectives of its stream below it, but got none}}
  plan.record @w.gather {stream = 3 : i64}
}

// -----

// One that is recorded again before anybody has waited.
plan.state param @w : memref<4xf32>
plan.event @w.gather on 3
plan.program "eval" @eval {
  %w = plan.use @w : memref<4xf32>
  %f = plan.alloc temporary : memref<8xf32>
  plan.all_gather %w to %f among 2 {stream = 3 : i64} : memref<4xf32> to memref<8xf32>
  // expected-error @+1 {{expects a wait for the collectives of its stream below it, but got none}}
  plan.record @w.gather {stream = 3 : i64}
  plan.record @w.gather {stream = 3 : i64}
  plan.wait @w.gather
}

// -----

plan.state param @w : memref<4xf32>
plan.event @w.gather on 3
plan.program "eval" @eval {
  %w = plan.use @w : memref<4xf32>
  %f = plan.alloc temporary : memref<8xf32>
  // expected-error @+1 {{expects a record of @w.gather above it, but got none}}
  plan.wait @w.gather
  plan.all_gather %w to %f among 2 {stream = 3 : i64} : memref<4xf32> to memref<8xf32>
  plan.record @w.gather {stream = 3 : i64}
}

// -----

plan.state param @w : memref<4xf32>
plan.event @w.gather on 3
plan.program "eval" @eval {
  %w = plan.use @w : memref<4xf32>
  %f = plan.alloc temporary : memref<8xf32>
  plan.all_gather %w to %f among 2 {stream = 3 : i64} : memref<4xf32> to memref<8xf32>
  plan.record @w.gather {stream = 3 : i64}
  // expected-note @+1 {{the first one}}
  plan.wait @w.gather
  // expected-error @+1 {{expects stream 0 to wait for a record once, but got a second wait}}
  plan.wait @w.gather
}

// -----

// It began behind the record.
plan.state param @w : memref<4xf32>
plan.event @w.gather on 3
plan.program "eval" @eval {
  %w = plan.use @w : memref<4xf32>
  %f = plan.alloc temporary : memref<8xf32>
  plan.record @w.gather {stream = 3 : i64}
  // expected-error @+1 {{expects stream 0 to wait for it before the program ends, but got no wait}}
  plan.all_gather %w to %f among 2 {stream = 3 : i64} : memref<4xf32> to memref<8xf32>
  plan.wait @w.gather
}

// -----

// Computation reads before the wait.
plan.state param @w : memref<4xf32>
plan.event @ready on 0
plan.event @w.gather on 3
plan.program "eval" @eval {
  %w = plan.use @w : memref<4xf32>
  // expected-note @+1 {{the buffer}}
  %f = plan.alloc temporary : memref<8xf32>
  %y = plan.alloc temporary : memref<8xf32>
  plan.record @ready
  plan.wait @ready {stream = 3 : i64}
  // expected-note @+1 {{in the same run of @eval}}
  plan.all_gather %w to %f among 2 {stream = 3 : i64} : memref<4xf32> to memref<8xf32>
  plan.record @w.gather {stream = 3 : i64}
  // expected-error @+1 {{in stream 3, but got no event that orders them}}
  plan.copy %f to %y : memref<8xf32> to memref<8xf32>
  plan.wait @w.gather
}

// -----

// It begins before its operand is written.
plan.state param @w : memref<4xf32>
plan.event @w.gather on 3
plan.program "eval" @eval {
  %x = plan.input "x" : memref<4xf32>
  %c = plan.alloc temporary : memref<4xf32>
  %f = plan.alloc temporary : memref<8xf32>
  // expected-note @-2 {{the buffer}}
  // expected-note @+1 {{in the same run of @eval}}
  plan.copy %x to %c : memref<4xf32> to memref<4xf32>
  // expected-error @+1 {{in stream 0, but got no event that orders them}}
  plan.all_gather %c to %f among 2 {stream = 3 : i64} : memref<4xf32> to memref<8xf32>
  plan.record @w.gather {stream = 3 : i64}
  plan.wait @w.gather
}
