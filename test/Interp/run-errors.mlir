// RUN: not weft-interp %s --program=bad_divisor 2>&1 | FileCheck %s --check-prefix=DIVISOR
// RUN: not weft-interp %s --program=no_value 2>&1 | FileCheck %s --check-prefix=NO-VALUE
// RUN: not weft-interp %s --program=no_rng 2>&1 | FileCheck %s --check-prefix=NO-RNG
// RUN: not weft-interp %s --program=no_layer_rng 2>&1 | FileCheck %s --check-prefix=LAYER-RNG
// RUN: not weft-interp %s --program=no_attention_rng 2>&1 | FileCheck %s --check-prefix=ATTENTION-RNG
// RUN: not weft-interp %s --program=nested_call 2>&1 | FileCheck %s --check-prefix=NESTED
// RUN: not weft-interp %s --program=foreign 2>&1 | FileCheck %s --check-prefix=FOREIGN
// RUN: not weft-interp %s --program=reads_other_type 2>&1 | FileCheck %s --check-prefix=READ-TYPE
// RUN: not weft-interp %s --program=writes_other_type 2>&1 | FileCheck %s --check-prefix=WRITE-TYPE
// RUN: not weft-interp %s --program=missing 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not weft-interp %s --steps=1 2>&1 | FileCheck %s --check-prefix=STEPS

// Errors of ops and programs, each at its place in the file.

weft.param @w : tensor<2xf32>

// DIVISOR: errors.mlir:[[@LINE+3]]:8: error: 'weft.div' op expects integer divisors other than 0
weft.program @bad_divisor() -> (tensor<2xi32> {weft.output = "r"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[0, 1]> : tensor<2xi32>
  %r = weft.div %x, %x : tensor<2xi32>, tensor<2xi32>
  weft.return %r : tensor<2xi32>
}

// NO-VALUE: 'weft.read' op reads '@w', which has no value; run an init program or give its initial state
weft.program @no_value() -> (tensor<2xf32> {weft.output = "r"}) attributes {kind = #weft.kind<eval>} {
  %r = weft.read @w : tensor<2xf32>
  weft.return %r : tensor<2xf32>
}

// NO-RNG: 'weft.dropout' op expects an rng operand where p is not 0; run weft-derive-programs
weft.program @no_rng() -> (tensor<2xf32> {weft.output = "r"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<0.0> : tensor<2xf32>
  %r = weft.dropout %x {p = 0.5 : f64, op_id = 0} : tensor<2xf32>
  weft.return %r : tensor<2xf32>
}

// LAYER-RNG: 'weft.layer_drop' op expects an rng operand where p is not 0; run weft-derive-programs
weft.program @no_layer_rng() -> (tensor<2xf32> {weft.output = "r"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<0.0> : tensor<2xf32>
  %r, %dropped = weft.layer_drop %x, %x {p = 0.5 : f64, op_id = 0} : tensor<2xf32>
  weft.return %r : tensor<2xf32>
}

// ATTENTION-RNG: 'weft.attention' op expects an rng operand where dropout is not 0; run weft-derive-programs
weft.program @no_attention_rng() -> (tensor<1x2x1x2xf32> {weft.output = "r"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<0.0> : tensor<1x2x1x2xf32>
  %r, %lse = weft.attention %x, %x, %x {scale = 1.0 : f64, dropout = 0.5 : f64}
      : tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>
  weft.return %r : tensor<1x2x1x2xf32>
}

weft.kernel @k_1(%a: tensor<2xf32>) -> tensor<2xf32> elementwise [2] inplace [[]] {
  %r = weft.call @k_1(%a) : (tensor<2xf32>) -> tensor<2xf32>
  weft.yield %r : tensor<2xf32>
}

// NESTED: 'weft.call' op expects to be in a program, but is in a kernel
weft.program @nested_call() -> (tensor<2xf32> {weft.output = "r"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<0.0> : tensor<2xf32>
  %r = weft.call @k_1(%x) : (tensor<2xf32>) -> tensor<2xf32>
  weft.return %r : tensor<2xf32>
}

// FOREIGN: 'builtin.unrealized_conversion_cast' op expects a function of the interpreter (InterpretedOpInterface), but there is none
weft.program @foreign() -> (tensor<2xf32> {weft.output = "r"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<0.0> : tensor<2xf32>
  %r = builtin.unrealized_conversion_cast %x : tensor<2xf32> to tensor<2xf32>
  weft.return %r : tensor<2xf32>
}

// A tie between tensors of other types is refused by weft-tie-params; before it,
// the interpreter sees it when the tensor is used.
weft.param @one : tensor<1xf32> {init = #weft.init<zeros>}
weft.param @two : tensor<2xf32> {tie = @one}

// READ-TYPE: 'weft.read' op expects '@two' to have the type 'tensor<2xf32>', but got 1xf32
weft.program @reads_other_type() -> (tensor<2xf32> {weft.output = "r"}) attributes {kind = #weft.kind<eval>} {
  %r = weft.read @two : tensor<2xf32>
  weft.return %r : tensor<2xf32>
}

// WRITE-TYPE: 'weft.return' op expects a value of the type that '@two' shares, but got 2xf32
weft.program @writes_other_type() attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<0.0> : tensor<2xf32>
  weft.return writes @two = %x : tensor<2xf32>
}

// MISSING: error: expects a program '@missing'
// STEPS: error: --steps expects a micro and an apply program

{-#
  dialect_resources: {
    builtin: {
      blob: "0x0400000001000000"
    }
  }
#-}
