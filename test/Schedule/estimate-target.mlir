// Rates and links of one kind of target are refused for another, at their line,
// and so are rates and links that name none. Format 1 had no targets: its tables
// are of the CPU.

// RUN: split-file %s %t
// RUN: weft-opt --weft-estimate=cost-table=%t/cpu.toml %t/plan.mlir
// RUN: weft-opt --weft-estimate='cost-table=%t/cuda.toml rates=h100' %t/plan.mlir
// RUN: weft-opt --weft-estimate=cost-table=%t/old.toml %t/plan.mlir
// RUN: not weft-opt --weft-estimate='cost-table=%t/old.toml rates=h100' %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not weft-opt --weft-estimate=cost-table=%t/none.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not weft-opt --weft-estimate='cost-table=%t/none.toml rates=h100' %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=NONE-CUDA
// RUN: not weft-opt --weft-estimate='cost-table=%t/cpu.toml rates=h100' %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not weft-opt --weft-estimate=cost-table=%t/cuda.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=CUDA
// RUN: not weft-opt --weft-estimate='cost-table=%t/threads.toml rates=h100' %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not weft-opt --weft-estimate=cost-table=%t/name.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not weft-opt --weft-estimate=cluster=%t/cluster.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=CLUSTER
// RUN: weft-opt --weft-estimate='cluster=%t/cluster.toml rates=h100' %t/plan.mlir
// RUN: not weft-opt --weft-estimate=cluster=%t/bare.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=BARE
// RUN: weft-opt --weft-estimate=cluster=%t/nested.toml %t/plan.mlir
// RUN: not weft-opt --weft-estimate='cluster=%t/costs.toml rates=h100' %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=COSTS

//--- plan.mlir
plan.program "eval" @eval {
}

//--- old.toml
gflops = 1
# OLD: old.toml:1:1: error: expects `target` to be "cuda", as --target is, but got none
# OLD: old.toml:1:1: note: write `format = 2` and `target = "cuda"` at its top if the rates are of such a machine{{$}}

//--- none.toml
format = 2
gflops = 1
# NONE: none.toml:1:1: error: expects `target` to be "cpu", as --target is, but got none
# NONE: none.toml:1:1: note: write `target = "cpu"` at its top if the rates are of such a machine; weft bench -o FILE.toml measures a table that has it
# NONE-CUDA: none.toml:1:1: error: expects `target` to be "cuda", as --target is, but got none
# NONE-CUDA: none.toml:1:1: note: write `target = "cuda"` at its top if the rates are of such a machine{{$}}

//--- cpu.toml
format = 2
target = "cpu"
gflops = 1
# CPU: cpu.toml:2:{{.*}}expects `target` to be "cuda", as --target is, but got "cpu"

//--- cuda.toml
format = 2
target = "cuda"
gflops = 1
# CUDA: cuda.toml:2:{{.*}}expects `target` to be "cpu", as --target is, but got "cuda"

//--- threads.toml
format = 2
gflops = 1
threads = 2
# THREADS: threads.toml:3:{{.*}}expects no `threads` in a cost table for --target=cuda: they are of a CPU

//--- name.toml
format = 2
target = "gpu"
# NAME: name.toml:2:{{.*}}expects `target` to be "cpu" or "cuda", but got "gpu"

//--- cluster.toml
ranks_per_node = 2
target = "cuda"
# CLUSTER: cluster.toml:2:{{.*}}expects `target` to be "cpu", as --target is, but got "cuda"

//--- bare.toml
ranks_per_node = 2
[costs]
format = 2
target = "cpu"
gflops = 1
# BARE: bare.toml:1:1: error: expects `target` to be "cpu", as --target is, but got none
# BARE: bare.toml:1:1: note: write `target = "cpu"` at its top if the cluster is of such machines

# The cluster names the target of its rates.
//--- nested.toml
target = "cpu"
[costs]
format = 2
gflops = 1

//--- costs.toml
ranks_per_node = 2
[costs]
format = 2
target = "cpu"
# COSTS: costs.toml:4:{{.*}}expects `target` to be "cuda", as --target is, but got "cpu"
