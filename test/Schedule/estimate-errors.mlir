// RUN: split-file %s %t
// RUN: not weft-opt --weft-estimate=cost-table=%t/none.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not weft-opt --weft-estimate=cost-table=%t/syntax.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not weft-opt --weft-estimate=cost-table=%t/key.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: not weft-opt --weft-estimate=cost-table=%t/value.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not weft-opt --weft-estimate=cost-table=%t/type.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not weft-opt --weft-estimate=cost-table=%t/infinite.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=INFINITE
// RUN: not weft-opt --weft-estimate=cost-table=%t/kind.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not weft-opt --weft-estimate=cost-table=%t/both.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not weft-opt --weft-estimate=cost-table=%t/element.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=ELEMENT
// RUN: not weft-opt --weft-estimate=cost-table=%t/table.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: not weft-opt --weft-estimate=cost-table=%t/command.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=COMMAND
// RUN: not weft-opt --weft-estimate=cost-table=%t/empty.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not weft-opt --weft-estimate=cost-table=%t/bare.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=BARE
// RUN: not weft-opt --weft-estimate=cluster=%t/costs.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=NOCOSTS
// RUN: not weft-opt --weft-estimate=cluster=%t/empty.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=CLUSTER
// RUN: not weft-opt --weft-estimate=rates=a100 %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=RATES
// RATES: error: expects rates=cpu or rates=h100, but got a100

//--- plan.mlir
plan.program "eval" @eval {
}
// EMPTY: empty.toml:1:1: error: expects a rate in a cost table, such as gflops, but got none
// CLUSTER: empty.toml:1:1: error: expects {{.*}}node, network or costs in a cluster, but got none
// MISSING: none.toml:{{.*}}expects a readable cost table, but got: No such file or directory

//--- syntax.toml
gflops =
# SYNTAX: syntax.toml:1:{{.*}}expects TOML, but got:

//--- empty.toml
//--- bare.toml
format = 2
[gemm]
# BARE: bare.toml:1:{{.*}}expects a rate in a cost table, such as gflops, but got none

//--- costs.toml
ranks_per_node = 2
[costs]
# NOCOSTS: costs.toml:2:{{.*}}expects a rate in a cost table, such as gflops, but got none

//--- key.toml
# the second line

tflops = 1
# KEY: key.toml:3:{{.*}}expects format, target, threads, gflops, gigabytes_per_second, overhead_us, an element type, link or a kind of command or kernel, but got `tflops`

//--- value.toml
gflops = 0
# VALUE: value.toml:1:{{.*}}expects `gflops` to be a number from 1e-6 to 1e12, but got 0

//--- type.toml
overhead_us = "1"
# TYPE: type.toml:1:{{.*}}expects `overhead_us` to be 0 or a number from 1e-6 to 1e12, but got "1"

//--- infinite.toml
[f16]
gflops = inf
# INFINITE: infinite.toml:2:{{.*}}expects `gflops` to be a number from 1e-6 to 1e12, but got inf

//--- kind.toml
[gemm]
gflops = 100
f8 = { gflops = 200 }
# KIND: kind.toml:3:{{.*}}expects gflops, gigabytes_per_second, overhead_us or an element type, but got `f8`

//--- both.toml
gflops = 100

[gemm.bf16]
f32 = { gflops = 200 }
# BOTH: both.toml:4:{{.*}}expects gflops, gigabytes_per_second or overhead_us, but got `f32`

//--- element.toml
[bf16.gemm]
gflops = 100
# ELEMENT: element.toml:1:{{.*}}expects gflops, gigabytes_per_second or overhead_us, but got `gemm`

//--- table.toml
gemm = 100
# TABLE: table.toml:1:{{.*}}expects `gemm` to be a table of rates, but got a number

//--- command.toml
[output]
gflops = 100
# COMMAND: command.toml:1:{{.*}}expects format, target, threads, gflops, gigabytes_per_second, overhead_us, an element type, link or a kind of command or kernel, but got `output`
