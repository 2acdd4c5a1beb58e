//===- PortChecks.cpp - Checks of program inputs --------------------------===//
//
// A program may not come from this compiler. An input that a run does not write
// has undefined contents, with which training would continue.
//
//===----------------------------------------------------------------------===//

#include "weft/Abi/Names.h"
#include "weft/Base/Text.h"
#include "weft/Formats/ProgramPorts.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Execute/DTypes.h"
#include "weft/Runtime/Run/Trainer.h"

#include <algorithm>

using namespace weft;

using Sizes = std::vector<int64_t>;

static Error wrong(const WeftProgram &program, const std::string &text) {
  return internalError("program '", program.symbol, "' expects ", text);
}

//===----------------------------------------------------------------------===//
// Ports of known names
//===----------------------------------------------------------------------===//

static Status checkShape(const WeftProgram &program, const WeftPort &port,
                         const char *what, const Sizes &expected) {
  if (shapeOf(port) == expected)
    return Status::success();
  return wrong(program, std::string(what) + " '" + port.name + "' of shape " +
                            shapeText(expected) + ", but got " +
                            shapeText(shapeOf(port)));
}

/// Whether a port is an input of `apply` without a rule: the weight decay of
/// one optimizer.
static bool isOwnDecay(const Metadata &metadata, const WeftProgram &program,
                       const WeftPort &port) {
  return program.kind == std::string_view(names::kApply) &&
         metadata.decays.count(port.name);
}

static Status checkInput(const WeftProgram &program, const WeftPort &port,
                         const Metadata &metadata) {
  if (const PortRule *rule = findInputRule(program.kind, port.name))
    return checkShape(program, port, "input",
                      rule->size == 0 ? Sizes() : Sizes{rule->size});
  if (isOwnDecay(metadata, program, port))
    return checkShape(program, port, "input", {});
  std::vector<std::string> known = namesOfRules(inputRules(), program.kind);
  if (program.kind == std::string_view(names::kApply))
    for (const auto &[name, decay] : metadata.decays)
      known.push_back(name);
  return wrong(program, "inputs that a run writes, " + spellNames(known) +
                            ", but got " + inQuotes(port.name));
}

/// Checks that a data input has a batch of rows. A language model's data inputs
/// are tokens.
static Status checkData(const WeftProgram &program, const WeftPort &port,
                        const Metadata &metadata) {
  std::string name = port.name;
  bool batch = port.rank > 0 && port.dims[0] == metadata.batch;
  bool tokens = (name == names::kTokens || name == names::kTargets) &&
                port.rank == 2 && port.dtype == WEFT_I32 &&
                port.dims[1] == metadata.seq;
  if (batch && (!metadata.isLanguageModel() || tokens))
    return Status::success();
  return wrong(program, "inputs of a batch of rows, but got " + inQuotes(name) +
                            " of shape " + shapeText(shapeOf(port)));
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Checks the ports of sampling: tokens, position and logits, and no other
/// inputs except those with a rule, such as the rank.
static Status checkLogits(const WeftProgram &program,
                          const Metadata &metadata) {
  struct Port {
    const char *what, *name;
    const WeftPort *port;
    Sizes shape;
  };
  const int64_t tokens =
      program.kind == std::string_view(names::kDecode) ? 1 : metadata.seq;
  const Port ports[] = {{"input",
                         names::kTokens,
                         WeftContext::findInput(program, names::kTokens),
                         {1, tokens}},
                        {"input",
                         names::kPosition,
                         WeftContext::findInput(program, names::kPosition),
                         {1}},
                        {"output",
                         names::kLogits,
                         WeftContext::findOutput(program, names::kLogits),
                         {1, metadata.vocab}}};
  for (const Port &expected : ports) {
    if (!expected.port)
      return wrong(program, std::string("an ") + expected.what + " '" +
                                expected.name + "', but got none");
    if (Status s =
            checkShape(program, *expected.port, expected.what, expected.shape);
        !s)
      return s;
  }
  if (ports[2].port->dtype != WEFT_F32)
    return wrong(program, std::string("output 'logits' of type F32, but got ") +
                              dtypeName(ports[2].port->dtype));
  for (const WeftPort &port : inputsOf(program)) {
    std::string name = port.name;
    if (name != names::kTokens && name != names::kPosition)
      if (Status s = checkInput(program, port, metadata); !s)
        return s;
  }
  return Status::success();
}

static Status checkInputs(const WeftProgram &program,
                          const Metadata &metadata) {
  if (givesLogits(program.kind))
    return checkLogits(program, metadata);
  for (const WeftPort &port : inputsOf(program)) {
    bool isData = readsData(program.kind) && !isFilledByHost(port.name);
    if (Status s = isData ? checkData(program, port, metadata)
                          : checkInput(program, port, metadata);
        !s)
      return s;
  }
  return Status::success();
}

/// Checks the inputs that run flags set for the optimizers.
static Status checkNumbers(const WeftProgram &apply, const Metadata &metadata) {
  std::vector<std::string> needed = metadata.hyperParameters;
  for (const auto &[name, decay] : metadata.decays)
    needed.push_back(name);
  if (metadata.canClip)
    needed.push_back(names::kMaxNorm);
  for (const std::string &name : needed)
    if (!WeftContext::findInput(apply, name.c_str()))
      return wrong(apply, "an input " + inQuotes(name) +
                              ", which its update reads, but got none");
  return Status::success();
}

Status weft::checkPorts(const WeftExecutable &executable,
                        const Metadata &metadata) {
  for (std::string_view kind : programKinds())
    if (const WeftProgram *program = findProgram(executable, kind.data()))
      if (Status s = checkInputs(*program, metadata); !s)
        return s;
  const WeftProgram *apply = findProgram(executable, names::kApply);
  return apply ? checkNumbers(*apply, metadata) : Status::success();
}

//===- Programs of a run --------------------------------------------------===//

static Status missing(const char *what) {
  return internalError("the executable has no ", what);
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
  if (!micro && !apply)
    return usageError("expects a program that trains, but this one was "
                      "compiled with --inference")
        .hint("weft compile MODEL without --inference, or weft train MODEL, "
              "compiles one; --eval-only evaluates this one");
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
    return usageError("--", flag,
                      " has no meaning for the optimizer of this program, ",
                      joined(metadata.optimizers));
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
  return usageError("--steps expects a training of at most ", mostRows,
                    " rows, but ", steps, " steps of ", options.accum, " x ",
                    metadata.batch,
                    ranks > 1 ? " x " + std::to_string(ranks) : std::string(),
                    " rows after ", state.cursor.rows, " are more");
}
