// RUN: weft-opt --weft-plan-memory --split-input-file --verify-diagnostics %s

// An arena is at most the address space of a process; no sum overflows on the
// way there.

plan.state param @a : memref<4398046511104xf32>
plan.state param @b : memref<4398046511104xf32>
plan.state param @c : memref<4398046511104xf32>
plan.state param @d : memref<4398046511104xf32>
plan.state param @e : memref<4398046511104xf32>
plan.state param @f : memref<4398046511104xf32>
plan.state param @g : memref<4398046511104xf32>
plan.state param @h : memref<4398046511104xf32>
// expected-error @below {{expects states of at most 2^47 bytes together, the address space of a process, but got more}}
plan.state param @i : memref<16xf32>

// -----

// expected-error @below {{expects an arena of at most 2^47 bytes, the address space of a process, but got 123145302310912 bytes of state and 35184372088832 bytes of a program}}
module {
  plan.state param @a : memref<4398046511104xf32>
  plan.state param @b : memref<4398046511104xf32>
  plan.state param @c : memref<4398046511104xf32>
  plan.state param @d : memref<4398046511104xf32>
  plan.state param @e : memref<4398046511104xf32>
  plan.state param @f : memref<4398046511104xf32>
  plan.state param @g : memref<4398046511104xf32>
  plan.program "eval" @eval {
    %x = plan.input "x" : memref<4398046511104xf32>
    %y = plan.alloc temporary : memref<4398046511104xf32>
    plan.copy %x to %y : memref<4398046511104xf32> to memref<4398046511104xf32>
    plan.output "y" %y : memref<4398046511104xf32>
  }
}
