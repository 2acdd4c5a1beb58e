//===- Passes.td - Programs of a step and their gradients --*- tablegen -*-===//

#ifndef WEFT_AUTODIFF_PASSES_TD
#define WEFT_AUTODIFF_PASSES_TD

include "weft/Autodiff/RecomputePasses.td"
include "mlir/Pass/PassBase.td"

def DeriveProgramsPass : Pass<"weft-derive-programs", "::mlir::ModuleOp"> {
  let summary = "Derive the init, micro and eval programs from the model";
  let description = [{
    Replaces the program of kind `model` by these programs:

    - `@init`: input `seed`; draws the initial value of every parameter and
      writes it.
    - `@micro`: the model with the inputs of one micro-step: `loss_seed` (the
      gradient of the loss, 1 / number of micro-steps), `accumulate` (0 at the
      first micro-step of a step, else 1) and, if the model has dropout, `rng`
      ([seed, first global row]), which is attached to every dropout and
      attention that drops.
    - `@eval`: the model without dropout.
    - `@denominators`, if a loss or metric is a mean over targets that may be
      ignored or have weights (CountedMeanOpInterface). Its inputs are `accumulate`,
      `batch_share` (1 / number of micro-steps) and the data of targets and
      weights. It runs before the micro-steps of a step and adds `batch_share`
      times the count of a micro-batch to the state `@denominator.N` of the
      mean. `@micro` and `@eval` divide the sum over targets by that state, so
      the loss of a step does not depend on its split. `@denominator.none` is 1
      if the step has no target. With several weighted losses, a loss without
      targets adds nothing.

    `@micro` and `@eval` return only the loss and, behind it, the outputs with
    `weft.metric`, which are NaN in a step without a counted target. A model with
    several losses has no output `loss`, but outputs with a weight,
    `{weft.output = "task", weft.loss = 0.3 : f64}`. Then `loss` is their
    weighted sum, and each of them stays an output after it. Programs of kind
    `logits` and `predict` stay, without dropout. Unused ops are removed.

    Precondition: one program of kind `model` with an output `loss` or weighted
    outputs; these and metrics are scalars of f32 (f64 in gradient checks); a
    metric is a mean over rows if the loss is; every dropout has an `op_id` of
    its own; a parameter is trainable; parameters have initial values; targets
    and weights of counted means depend only on data, constants and frozen
    parameters.

    Guarantees: no program of kind `model` is left; only `@micro` drops. The
    module has `weft.row_mean` if every term of the loss is a mean over rows
    that do not depend on each other (RowFlowOpInterface). Otherwise a remark
    names the first op for which this is unknown.

    Example (test/Autodiff/derive-programs.mlir):
    ```mlir
    weft.program @model(%x: tensor<8x4xf32> {weft.input = "x"})
        -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>}
    // becomes
    weft.program @init(%seed: tensor<i64> {weft.input = "seed"})
        attributes {kind = #weft.kind<init>}
    weft.program @micro(%x: tensor<8x4xf32> {weft.input = "x"},
                        %s: tensor<f32> {weft.input = "loss_seed"},
                        %a: tensor<f32> {weft.input = "accumulate"})
        -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>}
    weft.program @eval(%x: tensor<8x4xf32> {weft.input = "x"})
        -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<eval>}
    ```

    Does not: build gradients (`weft-autodiff`) or the update
    (`weft-expand-optimizer`), or resolve ties (`weft-tie-params`).
  }];
  let statistics = [
    Statistic<"numDropped", "dropouts-removed", "Dropouts removed from eval, logits and predict programs">,
    Statistic<"numSplitLosses", "split-losses", "Losses that may depend on the split of rows">,
  ];
  let dependentDialects = ["::weft::WeftDialect"];
}

