// RUN: split-file %s %t
// RUN: weft-opt --split-input-file --verify-diagnostics --weft-autocast=dtype=f16 %t/ops.mlir
// RUN: weft-opt --split-input-file --verify-diagnostics "--weft-autocast=dtype=f16 lists=cpu" %t/cpu.mlir
// RUN: not weft-opt --weft-autocast=dtype=f16 %t/apply.mlir 2>&1 | FileCheck %s --check-prefix=NOMODEL
// RUN: not weft-opt --weft-autocast=dtype=f8 %t/model.mlir 2>&1 | FileCheck %s --check-prefix=DTYPE
// RUN: not weft-opt "--weft-autocast=dtype=f16 lists=tpu" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=LISTS
// RUN: not weft-opt "--weft-autocast=dtype=f16 recipe=fast" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=RECIPE
// RUN: not weft-opt "--weft-autocast=overrides=%t/key.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: not weft-opt "--weft-autocast=dtype=f16 overrides=%t/none.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not weft-opt "--weft-autocast=dtype=f16 overrides=%t/bare.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=BARE
// RUN: not weft-opt "--weft-autocast=dtype=f16 overrides=%t/syntax.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not weft-opt "--weft-autocast=dtype=f16 overrides=%t/key.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: not weft-opt "--weft-autocast=dtype=f16 overrides=%t/top.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=TOP
// RUN: not weft-opt "--weft-autocast=dtype=f16 overrides=%t/value.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not weft-opt "--weft-autocast=dtype=f16 overrides=%t/policy.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=POLICY
// RUN: not weft-opt "--weft-autocast=dtype=f16 overrides=%t/banned.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=BANNED
// RUN: not weft-opt "--weft-autocast=dtype=f16 overrides=%t/nopolicy.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=NOPOLICY
// RUN: not weft-opt "--weft-autocast=dtype=f16 overrides=%t/noop.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=NOOP
// RUN: not weft-opt "--weft-autocast=dtype=f16 overrides=%t/type.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not weft-opt "--weft-autocast=dtype=f16 overrides=%t/lists.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=FILELISTS
// RUN: not weft-opt "--weft-autocast=dtype=f16 overrides=%t/number.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not weft-opt "--weft-autocast=dtype=f16 overrides=%t/empty.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not weft-opt "--weft-autocast=dtype=f16 overrides=%t/regex.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=REGEX
// RUN: not weft-opt "--weft-autocast=dtype=f16 overrides=%t/nothing.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not weft-opt "--weft-autocast=dtype=f16 overrides=%t/claimed.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=CLAIMED

// NOMODEL: error: expects a program of kind model or logits, but got none
// DTYPE: error: expects dtype none, f16 or bf16, but got f8
// LISTS: for the --lists option: Cannot find option named 'tpu'!
// RECIPE: for the --recipe option: Cannot find option named 'fast'!
// UNUSED: error: expects dtype f16 or bf16 with overrides, but got none

//--- apply.mlir
weft.program @apply() attributes {kind = #weft.kind<apply>} {
  weft.return
}

//--- ops.mlir
weft.program @banned(%x: tensor<4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  // expected-error @+1 {{'weft.bce' op does not support 'f16': it is banned in the cuda lists; use weft.bce_with_logits instead}}
  %l = weft.bce %x, %x : tensor<4xf32>
  weft.return %l : tensor<f32>
}

// -----

