// RUN: split-file %s %t
// RUN: not weft-opt "--weft-shard=mesh=dp:2 rules=%t/missing.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not weft-opt "--weft-shard=mesh=dp:2 rules=%t/empty.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not weft-opt "--weft-shard=mesh=dp:2 rules=%t/syntax.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not weft-opt "--weft-shard=mesh=dp:2 rules=%t/key.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: not weft-opt "--weft-shard=mesh=dp:2 rules=%t/top.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=TOP
// RUN: not weft-opt "--weft-shard=mesh=dp:2 rules=%t/value.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not weft-opt "--weft-shard=mesh=dp:2 rules=%t/layout.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=LAYOUT
// RUN: not weft-opt "--weft-shard=mesh=dp:2 rules=%t/number.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not weft-opt "--weft-shard=mesh=dp:2 rules=%t/none.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not weft-opt "--weft-shard=mesh=dp:2 rules=%t/all.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: not weft-opt "--weft-shard=mesh=dp:2 rules=%t/trainable.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=TRAINABLE
// RUN: not weft-opt "--weft-shard=mesh=dp:2 rules=%t/regex.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=REGEX
// RUN: not weft-opt "--weft-shard=mesh=dp:2 rules=%t/text.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not weft-opt "--weft-shard=mesh=dp:2 rules=%t/kind.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not weft-opt "--weft-shard=mesh=dp:2 rules=%t/nothing.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not weft-opt "--weft-shard=mesh=dp:2 rules=%t/claimed.toml" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=CLAIMED

// Every error names the file and the line.

//--- model.mlir
weft.param @fc.weight : tensor<4x4xf32>

// MISSING: missing.toml:{{.*}}expects a readable file of shard rules, but got: No such file or directory

// EMPTY: empty.toml:1:1: error: expects a table {{\[\[}}rule{{\]\]}} in a file of shard rules, but got none
//--- empty.toml
//--- syntax.toml
[[rule]]
match = "a
// SYNTAX: syntax.toml:2:{{.*}}expects TOML, but got:

//--- key.toml
[[rule]]
match = "fc"
layout = "sharded"
zero = 3
# KEY: key.toml:4:{{.*}}expects match, scope, trainable or layout, but got `zero`

//--- top.toml
[rules]
match = "fc"
# TOP: top.toml:1:{{.*}}expects only tables {{\[\[}}rule{{\]\]}}, but got `rules`

//--- value.toml
rule = [1]
# VALUE: value.toml:1:{{.*}}expects a table {{\[\[}}rule{{\]\]}}, but got a value

//--- layout.toml
[[rule]]
match = "fc"
layout = "whole"
# LAYOUT: layout.toml:3:{{.*}}expects `layout` to be sharded or replicated, but got "whole"

//--- number.toml
[[rule]]
match = "fc"
layout = 1
# NUMBER: number.toml:3:{{.*}}expects `layout` to be sharded or replicated, but got a number

//--- none.toml
[[rule]]
match = "fc"
# NONE: none.toml:1:{{.*}}expects `layout` in a rule, but got none

//--- all.toml
[[rule]]
layout = "sharded"
# ALL: all.toml:1:{{.*}}expects `match`, `scope` or `trainable` in a rule, but got none

//--- trainable.toml
[[rule]]
trainable = "yes"
layout = "sharded"
# TRAINABLE: trainable.toml:2:{{.*}}expects `trainable` to be true or false, but got "yes"

//--- regex.toml
[[rule]]
match = "(fc"
layout = "sharded"
# REGEX: regex.toml:2:{{.*}}expects `match` to be a regular expression, but got "(fc": parentheses not balanced

//--- text.toml
[[rule]]
scope = ""
layout = "sharded"
# TEXT: text.toml:2:{{.*}}expects `scope` to be a string with text, but got an empty one

//--- kind.toml
[[rule]]
match = 3
layout = "sharded"
# KIND: kind.toml:2:{{.*}}expects `match` to be a string with text, but got another type

//--- nothing.toml
# a rule of no parameter
[[rule]]
match = "fc"
scope = "h"
trainable = false
layout = "sharded"
# NOTHING: nothing.toml:2:{{.*}}expects a rule to find a parameter, but match "fc" and scope "h" and trainable false finds none

//--- claimed.toml
[[rule]]
match = "fc"
layout = "replicated"
[[rule]]
trainable = true
layout = "sharded"
# CLAIMED: claimed.toml:4:{{.*}}expects a rule with a parameter of its own, but earlier rules claim all that trainable true finds
