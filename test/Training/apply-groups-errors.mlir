// RUN: split-file %s %t
// RUN: not weft-opt --weft-apply-groups=groups=%t/none.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not weft-opt --weft-apply-groups=groups=%t/empty.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not weft-opt --weft-apply-groups=groups=%t/bare.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=BARE
// RUN: not weft-opt --weft-apply-groups=groups=%t/syntax.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not weft-opt --weft-apply-groups=groups=%t/key.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: not weft-opt --weft-apply-groups=groups=%t/top.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=TOP
// RUN: not weft-opt --weft-apply-groups=groups=%t/value.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not weft-opt --weft-apply-groups=groups=%t/nomatch.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=NOMATCH
// RUN: not weft-opt --weft-apply-groups=groups=%t/type.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not weft-opt --weft-apply-groups=groups=%t/regex.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=REGEX
// RUN: timeout 20 not weft-opt --weft-apply-groups=groups=%t/states.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=STATES
// RUN: timeout 20 not weft-opt --weft-apply-groups=groups=%t/many.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not weft-opt --weft-apply-groups=groups=%t/reference.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=REFERENCE
// RUN: %python -c "print('[[group]]\nmatch = \"' + '(' * 900 + ')' * 900 + '\"')" > %t/long.toml
// RUN: not weft-opt --weft-apply-groups=groups=%t/long.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: timeout 20 weft-opt --weft-apply-groups=groups=%t/bounded.toml %t/model.mlir | FileCheck %s --check-prefix=BOUNDED
// RUN: not weft-opt --weft-apply-groups=groups=%t/optimizer.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=OPTIMIZER
// RUN: not weft-opt --weft-apply-groups=groups=%t/foreign.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=FOREIGN
// RUN: not weft-opt --weft-apply-groups=groups=%t/kind.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not weft-opt --weft-apply-groups=groups=%t/number.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not weft-opt --weft-apply-groups=groups=%t/negative.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not weft-opt --weft-apply-groups=groups=%t/frozen.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=FROZEN
// RUN: not weft-opt --weft-apply-groups=groups=%t/name.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not weft-opt --weft-apply-groups=groups=%t/reserved.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=RESERVED
// RUN: not weft-opt --weft-apply-groups=groups=%t/beta.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=BETA
// RUN: not weft-opt --weft-apply-groups=groups=%t/eps.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=EPS
// RUN: not weft-opt --weft-apply-groups=groups=%t/nesterov.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=NESTEROV
// RUN: not weft-opt --weft-apply-groups=groups=%t/nothing.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not weft-opt --weft-apply-groups=groups=%t/claimed.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=CLAIMED

// RUN: not weft-opt --weft-apply-groups=groups=%t/default.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=DEFAULT
// RUN: weft-opt --weft-apply-groups='groups=%t/default.toml optimizer=sgd' %t/model.mlir | FileCheck %s --check-prefix=SGD
// RUN: not weft-opt --weft-apply-groups='groups=%t/flag.toml optimizer=adam' %t/model.mlir 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: weft-opt --weft-apply-groups=groups=%t/untrained.toml %t/model.mlir | FileCheck %s --check-prefix=UNTRAINED
// RUN: not weft-opt --weft-apply-groups=groups=%t/rest.toml %t/model.mlir 2>&1 | FileCheck %s --check-prefix=REST

// Every error names the file and the line.

//--- model.mlir
weft.param @fc.weight : tensor<4x4xf32>
weft.param @out.bias : tensor<4xf32>

// MISSING: none.toml:{{.*}}expects a readable file of parameter groups, but got: No such file or directory

// EMPTY: empty.toml:1:1: error: expects a table {{\[\[}}group{{\]\]}} in a file of parameter groups, but got none
//--- empty.toml
//--- bare.toml
group = []
# BARE: bare.toml:1:1: error: expects a table {{\[\[}}group{{\]\]}} in a file of parameter groups, but got none

//--- syntax.toml
[[group]]
match = "a
# SYNTAX: syntax.toml:2:{{.*}}expects TOML, but got:

//--- key.toml
[[group]]
match = "fc"

learning_rate = 3
# KEY: key.toml:4:{{.*}}expects match, name, frozen, decay, lr_scale, optimizer, beta1, beta2, eps, weight_decay, momentum or nesterov, but got `learning_rate`

//--- top.toml
[groups]
match = "fc"
# TOP: top.toml:1:{{.*}}expects only tables {{\[\[}}group{{\]\]}}, but got `groups`

//--- value.toml
group = [1]
# VALUE: value.toml:1:{{.*}}expects a table {{\[\[}}group{{\]\]}}, but got a value

//--- nomatch.toml
[[group]]
decay = false
# NOMATCH: nomatch.toml:1:{{.*}}expects `match` in a group, but got none

