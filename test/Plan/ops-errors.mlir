// RUN: weft-opt --split-input-file --verify-diagnostics %s

// expected-error @+1 {{expects a dense buffer, but got 'memref<4xf32, strided<[2]>>'}}
plan.state param @w : memref<4xf32, strided<[2]>>

// -----

// expected-error @+1 {{expects 4 elements for the sizes [4] of a segment, but got the range 0 to 3}}
plan.state param @flat : memref<8xf32> {segments = [#plan.segment<@w [4] at 0 to 3>]}

// -----

// expected-error @+1 {{expects segments inside the 8 elements of all slices, but got one that ends at 9}}
plan.state param @flat : memref<8xf32> {segments = [#plan.segment<@w [4] at 5 to 9>]}

// -----

// expected-error @+1 {{expects static sizes, but got 'memref<?xf32>'}}
plan.state param @flat : memref<?xf32> {segments = [#plan.segment<@w [4] at 5 to 9>]}

// -----

// expected-error @+1 {{expects a slot, the name of the values in a state with segments, but got none}}
plan.state working @flat.f16 : memref<8xf16> {segments = [#plan.segment<@w [4] at 4 to 8>]}

// -----

// expected-error @+1 {{expects no segments in a state of kind scaler}}
plan.state scaler @s : memref<8xf32> {slot = "scale", segments = [#plan.segment<@w [4] at 4 to 8>]}

// -----

// expected-error @+1 {{expects no source on a state with segments, but got "v"}}
plan.state param @flat : memref<8xf32> {source = "v", segments = [#plan.segment<@w [4] at 4 to 8>]}

// -----

// expected-error @+1 {{expects static sizes, but got 'memref<?xf32>'}}
plan.state param @w : memref<?xf32>

// -----

plan.program "eval" @eval {
  // expected-error @+1 {{expects a dense buffer, but got 'memref<4xf32, strided<[2]>>'}}
  %x = plan.input "x" : memref<4xf32, strided<[2]>>
}

// -----

plan.program "eval" @eval {
  // expected-error @+1 {{expects a dense buffer, but got 'memref<4xf32, strided<[1], offset: 3>>'}}
  %x = plan.alloc temporary : memref<4xf32, strided<[1], offset: 3>>
}

// -----

plan.program "eval" @eval {
  %x = plan.input "x" : memref<8xf32>
  %v = plan.view %x : memref<8xf32> to memref<4xf32, strided<[2]>>
  // expected-error @+1 {{expects a dense buffer, but got 'memref<4xf32, strided<[2]>>'}}
  plan.output "x" %v : memref<4xf32, strided<[2]>>
}

// -----

plan.program "eval" @eval {
  %x = plan.input "x" : memref<8xf32>
  %v = plan.view %x : memref<8xf32> to memref<4x2xf32>
  // expected-error @+1 {{expects a root buffer, but got a view}}
  %u = plan.view %v : memref<4x2xf32> to memref<2x4xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.input "x" : memref<8xf32>
  // expected-error @+1 {{expects element type 'f32', but got 'i32'}}
  %v = plan.view %x : memref<8xf32> to memref<8xi32>
}

// -----

plan.program "eval" @eval {
  %x = plan.input "x" : memref<8xf32>
  // expected-error @+1 {{expects elements inside [0, 8), but got [2, 8]}}
  %v = plan.view %x : memref<8xf32> to memref<4xf32, strided<[2], offset: 2>>
}

// -----

plan.program "eval" @eval {
  %x = plan.input "x" : memref<8xf32>
  // expected-error @+1 {{expects a static strided layout, but got 'memref<4xf32, strided<[?]>>'}}
  %v = plan.view %x : memref<8xf32> to memref<4xf32, strided<[?]>>
}

// -----

plan.program "eval" @eval {
  // expected-error @+1 {{expects a state of the module, but got @w}}
  %w = plan.use @w : memref<8xf32>
}

// -----

// expected-note @+1 {{declared here}}
plan.state param @w : memref<4xf32>
plan.program "eval" @eval {
  // expected-error @+1 {{expects the type of the state, 'memref<4xf32>', but got 'memref<8xf32>'}}
  %w = plan.use @w : memref<8xf32>
}

// -----

plan.state param @w : memref<4xf32>
plan.program "eval" @eval {
  %w = plan.use @w : memref<4xf32>
  // expected-error @+1 {{expects one use of a state, but got @w again}}
  %v = plan.use @w : memref<4xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.input "x" : memref<4xf32>
  // expected-error @+1 {{expects a name of its own, but got "x" again}}
  %y = plan.input "x" : memref<4xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.input "x" : memref<4xf32>
  plan.output "y" %x : memref<4xf32>
  // expected-error @+1 {{expects a name of its own, but got "y" again}}
  plan.output "y" %x : memref<4xf32>
}

// -----

plan.program "eval" @eval {
  // expected-error @+1 {{expects to be outside of a plan program}}
  %c = weft.constant dense<1.0> : tensor<4xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.input "x" : memref<4xf32>
  // expected-error @+1 {{expects a kernel of the module, but got @k_1}}
  plan.launch @k_1 ins(%x : memref<4xf32>)
}

// -----

weft.kernel @k_1(%x: tensor<4xf32>) -> () elementwise [4] inplace [] {
  weft.yield
}
plan.program "eval" @eval {
  %x = plan.input "x" : memref<8xf32>
  %v = plan.view %x : memref<8xf32> to memref<4xf32, strided<[2]>>
  // expected-error @+1 {{expects dense buffers, but got 'memref<4xf32, strided<[2]>>'}}
  plan.launch @k_1 ins(%v : memref<4xf32, strided<[2]>>)
}

// -----

weft.kernel @k_1() -> tensor<4xf32> elementwise [4] inplace [[]] {
  %x = weft.constant dense<0.0> : tensor<4xf32>
  weft.yield %x : tensor<4xf32>
}
plan.program "eval" @eval {
  %x = plan.input "x" : memref<8xf32>
  %v = plan.view %x : memref<8xf32> to memref<4xf32, strided<[2]>>
  // expected-error @+1 {{expects dense buffers, but got 'memref<4xf32, strided<[2]>>'}}
  plan.launch @k_1 outs(%v : memref<4xf32, strided<[2]>>)
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8xf32>
  // expected-error @+1 {{expects a value of the target's shape and type, but got 'tensor<4xf32>' for 'memref<8xf32>'}}
  plan.constant %x = dense<1.0> : tensor<4xf32> : memref<8xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8xf32>
  %v = plan.view %x : memref<8xf32> to memref<4xf32, strided<[2]>>
  // expected-error @+1 {{expects dense buffers, but got 'memref<4xf32, strided<[2]>>'}}
  plan.constant %v = dense<1.0> : tensor<4xf32> : memref<4xf32, strided<[2]>>
}

// -----

plan.program "eval" @eval {
  %x = plan.input "x" : memref<8xf32>
  %y = plan.alloc temporary : memref<4xf32>
  // expected-error @+1 {{expects equal shapes and types, but got 'memref<8xf32>' and 'memref<4xf32>'}}
  plan.copy %x to %y : memref<8xf32> to memref<4xf32>
}

// -----

plan.program "eval" @eval {
  %x = plan.input "x" : memref<1x1x1x1x1x1x1x1x2xf32>
  %y = plan.alloc temporary : memref<1x1x1x1x1x1x1x1x2xf32>
  // expected-error @+1 {{expects at most 8 dimensions, but got 9}}
  plan.copy %x to %y : memref<1x1x1x1x1x1x1x1x2xf32> to memref<1x1x1x1x1x1x1x1x2xf32>
}

// -----

// expected-error @below {{expects a buffer of at most 2^44 bytes, but got 'memref<4294967296x4294967296xf32>'}}
plan.state param @w : memref<4294967296x4294967296xf32>

// -----

plan.program "eval" @eval {
  %x = plan.input "x" : memref<8xf32>
  // expected-error @+1 {{expects sizes and strides within 2^44 bytes, but got}}
  %y = plan.view %x : memref<8xf32> to memref<3xf32, strided<[9223372036854775807]>>
}

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<4xf32>
  // expected-error @+1 {{expects a value dense<...>, but got dense_resource<blob> : tensor<4xf32>}}
  plan.constant %x = dense_resource<blob> : tensor<4xf32> : memref<4xf32>
}

// -----

// A launch is checked before a kernel that stands behind it.
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<4xf32>
  // expected-error @+1 {{expects a buffer for 'f32' of @k_1, but got 'memref<4xf32>'}}
  plan.launch @k_1 ins(%x : memref<4xf32>)
}
"weft.kernel"() <{function_type = (f32) -> (), sym_name = "k_1"}> ({
^bb0(%a: f32):
  "weft.yield"() : () -> ()
}) : () -> ()

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<4xf32>
  // expected-error @+1 {{expects a kernel with a function type, but got @k_1}}
  plan.launch @k_1 ins(%x : memref<4xf32>)
}
"weft.kernel"() <{sym_name = "k_1"}> ({
^bb0(%a: f32):
  "weft.yield"() : () -> ()
}) : () -> ()

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<4xf32>
  // expected-error @+1 {{expects a kernel with a function type, but got @k_1}}
  plan.launch @k_1 ins(%x : memref<4xf32>)
}
"weft.kernel"() <{function_type = i32, sym_name = "k_1"}> ({
^bb0(%a: f32):
  "weft.yield"() : () -> ()
}) : () -> ()

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<4xf32>
  // expected-error @+1 {{expects a kernel whose weft.inplace holds lists of arguments, but got @k_1}}
  plan.launch @k_1 outs(%x : memref<4xf32>)
}
func.func private @k_1(memref<4xf32>) attributes {weft.inplace = [1]}

// -----

plan.program "eval" @eval {
  // expected-error @+1 {{expects a state with a type, but got @s}}
  %x = plan.use @s : memref<4xf32>
}
"plan.state"() <{sym_name = "s"}> : () -> ()

// -----

plan.program "eval" @eval {
  // expected-error @+1 {{expects an event with a stream, but got @e}}
  plan.record @e
}
"plan.event"() <{sym_name = "e"}> : () -> ()

// -----

// A function without a type is its own error.
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<4xf32>
  plan.launch @k_1 ins(%x : memref<4xf32>)
}
// expected-error @+1 {{requires attribute 'function_type'}}
"func.func"() <{sym_name = "k_1", sym_visibility = "private"}> ({}) {weft.inplace = [array<i64>]} : () -> ()

// -----

plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<4xf32>
  // expected-error @+1 {{expects output 0 not to be the buffer of input 0, which @k_1 still reads}}
  plan.launch @k_1 ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
}
// expected-note @+1 {{inplace of the kernel does not list it}}
weft.kernel @k_1(%a: tensor<4xf32>) -> tensor<4xf32> elementwise [4] inplace [[]] {
  weft.yield %a : tensor<4xf32>
}

// -----

plan.state param @w : memref<4xf32>
plan.program "eval" @late_use {
  %x = plan.input "x" : memref<4xf32>
  %y = plan.alloc temporary : memref<4xf32>
  // expected-note @+1 {{the first command is here}}
  plan.copy %x to %y : memref<4xf32> to memref<4xf32>
  plan.copy %x to %y : memref<4xf32> to memref<4xf32>
  // expected-error @+1 {{'plan.use' op expects all declarations above the first command, but got one below plan.copy}}
  %w = plan.use @w : memref<4xf32>
}

// -----

plan.program "eval" @late_input {
  %x = plan.input "x" : memref<4xf32>
  %y = plan.alloc temporary : memref<4xf32>
  // expected-note @+1 {{the first command is here}}
  plan.copy %x to %y : memref<4xf32> to memref<4xf32>
  plan.copy %x to %y : memref<4xf32> to memref<4xf32>
  // expected-error @+1 {{'plan.input' op expects all declarations above the first command, but got one below plan.copy}}
  %i = plan.input "i" : memref<4xf32>
}

// -----

plan.program "eval" @late_alloc {
  %x = plan.input "x" : memref<4xf32>
  %y = plan.alloc temporary : memref<4xf32>
  // expected-note @+1 {{the first command is here}}
  plan.copy %x to %y : memref<4xf32> to memref<4xf32>
  plan.copy %x to %y : memref<4xf32> to memref<4xf32>
  // expected-error @+1 {{'plan.alloc' op expects all declarations above the first command, but got one below plan.copy}}
  %z = plan.alloc temporary : memref<4xf32>
}

// -----

plan.program "eval" @late_view {
  %x = plan.input "x" : memref<4xf32>
  %y = plan.alloc temporary : memref<4xf32>
  // expected-note @+1 {{the first command is here}}
  plan.copy %x to %y : memref<4xf32> to memref<4xf32>
  plan.copy %x to %y : memref<4xf32> to memref<4xf32>
  // expected-error @+1 {{'plan.view' op expects all declarations above the first command, but got one below plan.copy}}
  %v = plan.view %x : memref<4xf32> to memref<2xf32>
}

// -----

weft.kernel @k_1(%x: tensor<8x4xf32>) -> tensor<8x4xf32> elementwise [8, 4] inplace [[]] pitches [6, 0] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x4xf32>
  %y = plan.alloc temporary : memref<8x4xf32>
  // expected-error @+1 {{expects a buffer like 'memref<8x4xf32, strided<[6, 1]>>' for @k_1, but got 'memref<8x4xf32>'}}
  plan.launch @k_1 ins(%x : memref<8x4xf32>) outs(%y : memref<8x4xf32>)
}

// -----

weft.kernel @k_1(%x: tensor<8x4xf32>) -> tensor<8x4xf32> elementwise [8, 4] inplace [[]] pitches [6, 0] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}
plan.program "eval" @eval {
  %root = plan.alloc temporary : memref<8x6xf32>
  %x = plan.view %root : memref<8x6xf32> to memref<8x4xf32, strided<[6, 1]>>
  // expected-error @+1 {{expects dense buffers, but got 'memref<8x4xf32, strided<[6, 1]>>'}}
  plan.launch @k_1 ins(%x : memref<8x4xf32, strided<[6, 1]>>) outs(%x : memref<8x4xf32, strided<[6, 1]>>)
}

// -----

// A kernel that stands behind it and is wrong itself.
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<8x8x4xf32>
  %y = plan.alloc temporary : memref<8x8x4xf32>
  plan.launch @k_1 ins(%x : memref<8x8x4xf32>) outs(%y : memref<8x8x4xf32>)
}
// expected-error @+1 {{expects in pitches 0 or at least the elements of a row}}
weft.kernel @k_1(%x: tensor<8x8x4xf32>) -> tensor<8x8x4xf32> elementwise [256] inplace [[]] pitches [4611686018427387904, 0] {
  %y = weft.neg %x : tensor<8x8x4xf32>
  weft.yield %y : tensor<8x8x4xf32>
}

// -----

// expected-error @+1 {{expects the kind of a program, but got 'sample'}}
plan.program "sample" @sample {
}
