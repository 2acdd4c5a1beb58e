//===- Passes.td - The training step as programs -----------*- tablegen -*-===//

#ifndef WEFT_TRAINING_PASSES_TD
#define WEFT_TRAINING_PASSES_TD

include "mlir/Pass/PassBase.td"

def ApplyGroupsPass : Pass<"weft-apply-groups", "::mlir::ModuleOp"> {
  let summary = "Apply a file of parameter groups";
  let description = [{
    Reads a TOML file of `[[group]]` tables. `match` is a POSIX extended regular
    expression, searched for in the parameter's name; the **first** group that
    matches a parameter claims it. The other keys are optional:

    | key | type | meaning |
    |---|---|---|
    | `frozen` | bool | true: the parameter is not trained |
    | `decay` | bool or number | weight decay: no, yes, or multiplied by that factor |
    | `lr_scale` | number | factor of the learning rate |
    | `optimizer` | string | `adamw`, `adam` or `sgd` instead of `--optimizer`; makes an instance of its own |
    | `name` | string | name of the optimizer instance (default: the `optimizer`, if given) |
    | `beta1`, `beta2`, `eps`, `momentum` | number | instead of the run's flag |
    | `weight_decay` | number | instead of the run's flag, also for parameters of one dimension, unless `decay` is given |
    | `nesterov` | bool | instead of `--nesterov` |

    Tables of one name are parameter groups of one optimizer instance. With a
    loss scale an instance with a bad gradient is skipped alone.

    Sets `trainable` and `decay` of `weft.param` and the attributes
    `weft.lr_scale`, `weft.decay_scale`, `weft.optimizer`, `weft.numbers`,
    `weft.optimizer_group` for `weft-expand-optimizer`. Precondition: before
    `weft-derive-programs`, so that frozen parameters get no gradient.

    Errors, with the line of the file: text that is not TOML, an unknown key, a
    value of the wrong type, a regular expression that does not parse, refers to
    an earlier group, is longer than 1000 characters or has more than 5000 states
    with its repetitions written out, that matches nothing, or whose matches
    earlier groups have all claimed; a hyper-parameter that the optimizer of a
    trained parameter does not have, and a name whose groups have two optimizers.

    Before, with `match = "^wte"`, `lr_scale = 0.5`:
    ```mlir
    weft.param @wte : tensor<8x4xf32>
    ```
    After:
    ```mlir
    weft.param @wte : tensor<8x4xf32> {weft.lr_scale = 5.000000e-01 : f64}
    ```
  }];
  let options = [
    Option<"groups", "groups", "std::string", "\"\"", "TOML file of parameter groups">,
    Option<"optimizer", "optimizer", "std::string", "\"adamw\"",
           "Optimizer of parameters whose group names none">,
  ];
  let statistics = [
    Statistic<"numClaimed", "claimed", "Parameters that a group claimed">,
  ];
}

