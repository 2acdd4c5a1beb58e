// RUN: weft-opt --split-input-file --verify-diagnostics %s

// expected-error @+1 {{expects a stream from 0 to 63, but got -1}}
plan.event @e on -1

// -----

plan.program "eval" @eval {
  // expected-error @+1 {{expects an event of the module, but got @e}}
  plan.wait @e
}

// -----

plan.state param @e : memref<4xf32>
plan.program "eval" @eval {
  // expected-error @+1 {{expects an event of the module, but got @e}}
  plan.record @e
}

// -----

// expected-note @+1 {{declared here}}
plan.event @e on 1
plan.program "eval" @eval {
  // expected-error @+1 {{expects stream 1, the event's stream, but got 0}}
  plan.record @e
}

// -----

plan.program "eval" @eval {
  %a = plan.alloc temporary : memref<4xf32>
  // expected-error @+1 {{expects inputs of the program, but got 'memref<4xf32>' that is none}}
  plan.upload %a : memref<4xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.input "x" : memref<4xf32>
  // expected-error @+1 {{expects to bring each input once, but got "x" again}}
  plan.upload %x : memref<4xf32>
  plan.upload %x : memref<4xf32>
}

// -----

plan.program "eval" @eval {
  %a = plan.staging : memref<4xf32>
  // expected-error @+1 {{expects buffers of outputs, but got 'memref<4xf32>' that is none}}
  plan.readback %a : memref<4xf32>
}

// -----

plan.program "eval" @eval {
  %a = plan.staging : memref<4xf32>
  %b = plan.alloc temporary : memref<4xf32>
  plan.readback %a : memref<4xf32>
  plan.output "a" %a : memref<4xf32>
  // expected-error @+1 {{expects to be read back as other outputs of the program are, but is not}}
  plan.output "b" %b : memref<4xf32>
}

// -----

plan.program "eval" @eval {
  // expected-error @+1 {{expects a dense buffer, but got 'memref<4xf32, strided<[2]>>'}}
  %a = plan.staging : memref<4xf32, strided<[2]>>
}

// -----

plan.event @e on 0
plan.program "eval" @eval {
  // expected-note @+1 {{the first command is here}}
  plan.record @e
  // expected-error @+1 {{expects all declarations above the first command, but got one below plan.record}}
  %a = plan.staging : memref<4xf32>
}