weft.program @no_policy(%x: tensor<4xf32> {weft.input = "x"}, %a: tensor<f32> {weft.input = "a"})
    -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<model>} {
  // expected-error @+1 {{'weft.accumulate' op expects an op with a cast policy in a model, but this one has none}}
  %y = weft.accumulate %x, %x, %a : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// -----

// Nothing is cast here, and PyTorch's op refuses what comes in.
weft.program @mixed(%x: tensor<4x4xf32> {weft.input = "x"})
    -> (tensor<4x4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<model>} {
  %h = weft.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %y = weft.autocast attributes {enabled = false} {
    // expected-error @+1 {{'weft.matmul' op expects operands of one element type, as PyTorch's op does, but got 'f16' and 'f32' for operand 1; cast one of them with weft.cast}}
    %y = weft.matmul %h, %x : tensor<4x4xf32>, tensor<4x4xf32>
    weft.yield %y : tensor<4x4xf32>
  } : tensor<4x4xf32>
  weft.return %y : tensor<4x4xf32>
}

//--- cpu.mlir
// concat is in the CPU list of promotion, which knows f32 and the low type only.
weft.program @promote(%x: tensor<4xf32> {weft.input = "x"})
    -> (tensor<8xbf16> {weft.output = "y"}) attributes {kind = #weft.kind<model>} {
  %b = weft.cast %x : tensor<4xf32> to tensor<4xbf16>
  // expected-error @+1 {{'weft.concat' op expects operands of 'f16' or f32 for the policy promote, but got 'bf16' for operand 0}}
  %y = weft.concat %b, %b {dim = 0 : i64} : tensor<4xbf16>, tensor<4xbf16>
  weft.return %y : tensor<8xbf16>
}

//--- model.mlir
weft.program @model(%x: tensor<4x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %y = weft.exp %x {weft.scope = "h.0"} : tensor<4x4xf32>
  %l = weft.reduce mean %y dims [0, 1] : tensor<4x4xf32>
  weft.return %l : tensor<f32>
}

// MISSING: none.toml:{{.*}}expects a readable file of cast policies, but got: No such file or directory

//--- bare.toml
# A comment is no policy.
# BARE: bare.toml:1:1: error: expects `lists` or a table {{\[\[}}override{{\]\]}} in a file of cast policies, but got none

//--- syntax.toml
[[override]]
op = "a
// SYNTAX: syntax.toml:2:{{.*}}expects TOML, but got:

//--- key.toml
[[override]]
op = "exp"

kind = 3
# KEY: key.toml:4:{{.*}}expects op, scope or policy, but got `kind`

//--- top.toml
[overrides]
op = "exp"
# TOP: top.toml:1:{{.*}}expects only `lists` and tables {{\[\[}}override{{\]\]}}, but got `overrides`

//--- value.toml
override = [1]
# VALUE: value.toml:1:{{.*}}expects a table {{\[\[}}override{{\]\]}}, but got a value

//--- policy.toml
[[override]]
op = "exp"
policy = "f64"
# POLICY: policy.toml:3:{{.*}}expects `policy` to be lower, f32, promote, follow or narrow, but got "f64"

//--- banned.toml
[[override]]
op = "exp"
policy = "banned"
# BANNED: banned.toml:3:{{.*}}expects `policy` to be lower, f32, promote, follow or narrow, but got "banned"

//--- nopolicy.toml
[[override]]
op = "exp"
# NOPOLICY: nopolicy.toml:1:{{.*}}expects `policy` in an override, but got none

//--- noop.toml

[[override]]
policy = "f32"
# NOOP: noop.toml:2:{{.*}}expects `op` or `scope` in an override, but got neither

//--- type.toml
[[override]]
op = 3
# TYPE: type.toml:2:{{.*}}expects `op` to be a string with text, but got another type

//--- lists.toml
lists = "tpu"
# FILELISTS: lists.toml:1:{{.*}}expects `lists` to be cuda or cpu, but got "tpu"

//--- number.toml
lists = 3
# NUMBER: number.toml:1:{{.*}}expects `lists` to be cuda or cpu, but got a number

//--- empty.toml
[[override]]
scope = ""
# EMPTY: empty.toml:2:{{.*}}expects `scope` to be a string with text, but got an empty one

//--- regex.toml
[[override]]
op = "(exp"
# REGEX: regex.toml:2:{{.*}}expects `op` to be a regular expression, but got "(exp": parentheses not balanced

//--- nothing.toml
[[override]]
op = "exp"
scope = "h.1"
policy = "f32"
# NOTHING: nothing.toml:1:{{.*}}expects an override to find an op of the model, but op "exp" scope "h.1" finds none

//--- claimed.toml
[[override]]
op = "exp"
policy = "f32"
[[override]]
scope = "h"
policy = "follow"
# CLAIMED: claimed.toml:4:{{.*}}expects an override with an op of its own, but earlier overrides claim all that it finds
