//===- WeftUpdateAttrs.td - Facts of updates ---------------*- tablegen -*-===//
//
// Included by WeftBase.td.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_UPDATE_ATTRS_TD
#define WEFT_UPDATE_ATTRS_TD

def Weft_RepeatsAttr : AttrDef<Weft_Dialect, "Repeats"> {
  let mnemonic = "repeats";
  let summary = "The update whose kernels another update calls";
  let description = [{
    On an update op that differs from an earlier one only in its tensors:
    `update` is the number of the earlier update (`weft.update`), `states` are
    the states that its parameter, moments and gradient were read from, and
    `results` the operands of the terminator that are its results. `weft-fuse`
    accepts it only if the program computes them by the formula of the op.

    `#weft.repeats<update = 3, states = [@w, @w.momentum_buffer, @w.grad], results = 2, 3>`.
  }];
  let parameters = (ins "int64_t":$update, "::mlir::ArrayAttr":$states,
                        ArrayRefParameter<"int64_t">:$results);
  let assemblyFormat =
      "`<` `update` `=` $update `,` `states` `=` $states `,` `results` `=` $results `>`";
  let genVerifyDecl = 1;
}

def Weft_IndexInputAttr : AttrDef<Weft_Dialect, "IndexInput"> {
  let mnemonic = "index_input";
  let summary = "Valid values of an integer input";
  let description = [{
    The values of the input `name` of a program select rows of a table or
    classes of a loss: they are from 0 to `limit` (not included), or `ignore`,
    with which a loss leaves a row out.

    `#weft.index_input<"label", limit = 10, ignore = -100>`.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$limit,
                        OptionalParameter<"std::optional<int64_t>">:$ignore);
  let assemblyFormat =
      "`<` $name `,` `limit` `=` $limit (`,` `ignore` `=` $ignore^)? `>`";
  let genVerifyDecl = 1;
}

def Weft_TrainingAttr : AttrDef<Weft_Dialect, "Training"> {
  let mnemonic = "training";
  let summary = "Facts of an update that its formulas do not show";
  let description = [{
    | field | contents |
    |---|---|
    | `optimizers` | names of the optimizers of the update; none after `weft-drop-training` |
    | `counters` | if there are several step counters: for each symbol of a counter, the names of the parameters whose updates it counts |
    | `scaler` | the rule by which the loss scale changes; absent if it is fixed |
    | `index_inputs` | a `#weft.index_input` for each integer input of data whose valid values the model limits |
    | `metrics` | names of the outputs of `micro` and `eval` that are reported and not trained |

    `weft-expand-optimizer` writes it. A run accepts data, saves checkpoints
    and describes itself by it. `weft-verify-plan` checks that the states,
    inputs and outputs that it names exist and are of the right kind.

    `#weft.training<optimizers = ["adamw"], scaler = <torch>>`.
  }];
  let parameters = (ins "::mlir::ArrayAttr":$optimizers,
                        OptionalParameter<"::mlir::DictionaryAttr">:$counters,
                        OptionalParameter<"::weft::ScalerAttr">:$scaler,
                        OptionalParameter<"::mlir::ArrayAttr">:$index_inputs,
                        OptionalParameter<"::mlir::ArrayAttr">:$metrics);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // WEFT_UPDATE_ATTRS_TD
