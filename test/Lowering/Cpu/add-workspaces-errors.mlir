// RUN: not weft-opt --weft-add-workspaces=threads=0 %s 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not weft-opt --weft-add-workspaces=threads=1025 %s 2>&1 | FileCheck %s --check-prefix=MANY

// FEW: error: expects 1 to 1024 threads, but got 0
// MANY: error: expects 1 to 1024 threads, but got 1025

module {
}
