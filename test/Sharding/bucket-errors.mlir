// RUN: weft-opt %s --weft-bucket -split-input-file -verify-diagnostics
// RUN: not weft-opt %s -split-input-file --weft-bucket=rule=layers 2>&1 | FileCheck %s --check-prefix=RULE
// RUN: not weft-opt %s -split-input-file --weft-bucket=rule=bytes:0 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not weft-opt %s -split-input-file --weft-bucket=rule=params:-3 2>&1 | FileCheck %s --check-prefix=PARAMS
// RUN: not weft-opt %s -split-input-file --weft-bucket=rule=bytes:99999999999999999999 2>&1 | FileCheck %s --check-prefix=FAR
// RUN: not weft-opt %s -split-input-file --weft-bucket=align=0 2>&1 | FileCheck %s --check-prefix=ALIGN
// Every message of the pass.

// RULE: error: expects rule to be scope, bytes:N or params:N with N of at least 1, but got 'layers'
// BYTES: error: expects rule to be scope, bytes:N or params:N with N of at least 1, but got 'bytes:0'
// PARAMS: error: expects rule to be scope, bytes:N or params:N with N of at least 1, but got 'params:-3'
// FAR: error: expects rule to be scope, bytes:N or params:N with N of at least 1, but got 'bytes:99999999999999999999'
// ALIGN: error: expects align to be 1 to 1048576, but got 0

weft.param @w : tensor<4xf32>
// expected-error @+1 {{expects no tied parameter (weft-tie-params), but got tie = @w}}
weft.param @v : tensor<4xf32> {tie = @w}

// -----

// expected-error @+1 {{expects a parameter outside of flat states, but got one with segments}}
weft.param @flat : tensor<8xf32> {slices = 2, segments = [#weft.segment<@w [8] at 0 to 8>]}

// -----

weft.param @w : tensor<4xf32>
// expected-error @+1 {{expects a state that is not flat yet, but got one with segments}}
weft.state @m : tensor<8xf32> {kind = #weft.state_kind<optimizer>, slot = "exp_avg", segments = [#weft.segment<@w [4] at 0 to 4>]}

// -----

weft.param @w : tensor<2x2xf32>
// expected-error @+1 {{expects the shape of @w, [2, 2], but got 'tensor<4xf32>'}}
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}

// -----

weft.param @w : tensor<4xf32>
// expected-error @+1 {{expects to be called @w.SLOT as a state of that parameter}}
weft.state @moment : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @w}