def DeriveDecodingPass : Pass<"weft-derive-decoding", "::mlir::ModuleOp"> {
  let summary = "Derive the programs that sample with a cache";
  let description = [{
    Replaces the program of kind `logits`, which computes a whole window for the
    logits of one position, by these programs:

    - `@prefill`: the same program. It also writes the keys and values of each
      attention to states of kind `cache`, [groups, positions, width].
    - `@decode`: inputs `tokens` [1,1] and `position`. It computes one token,
      writes its keys and values at `position`, and attends to the positions
      before it in the cache.

    The rules of RowFlowOpInterface prove that an op computes each position
    alone. Errors are an op without such a rule, an op that joins positions, and
    keys or values that depend on `position`, which the cache would keep from an
    earlier token. A table with an entry for each position, such as learned or
    rotary positions, is read at `position`. Windows and caps of scores stay.

    Precondition: one program of kind `logits` that writes no state; its
    attention is causal, over the tokens of one document, and without dropout
    (`weft-derive-programs` removes it).

    Before:
    ```mlir
    %out, %lse = weft.attention %q, %k, %v {causal, scale = 0.5 : f64}
        : tensor<1x8x2x4xf32>, tensor<1x8x1x4xf32>, tensor<1x8x1x4xf32>
    ```
    After, in `@decode`:
    ```mlir
    %isHere = weft.compare eq %i, %position : tensor<1x8x1xi32>, tensor<1xi32>
    %old = weft.read @attn.cached_key : tensor<1x8x4xf32>
    %keys = weft.select %isHere, %k, %old : ...
    %scores = weft.matmul %q, %keys {transpose_rhs} : ...
    ```
    Tests: test/Autodiff/derive-decoding.mlir.
  }];
  let options = [
    Option<"optional", "optional", "bool", /*default=*/"false",
           "Warn about a model that cannot be sampled so, and leave it as it is">,
  ];
  let statistics = [
    Statistic<"numCaches", "caches", "Attentions with a cache">,
  ];
  let dependentDialects = ["::weft::WeftDialect"];
}

def DerivePredictionPass : Pass<"weft-derive-prediction", "::mlir::ModuleOp"> {
  let summary = "Derive the program that gives a result for each row";
  let description = [{
    Keeps the program of kind `predict` that a model has, or derives it. Without
    the option `wanted` (`--predict`), a program that the model has is checked
    and erased.

    The first dimension of all inputs and outputs of the program is the row of
    the batch. A program of the model's text may read other inputs than the
    model, such as no targets. A warning names the first op from which on an
    output is not known to depend on one row alone (RowFlowOpInterface).

    The derived program of a language model is `@predict`. Its outputs are
    `log_likelihood`, the sum over counted targets of the logarithm of their
    probability, and `tokens`, the number of counted targets. It replaces the
    loss by ops with one value for each target:

    Before (test/Autodiff/derive-prediction.mlir):
    ```mlir
    weft.program @model(%tokens: tensor<2x4xi32> {weft.input = "tokens"},
                        %targets: tensor<2x4xi32> {weft.input = "targets"})
        -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>}
    ```
    After, next to `@model`:
    ```mlir
    weft.program @predict(%tokens: tensor<2x4xi32> {weft.input = "tokens"},
                          %targets: tensor<2x4xi32> {weft.input = "targets"})
        -> (tensor<2xf32> {weft.output = "log_likelihood"},
            tensor<2xi32> {weft.output = "tokens"}) attributes {kind = #weft.kind<predict>}
    ```

    Precondition: one program of kind `model`. To derive the program, the module
    has `weft.vocab` and `weft.seq`, and the model one cross_entropy of its
    input `targets`, without weights of classes and label_smoothing; the logits
    of a row depend on no other row. Everything else is an error.

    Does not: remove dropout (`weft-derive-programs`).
  }];
  let options = [
    Option<"wanted", "wanted", "bool", /*default=*/"true",
           "Keep or derive the program of kind predict">,
  ];
  let statistics = [
    Statistic<"numDerived", "derived", "Programs derived from a language model">,
    Statistic<"numJoined", "joined", "Outputs that may join rows">,
  ];
  let dependentDialects = ["::weft::WeftDialect"];
}

