// RUN: split-file %s %t
// RUN: not weft-opt --weft-estimate=cost-table=%t/none.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not weft-opt --weft-estimate=cost-table=%t/syntax.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not weft-opt --weft-estimate=cost-table=%t/key.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: not weft-opt --weft-estimate=cost-table=%t/value.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not weft-opt --weft-estimate=cost-table=%t/type.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=TYPE

//--- plan.mlir
plan.program "eval" @eval {
}
// MISSING: none.toml:{{.*}}expects a readable cost table, but got: No such file or directory

//--- syntax.toml
gflops =
# SYNTAX: syntax.toml:1:{{.*}}expects TOML, but got:

//--- key.toml
# the second line

tflops = 1
# KEY: key.toml:3:{{.*}}expects gflops, gigabytes_per_second or overhead_us, but got `tflops`

//--- value.toml
gflops = 0
# VALUE: value.toml:1:{{.*}}expects `gflops` to be a number above 0, but got 0.0

//--- type.toml
overhead_us = "1"
# TYPE: type.toml:1:{{.*}}expects `overhead_us` to be a number above 0, but got another type
