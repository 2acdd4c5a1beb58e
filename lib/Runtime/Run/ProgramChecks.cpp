//===- ProgramChecks.cpp - Is this a program that can be trained ----------===//

#include "weft/Abi/Names.h"
#include "weft/Runtime/Run/Trainer.h"

#include <algorithm>

using namespace weft;

static Status missing(const char *what) {
  return Error(ExitCode::Internal,
               std::string("the executable has no ") + what);
}

Status weft::checkEvaluable(const WeftExecutable &executable) {
  const WeftProgram *eval = findProgram(executable, names::kEval);
  if (!eval || !WeftContext::findOutput(*eval, names::kLoss))
    return missing("output 'loss' of program 'eval'");
  return Status::success();
}

Status weft::checkTrainable(const WeftExecutable &executable,
                            const DataSet &data) {
  const WeftProgram *micro = findProgram(executable, names::kMicro);
  const WeftProgram *apply = findProgram(executable, names::kApply);
  if (!micro)
    return missing("program 'micro'");
  if (!apply)
    return missing("program 'apply'");
  if (!WeftContext::findOutput(*micro, names::kLoss))
    return missing("output 'loss' of program 'micro'");
  if (!WeftContext::findOutput(*apply, names::kFoundInf))
    return missing("output 'found_inf' of program 'apply'");
  return data.val ? checkEvaluable(executable) : Status::success();
}

Status weft::checkHyperParameters(const WeftExecutable &executable,
                                  const Metadata &metadata,
                                  const RunOptions &options) {
  const WeftProgram *apply = findProgram(executable, names::kApply);
  for (std::string flag : options.given) {
    std::string port = flag;
    for (char &c : port)
      c = c == '-' ? '_' : c;
    if (metadata.hasHyperParameter(port) && apply &&
        WeftContext::findInput(*apply, port.c_str()))
      continue;
    std::string kinds;
    for (const std::string &kind : metadata.optimizers)
      kinds += (kinds.empty() ? "" : ", ") + kind;
    return usageError("--" + flag +
                      " has no meaning for the optimizer of this "
                      "program, " +
                      kinds);
  }
  return Status::success();
}

Status weft::checkRowCount(const TrainState &state, const RunOptions &options,
                           const Metadata &metadata, int ranks) {
  const int64_t steps = std::max<int64_t>(*options.steps - state.step, 0);
  int64_t rows = 0;
  if (!__builtin_mul_overflow(steps, options.accum, &rows) &&
      !__builtin_mul_overflow(rows, metadata.batch, &rows) &&
      !__builtin_mul_overflow(rows, int64_t(ranks), &rows) &&
      !__builtin_add_overflow(rows, state.cursor.rows, &rows) &&
      rows <= mostRows)
    return Status::success();
  return usageError(
      "--steps expects a training of at most " + std::to_string(mostRows) +
      " rows, but " + std::to_string(steps) + " steps of " +
      std::to_string(options.accum) + " x " + std::to_string(metadata.batch) +
      (ranks > 1 ? " x " + std::to_string(ranks) : std::string()) +
      " rows after " + std::to_string(state.cursor.rows) + " are more");
}
