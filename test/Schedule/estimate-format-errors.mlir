// RUN: split-file %s %t
// RUN: not weft-opt --weft-estimate=cost-table=%t/future.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=FUTURE
// RUN: not weft-opt --weft-estimate=cost-table=%t/text.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not weft-opt --weft-estimate=cost-table=%t/kernel.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not weft-opt --weft-estimate=cost-table=%t/space.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=SPACE
// RUN: not weft-opt --weft-estimate=cost-table=%t/scores.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=SCORES
// RUN: not weft-opt --weft-estimate=cost-table=%t/threads.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not weft-opt --weft-estimate=cost-table=%t/many.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not weft-opt --weft-estimate=cost-table=%t/gemm.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=GEMM
// RUN: not weft-opt --weft-estimate=cost-table=%t/score.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=SCORE
// RUN: not weft-opt --weft-estimate=cost-table=%t/score-type.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=SCORE-TYPE
// RUN: not weft-opt --weft-estimate=cost-table=%t/unknown.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not weft-opt --weft-estimate=cost-table=%t/effects.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=EFFECTS
// RUN: not weft-opt --weft-estimate=cost-table=%t/add.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=ADD
// RUN: not weft-opt --weft-estimate=cost-table=%t/matmul.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=MATMUL
// RUN: not weft-opt --weft-estimate=cost-table=%t/read.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=READ
// RUN: not weft-opt --weft-estimate=cost-table=%t/old.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: weft-opt --weft-estimate=cost-table=%t/formulas.toml %t/plan.mlir

//--- plan.mlir
plan.program "eval" @eval {
}

//--- future.toml
gflops = 1
format = 3
# FUTURE: future.toml:2:{{.*}}expects `format` to be 1 or 2, but got 3

//--- text.toml
format = "2"
# TEXT: text.toml:1:{{.*}}expects `format` to be 1 or 2, but got "2"

//--- kernel.toml
gflops = 1
[rope]
gflops = 1
# KERNEL: kernel.toml:2:{{.*}}expects `format = 2` at the top of a table with `rope`, but got none

//--- space.toml
format = 1
rows = { gflops = 1 }
# SPACE: space.toml:2:{{.*}}expects `format = 2` at the top of a table with `rows`, but got `format = 1`

//--- scores.toml
[attention.f32]
gigascores_per_second = 1
# SCORES: scores.toml:2:{{.*}}expects `format = 2` at the top of a table with `gigascores_per_second`, but got none

//--- threads.toml
threads = 2
# THREADS: threads.toml:1:{{.*}}expects `format = 2` at the top of a table with `threads`, but got none

//--- old.toml
target = "cpu"
# OLD: old.toml:1:{{.*}}expects `format = 2` at the top of a table with `target`, but got none

//--- many.toml
format = 2
threads = 0
# MANY: many.toml:2:{{.*}}expects `threads` to be an integer from 1 to 4096, but got 0

//--- gemm.toml
format = 2
[gemm]
gigascores_per_second = 1
# GEMM: gemm.toml:3:{{.*}}expects gflops, gigabytes_per_second, overhead_us or an element type, but got `gigascores_per_second`

# Attention has a key more.
//--- score.toml
format = 2
[attention]
gigascores = 1
# SCORE: score.toml:3:{{.*}}expects gflops, gigabytes_per_second, overhead_us, gigascores_per_second or an element type, but got `gigascores`

//--- score-type.toml
format = 2
[attention_grad.bf16]
gigascores = 1
# SCORE-TYPE: score-type.toml:3:{{.*}}expects gflops, gigabytes_per_second, overhead_us or gigascores_per_second, but got `gigascores`

//--- unknown.toml
format = 2
[ropes]
gflops = 1
# UNKNOWN: unknown.toml:2:{{.*}}expects format, target, threads, gflops, gigabytes_per_second, overhead_us, an element type, link or a kind of command or kernel, but got `ropes`

//--- effects.toml
format = 2
[program]
gflops = 1
# EFFECTS: effects.toml:2:{{.*}}a kind of command or kernel, but got `program`

# No kernel has a primitive op as its formula.
//--- add.toml
format = 2
[add]
gflops = 1
# ADD: add.toml:2:{{.*}}a kind of command or kernel, but got `add`

//--- matmul.toml
format = 2
[matmul]
gflops = 1
# MATMUL: matmul.toml:2:{{.*}}a kind of command or kernel, but got `matmul`

//--- read.toml
format = 2
[read]
gflops = 1
# READ: read.toml:2:{{.*}}a kind of command or kernel, but got `read`

//--- formulas.toml
format = 2
target = "cpu"
rope = { gflops = 1 }
layer_norm = { gflops = 1 }
cross_entropy = { gflops = 1 }
gelu = { gflops = 1 }
gelu_grad = { gflops = 1 }
adamw = { gflops = 1 }