def AutodiffPass : Pass<"weft-autodiff", "::mlir::ModuleOp"> {
  let summary = "Extend the micro program by the gradients of its parameters";
  let description = [{
    Reverse-mode differentiation of the loss of the program of kind `micro`.
    Every trainable parameter `@w` that the loss depends on gets a state
    `@w.grad`, and the program writes `weft.accumulate` of its old value and the
    new gradient to it. A parameter that is used several times accumulates one
    gradient after the other, each where it is computed.

    `DifferentiableOpInterface` supplies the adjoint of each op. Ops that do not
    depend on a trainable parameter, and operands that need no gradient, get
    none. A value with several uses sums the gradients of its uses, starting
    with the last use in the program. If the uses are slices that tile the
    value, their gradients are concatenated. Backward ops follow the forward
    ops. They carry the scope of their forward op and its location fused with
    "backward".

    A forward op whose results the backward part reads has the attribute
    `weft.saved` with the numbers of these results; a reshape counts as its
    operand. A gradient that leaves a branch of a `weft.layer_drop`, to another
    value or to a state, is replaced by zeros if the branch was not taken. The
    gradient state of a parameter that only branches use names a state of kind
    `presence`. It counts the micro-steps that took one of these branches. A
    trainable parameter that the loss does not depend on is frozen
    (`trainable = false`) with a warning.

    Backward ops run in the type of the forward op. Adjoints of several steps
    compute in f32 for f16 and bf16 and round once. The adjoint of a cast is a
    cast, except for a cast of a parameter to f16 or bf16:

    - `grad-dtype=f32`: the gradient of each use is accumulated into the f32
      state separately. A matmul produces it with `out = f32`, sums of rows and
      of table rows are f32, other gradients are cast.
    - `grad-dtype=torch`: gradients of the uses are added in f16 or bf16, as
      PyTorch does, and their sum is cast once.

    With `accumulation=off` there is no `weft.accumulate`: the program writes
    this micro-step's gradient to the state. With `torch` the state of a
    parameter that is only used in f16 (or only in bf16) then has that type.

    Marks for recomputation (`weft.recompute`) stay for `weft-recompute`.

    Precondition: `weft-autocast` (if the model has regions or `dtype`s) and
    `weft-derive-programs` have run; ties are resolved.

    Guarantees: one gradient state for each trainable parameter; the forward
    part is unchanged but for `weft.saved`.

    Example (test/Autodiff/autodiff.mlir):
    ```mlir
    %w = weft.read @w : tensor<4xf32>
    %y = weft.mul %x, %w : tensor<4xf32>, tensor<4xf32>
    %loss = weft.reduce sum %y dims [0] : tensor<4xf32>
    weft.return %loss : tensor<f32>
    // becomes
    %w = weft.read @w : tensor<4xf32>
    %y = weft.mul %x, %w : tensor<4xf32>, tensor<4xf32>
    %loss = weft.reduce sum %y dims [0] : tensor<4xf32>
    %1 = weft.reshape %loss_seed : tensor<f32> to tensor<1xf32>
    %2 = weft.broadcast %1 : tensor<1xf32> to tensor<4xf32>
    %3 = weft.mul %2, %x : tensor<4xf32>, tensor<4xf32>
    %old = weft.read @w.grad : tensor<4xf32>
    %acc = weft.accumulate %old, %3, %accumulate : tensor<4xf32>
    weft.return %loss : tensor<f32> writes @w.grad = %acc : tensor<4xf32>
    ```

    Does not: differentiate twice, or differentiate with respect to inputs.
  }];
  let options = [
    Option<"gradDtype", "grad-dtype", "::weft::GradDtype", "::weft::GradDtype::F32",
           "Where gradients of low-precision copies of a parameter are added: "
           "f32, or torch (in the copy's type)", [{::llvm::cl::values(
               clEnumValN(::weft::GradDtype::F32, "f32", "in f32"),
               clEnumValN(::weft::GradDtype::Torch, "torch", "in the copy's type"))}]>,
    Option<"accumulation", "accumulation", "::weft::AccumulationMode",
           "::weft::AccumulationMode::On",
           "on: add gradients to the sum of earlier micro-steps; off: "
           "overwrite it", [{::llvm::cl::values(
               clEnumValN(::weft::AccumulationMode::On, "on", "add"),
               clEnumValN(::weft::AccumulationMode::Off, "off", "overwrite"))}]>,
  ];
  let statistics = [
    Statistic<"numBackwardOps", "backward-ops", "Ops built for the backward part">,
    Statistic<"numSaved", "saved-values", "Forward values the backward part reads">,
    Statistic<"savedBytes", "saved-bytes", "Bytes of these values">,
  ];
  let dependentDialects = ["::weft::WeftDialect"];
}

#endif // WEFT_AUTODIFF_PASSES_TD
