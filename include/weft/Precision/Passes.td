//===- Passes.td - Mixed precision -------------------------*- tablegen -*-===//

#ifndef WEFT_PRECISION_PASSES_TD
#define WEFT_PRECISION_PASSES_TD

include "mlir/Pass/PassBase.td"

def AutocastPass : Pass<"weft-autocast", "::mlir::ModuleOp"> {
  let summary = "Write the casts of mixed precision into the model";
  let description = [{
    Gives every op of the programs `model`, `logits` and `predict` the element
    type of its cast policy under PyTorch's lists (`lists`), changed by `recipe`
    and by the file `overrides`. `docs/explanation/precision.md` has the policies
    and recipes, `docs/how-to/mixed-precision.md` the file. A cast is a
    `weft.cast`:

    - of a parameter: once for each parameter and type in a program, next to its
      first `weft.read`, with that op's location and scope;
    - of any other value: at each use, with the location and scope of the user.

    Types of results follow from the operands. Operands that PyTorch's op
    converts itself (`add`, `select`, `concat`, ...) go to the widest type;
    f64 and integers are never cast. Outputs and written states keep the types
    they are declared with, so a loss stays f32.

    The pass applies the settings of `weft.autocast` regions and inlines them.
    The `dtype` of a softmax or a reduction becomes a cast of its operand. With
    `dtype=none` nothing else happens.

    Precondition: before `weft-derive-programs`, so that backward ops run in the
    type of the forward op. Guarantees: no region `weft.autocast` and no
    attribute `dtype` is left. Errors: an op that the lists ban, an op that
    models cannot contain, operands that PyTorch's op refuses to mix, an
    override that cannot be read or that matches no op.

    Example (test/Precision/autocast.mlir):
    ```mlir
    %w = weft.read @w : tensor<4x3xf32>
    %y = weft.matmul %x, %w : tensor<8x4xf32>, tensor<4x3xf32>
    %s = weft.softmax %y : tensor<8x3xf32>
    // becomes, with dtype=f16
    %w = weft.read @w : tensor<4x3xf32>
    %w16 = weft.cast %w : tensor<4x3xf32> to tensor<4x3xf16>
    %x16 = weft.cast %x : tensor<8x4xf32> to tensor<8x4xf16>
    %y = weft.matmul %x16, %w16 : tensor<8x4xf16>, tensor<4x3xf16>
    %y32 = weft.cast %y : tensor<8x3xf16> to tensor<8x3xf32>
    %s = weft.softmax %y32 : tensor<8x3xf32>
    ```

    Does not: fold casts (a value rounded to f16 and widened again stays rounded),
    or keep low-precision copies of parameters from step to step
    (`weft-working-copies`).
  }];
  let options = [
    Option<"dtype", "dtype", "std::string", "\"none\"", "Low type: none, f16 or bf16">,
    Option<"lists", "lists", "::weft::CastLists", "::weft::CastLists::Cuda",
           "Autocast lists of PyTorch: cuda or cpu", [{::llvm::cl::values(
               clEnumValN(::weft::CastLists::Cuda, "cuda", "of CUDA"),
               clEnumValN(::weft::CastLists::Cpu, "cpu", "of the CPU"))}]>,
    Option<"recipe", "recipe", "::weft::CastRecipe", "::weft::CastRecipe::Amp",
           "amp, llm or pure-f16", [{::llvm::cl::values(
               clEnumValN(::weft::CastRecipe::Amp, "amp", "the lists"),
               clEnumValN(::weft::CastRecipe::Llm, "llm", "a low-precision stream"),
               clEnumValN(::weft::CastRecipe::PureF16, "pure-f16", "only losses in f32"))}]>,
    Option<"overrides", "overrides", "std::string", "\"\"",
           "TOML file: lists, and policies for chosen ops">,
  ];
  let statistics = [
    Statistic<"numCasts", "casts", "Casts written">,
    Statistic<"numParameterCasts", "parameter-casts", "Casts of parameters, included in casts">,
    Statistic<"numRegions", "regions", "Autocast regions resolved">,
  ];
  let dependentDialects = ["::weft::WeftDialect"];
}

