//===- WeftRegionOps.td - Regions of a program -------------*- tablegen -*-===//

#ifndef WEFT_REGION_OPS_TD
#define WEFT_REGION_OPS_TD

include "weft/Weft/WeftBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// A region that runs once, in place of the op; its results are the yielded
/// values.
def Weft_InlinedRegion
    : TraitList<[SingleBlock, RecursiveMemoryEffects, NoRegionArguments,
                 Weft_NativeTrait<"InlinedRegion">]>;

def Weft_RecomputeOp : Weft_Op<"recompute", [Weft_InlinedRegion]> {
  let summary = "A region that the backward pass recomputes";
  let description = [{
    Like PyTorch's `torch.utils.checkpoint`. For the ops inside, the backward
    pass keeps only the inputs of the region and the values that ops outside
    read. It recomputes the rest together: a region is a **segment** with a name
    of its own. The values are the same either way. Regions nest: ops of an
    inner region belong only to that region. Parameters and constants need no
    recomputation.

    Example:
    ```mlir
    %y = weft.recompute "mlp" {
      %e = weft.exp %x : tensor<8x4xf32>
      %t = weft.tanh %e : tensor<8x4xf32>
      weft.yield %t : tensor<8x4xf32>
    } : tensor<8x4xf32>
    ```
    Created by: model text. Consumed by: `weft-inline-recompute`.
  }];
  let arguments = (ins StrAttr:$segment);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Weft_Tensor>:$results);
  let assemblyFormat = "$segment attr-dict-with-keyword $body (`:` type($results)^)?";
  let hasVerifier = 1;
}

def Weft_AutocastOp : Weft_Op<"autocast", [Weft_InlinedRegion]> {
  let summary = "A region with a cast policy of its own";
  let description = [{
    Like PyTorch's `with torch.autocast(...)`: inside, `weft-autocast` casts to
    `dtype` (f16 or bf16; default: the dtype around the region), or with
    `enabled = false` not at all. The values inside are the same either way;
    types are the types of the model in full precision. Regions nest.

    Example:
    ```mlir
    %y = weft.autocast attributes {enabled = false} {
      %e = weft.exp %x : tensor<8x4xf32>
      weft.yield %e : tensor<8x4xf32>
    } : tensor<8x4xf32>
    ```
    Created by: model text. Consumed by: `weft-autocast`.
  }];
  let arguments = (ins OptionalAttr<TypeAttr>:$dtype,
                       DefaultValuedAttr<BoolAttr, "true">:$enabled);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Weft_Tensor>:$results);
  let assemblyFormat = "attr-dict-with-keyword $body (`:` type($results)^)?";
  let hasVerifier = 1;
}

def Weft_YieldOp : Weft_Op<"yield", [
    Pure, Terminator, ParentOneOf<["::weft::KernelOp", "::weft::AutocastOp", "::weft::RecomputeOp"]>]> {
  let summary = "Ends a kernel or a region";
  let description = "Example: `weft.yield %y : tensor<4xf32>`.";
  let arguments = (ins Variadic<Weft_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let hasVerifier = 1;
}

#endif // WEFT_REGION_OPS_TD
