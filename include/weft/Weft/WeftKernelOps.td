//===- WeftKernelOps.td - Ops of kernels in linalg form ----*- tablegen -*-===//
//
// Ops on scalars in the bodies that weft-convert-kernels-to-linalg writes.
// Targets expand them. They are declared in weft/Weft/KernelOps.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNEL_OPS_TD
#define WEFT_KERNEL_OPS_TD

include "weft/Weft/WeftBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Weft_DrawOp : Op<Weft_Dialect, "draw", [
    Pure, Elementwise, Scalarizable, Vectorizable, Tensorizable]> {
  let summary = "One random number of a kernel in linalg form";
  let description = [{
    The number of `weft.philox` for one element; `key` is `philoxKey` of its
    seed and stream. Targets expand it: kernels of the CPU call functions that
    all kernels of a program share, kernels of CUDA devices contain the ten
    rounds.

    Example: `%u = weft.draw uniform %key, %row, %element`.
    Created by: `weft-convert-kernels-to-linalg`. Consumed by: `weft-lower-kernels`,
    `weft-lower-kernels-to-gpu`.
  }];
  let arguments = (ins Weft_PhiloxKindAttr:$kind, I64:$key, I64:$row, I64:$element);
  let results = (outs F32:$result);
  let assemblyFormat = "`` $kind $key `,` $row `,` $element attr-dict";
}

#endif // WEFT_KERNEL_OPS_TD
