// RUN: weft-opt --weft-assign-streams --split-input-file --verify-diagnostics %s

// expected-error @+1 {{expects no event before streams are assigned}}
plan.event @e on 1

// -----

plan.program "eval" @eval {
  %a = plan.alloc temporary : memref<f32>
  // expected-error @+1 {{expects no stream before streams are assigned}}
  plan.constant %a = dense<1.0> : tensor<f32> {stream = 0 : i64} : memref<f32>
}

// -----

plan.event @e on 3
plan.program "eval" @eval {
  %s = plan.alloc temporary : memref<2xf32>
  %f = plan.alloc temporary : memref<4xf32>
  // expected-error @+1 {{expects no stream before streams are assigned}}
  plan.all_gather %s to %f among 2 {stream = 2 : i64} : memref<2xf32> to memref<4xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.input "x" : memref<f32>
  // expected-error @+1 {{expects no stream before streams are assigned}}
  plan.upload %x : memref<f32>
}

// -----

// expected-error @+1 {{expects a name other than the event's, @placed}}
plan.state param @placed : memref<f32>
plan.program "eval" @eval {
}