def LossScalePass : Pass<"weft-loss-scale", "::mlir::ModuleOp"> {
  let summary = "Multiply the gradient of the loss by a loss scale";
  let description = [{
    Small gradients underflow in f16. The pass declares `@loss_scale`, has
    `@init` write its first value, and multiplies `loss_seed` of the micro
    program by it, so that every gradient carries the scale.
    `weft-expand-optimizer` divides the gradients by it again.

    `mode` is a number (the scale never changes) or `dynamic`. With `dynamic`,
    `@loss_scale.state` holds [tracker, last overflow, hysteresis left]. The
    attribute `weft.scaler` of `@loss_scale`, a `#weft.scaler`, is the attribute
    for `weft.scaler_update`. `scaler` gives a policy and its numbers, as in
    `scaler=deepspeed,init=1024,interval=500`; missing numbers are the policy's
    defaults.

    Precondition: `weft-autodiff`; the loss and its seed are f32. Guarantees:
    only the backward part of `micro` changes, and only by the scale.

    Errors, at the module: a scale that is not finite and positive, a `scaler`
    that is no `#weft.scaler`, or one with a static scale.

    Before:
    ```mlir
    %1 = weft.mul %loss_seed, %x : tensor<f32>, tensor<4xf32>
    ```
    After (test/Precision/loss-scale.mlir):
    ```mlir
    weft.state @loss_scale : tensor<f32> {kind = #weft.state_kind<scaler>, weft.scaler = #weft.scaler<torch>}
    %s = weft.read @loss_scale : tensor<f32>
    %0 = weft.mul %loss_seed, %s : tensor<f32>, tensor<f32>
    %1 = weft.mul %0, %x : tensor<f32>, tensor<4xf32>
    ```
    Does not: check, unscale or skip (`weft-expand-optimizer`).
  }];
  let options = [
    Option<"mode", "mode", "std::string", "\"dynamic\"", "dynamic, or a fixed scale">,
    ListOption<"scaler", "scaler", "std::string", "Policy of a dynamic scale, then numbers: deepspeed,init=1024,interval=500; default: torch">,
  ];
  let dependentDialects = ["::weft::WeftDialect"];
}

def WorkingCopiesPass : Pass<"weft-working-copies", "::mlir::ModuleOp"> {
  let summary = "Keep low-precision copies of parameters from step to step";
  let description = [{
    A parameter that the programs `micro`, `eval`, `logits` or `predict` cast to
    f16 or bf16 gets a state of kind `working` (`@w.f16`, `@w.bf16`), which
    these programs read instead. The optimizer op writes it together with the f32
    parameter, and `@init` together with the initial value. A new program
    `@refresh` rewrites all copies after a load of weights or of a checkpoint.
    The copy is always the rounded parameter, also after a skipped step.

    With `persistent=false` the casts stay: every program run rounds again.

    With `master=false` a parameter that is used in a single low type has that
    type itself: there is no f32 value, and `@init` and the update round to the
    low type. Moments stay f32. Updates below half a unit in the last place of
    the parameter are lost.

    Precondition: `weft-expand-optimizer`; every cast reads the parameter itself.
    Guarantees: with `persistent=true` no program but `@init`, `@apply` and
    `@refresh` casts a parameter to a low type. Checkpoints do not hold the
    copies.

    Errors: no programs of kind `init` and `apply`; `@init` does not write the
    parameter; the new value of the parameter is not the result of an optimizer
    op; the name of the copy or of `@refresh` is taken.

    Example (test/Precision/working-copies.mlir):
    ```mlir
    %w = weft.read @w : tensor<4x3xf32>
    %l = weft.cast %w : tensor<4x3xf32> to tensor<4x3xbf16>
    // becomes, in micro
    %l = weft.read @w.bf16 : tensor<4x3xbf16>
    // and in apply
    %w1, %m1, %l1 = weft.sgd(...) : (...) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xbf16>)
    ```

    Does not: choose the low-precision values (`weft-autocast`).
  }];
  let options = [
    Option<"persistent", "persistent", "bool", "true",
           "Keep the copies from step to step; false: cast at each use">,
    Option<"master", "master", "bool", "true",
           "Keep the f32 value of parameters that are only used in a low type">,
  ];
  let statistics = [
    Statistic<"numCopies", "copies", "Working copies declared">,
    Statistic<"numLow", "low-parameters", "Parameters without an f32 value">,
  ];
  let dependentDialects = ["::weft::WeftDialect"];
}

#endif // WEFT_PRECISION_PASSES_TD
