// RUN: not weft-opt %s --weft-group-copies="buffers=513" 2>&1 | FileCheck %s --check-prefix=MORE
// RUN: not weft-opt %s --weft-group-launches="buffers=513" 2>&1 | FileCheck %s --check-prefix=MORE
// RUN: not weft-opt %s --weft-group-copies="buffers=-1" 2>&1 | FileCheck %s --check-prefix=FEWER
// RUN: weft-opt %s --weft-group-copies="buffers=512" --weft-group-launches="buffers=512"
// MORE: error: expects from 0 to 512 buffers of a group, as a kernel has 4 KiB of arguments, but got 513
// FEWER: error: expects from 0 to 512 buffers of a group, as a kernel has 4 KiB of arguments, but got -1
// A kernel cannot have the buffers of a larger group.

module {
}