def ExpandOptimizerPass : Pass<"weft-expand-optimizer", "::mlir::ModuleOp"> {
  let summary = "Write the update of all parameters as the program @apply";
  let description = [{
    For every trainable parameter with a gradient state, adds the states of its
    optimizer (`exp_avg`, `exp_avg_sq` for adam and adamw, `momentum_buffer` for
    sgd), a step counter for each optimizer instance (`@step`, `@step.NAME`),
    their zeros at the end of the `init` program, and a program of kind `apply`.
    `weft.training` of the module records facts that formulas of these ops do
    not show (`#weft.training`). The program:

    1. `weft.norm_and_check` of all gradients: outputs `grad_norm`, `found_inf`,
    2. `weft.clip_coefficient` with the input `max_norm` (0: no clipping),
    3. `weft.step_increment`, then one update op per parameter, all predicated:
       with `found_inf` nothing changes, not even the step. Parameters whose
       gradient state names one of kind `presence` (`weft-autodiff`) are also
       skipped where that is 0, and have a step counter of their own
       (`@step.PRESENCE`, `@step.NAME.PRESENCE`).

    The hyper-parameters of all optimizers are inputs (f64), after them
    `max_norm`; numbers of a group are constants. Where adamw and another
    optimizer are used together, adamw's decay is the input
    `adamw_weight_decay`, since their defaults differ. Weight decay applies
    where `decay` of the parameter is true (default: two or more dimensions).

    `OptimizerOpInterface` supplies the name, the states and the
    hyper-parameters of an optimizer.

    With a loss scale (`weft-loss-scale`) the gradients carry the value of
    `@loss_scale` at entry, and the program uses this value throughout:

    1. a `weft.norm_and_check` for every optimizer instance, whose flag alone
       skips its step and its updates,
    2. `weft.total_norm` and `weft.clip_coefficient` with the scale: `grad_norm`
       is of the unscaled gradients, one factor unscales and clips,
    3. after all updates `weft.scaler_update` with the disjunction of all flags.

    Further outputs are then `loss_scale` (the scale that was used),
    `scale_exhausted` and, with several instances, `found_inf.NAME`
    (`found_inf.default` for the instance without a name). Without a loss scale,
    a bad gradient skips the step of all instances.

    Precondition: `weft-autodiff`, one program of kind `init`, at most one loss
    scale. Guarantees: the module has one program of kind `apply`, which reads
    every gradient once for the norm and once for its update. It does not choose
    kernels and does not fuse updates.

    Before:
    ```mlir
    weft.param @w : tensor<4xf32>
    weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
    ```
    After, with optimizer=sgd:
    ```mlir
    weft.state @step : tensor<i64> {kind = #weft.state_kind<optimizer>}
    weft.state @w.momentum_buffer : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @w}
    weft.program @apply(%lr: tensor<f64> {weft.input = "lr"}, ...) attributes {kind = #weft.kind<apply>} {
      %g = weft.read @w.grad : tensor<4xf32>
      %norm, %bad = weft.norm_and_check %g {p = 2.0 : f64} : tensor<4xf32>
      ...
      weft.return %norm, %bad : ... writes @w = %w1 : tensor<4xf32>, ...
    }
    ```
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", "\"adamw\"", "adamw, adam or sgd">,
    Option<"clipNorm", "clip-norm", "std::string", "\"2\"", "p of the clipped norm: 1, 2, 3 or inf">,
    Option<"nesterov", "nesterov", "bool", "false", "Nesterov momentum for sgd">,
  ];
  let statistics = [
    Statistic<"numUpdated", "updated", "Parameters with an update">,
  ];
  let dependentDialects = ["::weft::WeftDialect"];
}

def DropTrainingPass : Pass<"weft-drop-training", "::mlir::ModuleOp"> {
  let summary = "Remove the programs and states of training";
  let description = [{
    Erases the programs of kind `micro` and `apply`, the states that no other
    program reads, and the writes of these states: gradients, optimizer states,
    step counters and the loss scale. Parameters stay, since weights and
    checkpoints have all of them.

    `#weft.training` keeps its facts about data and metrics, which evaluations
    read, and loses optimizers, counters and scaler. `weft.update_groups` is
    removed.

    Precondition: after `weft-working-copies`, which writes copies of
    parameters in `apply` too. Guarantees: the values of the other programs do
    not change. The executable evaluates, samples and predicts, but does not
    train.

    Before (test/Training/drop-training.mlir):
    ```mlir
    weft.param @w : tensor<4xf32>
    weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
    weft.program @init() attributes {kind = #weft.kind<init>} {...}
    weft.program @micro(...) attributes {kind = #weft.kind<micro>} {...}
    weft.program @apply(...) attributes {kind = #weft.kind<apply>} {...}
    weft.program @eval(...) attributes {kind = #weft.kind<eval>} {...}
    ```
    After:
    ```mlir
    weft.param @w : tensor<4xf32>
    weft.program @init() attributes {kind = #weft.kind<init>} {...}
    weft.program @eval(...) attributes {kind = #weft.kind<eval>} {...}
    ```
  }];
  let statistics = [
    Statistic<"numPrograms", "programs", "Programs removed">,
    Statistic<"numStates", "states", "States removed">,
  ];
}

#endif // WEFT_TRAINING_PASSES_TD