//--- type.toml
[[group]]
match = 3
# TYPE: type.toml:2:{{.*}}expects `match` to be a string with text, but got another type

//--- regex.toml
[[group]]
match = "(fc"
# REGEX: regex.toml:2:{{.*}}expects `match` to be a regular expression, but got "(fc": parentheses not balanced

# The engine copies repeated expressions: nested, that would never end.

//--- states.toml
[[group]]
match = "(((((c{255}){255}){255}){255}){255})$"
# STATES: states.toml:2:{{.*}}expects `match` to be a regular expression, but got "(((((c{255}){255}){255}){255}){255})$": with its repetitions written out it has more than 5000 states

//--- many.toml
[[group]]
match = "(([c]{1,255}|[[:alpha:]]{2,}){0,255})*$"
# MANY: many.toml:2:{{.*}}": with its repetitions written out it has more than 5000 states

//--- reference.toml
[[group]]
match = '(fc|w)\.\1'
# REFERENCE: reference.toml:2:{{.*}}": a reference to an earlier group is not supported

# LONG: long.toml:2:{{.*}}(((": it has more than 1000 characters

//--- bounded.toml
[[group]]
match = '((([^]()]*)*)*)*\.(w|[{(]|e){1,40}[[:alpha:]]{3,9}.*$'
frozen = true
# BOUNDED: weft.param @fc.weight {{.*}} {trainable = false}

//--- optimizer.toml
[[group]]
match = "fc"
optimizer = "lion"
# OPTIMIZER: optimizer.toml:3:{{.*}}expects `optimizer` to be adamw, adam or sgd, but got "lion"

//--- foreign.toml
[[group]]
match = "fc"
optimizer = "sgd"
beta1 = 0.5
# FOREIGN: foreign.toml:4:{{.*}}expects a group without `beta1`, which sgd does not have

//--- kind.toml
[[group]]
match = "fc"
optimizer = true
# KIND: kind.toml:3:{{.*}}expects `optimizer` to be adamw, adam or sgd, but got a boolean

//--- number.toml
[[group]]
match = "fc"
decay = "no"
# NUMBER: number.toml:3:{{.*}}expects `decay` to be a number that is not negative, but got another type

//--- negative.toml
[[group]]
match = "fc"
lr_scale = -1.0
# NEGATIVE: negative.toml:3:{{.*}}expects `lr_scale` to be a number that is not negative, but got -1.0

//--- frozen.toml
[[group]]
match = "fc"
frozen = 1
# FROZEN: frozen.toml:3:{{.*}}expects `frozen` to be true or false, but got another type

//--- nothing.toml
[[group]]
match = "fc3"
# NOTHING: nothing.toml:1:{{.*}}expects `match` to find a parameter, but "fc3" finds none

//--- claimed.toml
[[group]]
match = "fc"
frozen = true
[[group]]
match = "weight"
# CLAIMED: claimed.toml:4:{{.*}}expects a group with a parameter of its own, but earlier groups claim all that "weight" finds

//--- name.toml
[[group]]
match = "fc"
name = "a b"
# NAME: name.toml:3:{{.*}}expects `name` to be letters, digits, - and _, other than "default", but got "a b"

//--- reserved.toml
[[group]]
match = "fc"
name = "default"
# RESERVED: reserved.toml:3:{{.*}}expects `name` to be letters, digits, - and _, other than "default", but got "default"

//--- beta.toml
[[group]]
match = "fc"
beta1 = 1
# BETA: beta.toml:3:{{.*}}expects `beta1` below 1, but got 1.0

//--- eps.toml
[[group]]
match = "fc"
eps = -1
# EPS: eps.toml:3:{{.*}}expects `eps` to be a number that is not negative, but got -1.0

//--- nesterov.toml
[[group]]
match = "fc"
nesterov = 2
# NESTEROV: nesterov.toml:3:{{.*}}expects `nesterov` to be true or false, but got another type

# A hyper-parameter that the default optimizer does not have.

//--- default.toml
[[group]]
match = "out"
[[group]]
match = "fc"
momentum = 0.5
# DEFAULT: default.toml:3:{{.*}}expects a group without `momentum`, which adamw does not have
# SGD: weft.param @fc.weight {{.*}}momentum = 5.000000e-01

//--- flag.toml
[[group]]
match = "fc"
nesterov = true
# FLAG: flag.toml:1:{{.*}}expects a group without `nesterov`, which adam does not have

//--- untrained.toml
[[group]]
match = "fc"
frozen = true
momentum = 0.5
# UNTRAINED: weft.param @fc.weight {{.*}}trainable = false, weft.numbers = {momentum = 5.000000e-01

//--- rest.toml
[[group]]
match = "fc"
name = "a"
optimizer = "sgd"
[[group]]
match = "out"
name = "a"
# REST: rest.toml:5:{{.*}}expects optimizer sgd as the rest of group "a", but got adamw
