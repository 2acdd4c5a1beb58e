//===- PlanMutants.cpp - Runs plans that differ in one program ------------===//
//
// plan-mutants PLAN.mlir runs the plan once in the interpreter and then answers
// lines of standard input, "PROGRAM FILE PROVE". It parses and verifies the
// plan in FILE, runs PROGRAM, the only one that differs, in the interpreter
// from the same states as in the first plan, and compares outputs and states
// with the first plan's. If PROVE is 1 it compiles the plan as well: the
// compiled program must have the effects that the interpreter computed,
// whatever its memory held. The answer is a line "FATE BYTES" and as many bytes
// of errors and differences. A crash, or a signal after some minutes, ends the
// process, which the caller notices.
//
//===----------------------------------------------------------------------===//

#include "CompiledPlan.h"

#include "weft/Interp/Compare.h"
#include "weft/Interp/Inputs.h"
#include "weft/Pipeline/Driver/InitAll.h"
#include "weft/Verify/Passes.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"

#include "llvm/Support/SourceMgr.h"

#include <cmath>
#include <iostream>
#include <random>
#include <string>
#include <unistd.h>

using namespace mlir;
using namespace weft;

namespace {

enum class Fate { Equal, Differs, MakesNaN, Refused, Stops };
/// Whether the compiled program has the effects that the interpreter computed.
enum class Proof { NotAsked, Proved, Uncompiled, Unproved };

constexpr unsigned kMostSeconds = 300;

const char *nameOf(Fate fate) {
  const char *names[] = {"equal", "differs", "makes-NaN", "refused", "stops"};
  return names[static_cast<int>(fate)];
}

const char *nameOf(Proof proof) {
  const char *names[] = {"", "-proved", "-uncompiled", "-unproved"};
  return names[static_cast<int>(proof)];
}

/// One program of the first plan.
struct Step {
  TensorMap inputs, before;
  ProgramResult result;
};

class Reference {
public:
  LogicalResult run(ModuleOp module);
  const Step &operator[](const std::string &program) const {
    return steps.at(program);
  }

private:
  LogicalResult runStep(ModuleRunner &runner, const ProgramInfo &program);
  std::map<std::string, Step> steps;
};

} // namespace

LogicalResult Reference::runStep(ModuleRunner &runner,
                                 const ProgramInfo &program) {
  Step &step = steps[program.name];
  step.inputs = makeInputs(program, /*seed=*/0);
  step.before = runner.getStates();
  FailureOr<TensorMap> outputs = runner.run(program.name, step.inputs);
  if (failed(outputs))
    return failure();
  step.result = {std::move(*outputs), runner.getStates()};
  return success();
}

/// Zeros and ones of initial values would hide errors: perturbs them.
static LogicalResult perturbParameters(ModuleRunner &runner) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, 0.1);
  for (const std::string &name : runner.getParameters()) {
    Tensor value = *runner.findState(name);
    for (int64_t i = 0; i < value.size(); ++i)
      value.at(i) += normal(random);
    if (failed(runner.setState(name, std::move(value))))
      return failure();
  }
  return success();
}

LogicalResult Reference::run(ModuleOp module) {
  std::unique_ptr<ModuleRunner> runner = makeRunner(module, ComputeMode::F32);
  for (const ProgramInfo &program : programsInOrder(*runner)) {
    if (failed(runStep(*runner, program)))
      return failure();
    if (program.kind == ProgramKind::Init &&
        (failed(perturbParameters(*runner)) || failed(refreshStates(*runner))))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// A mutant
//===----------------------------------------------------------------------===//

/// The worst of the differences, which are printed.
static Fate compareMaps(const TensorMap &wanted, const TensorMap &got,
                        raw_ostream &os) {
  Fate fate = Fate::Equal;
  for (const auto &[name, value] : wanted) {
    auto found = got.find(name);
    if (found == got.end()) {
      os << "differs: no " << name << '\n';
      fate = std::max(fate, Fate::Differs);
      continue;
    }
    TensorDifference difference =
        compareTensors(value, found->second, CompareOptions().tolerance);
    if (difference.isEqual)
      continue;
    os << "differs: " << name << " by " << difference.maxAbs << '\n';
    fate = std::max(fate, std::isinf(difference.maxAbs) ? Fate::MakesNaN
                                                        : Fate::Differs);
  }
  return fate;
}

/// Nothing where it stops with an error.
static std::optional<ProgramResult> interpret(ModuleOp module,
                                              const std::string &program,
                                              const Step &step,
                                              ComputeMode mode) {
  std::unique_ptr<ModuleRunner> runner = makeRunner(module, mode);
  for (const auto &[name, value] : step.before)
    if (failed(runner->setState(name, value)))
      return std::nullopt;
  FailureOr<TensorMap> outputs = runner->run(program, step.inputs);
  if (failed(outputs))
    return std::nullopt;
  return ProgramResult{std::move(*outputs), runner->getStates()};
}

//===----------------------------------------------------------------------===//
// The compiled mutant
//===----------------------------------------------------------------------===//

/// Those of test/campaigns/random-graphs.
constexpr double kRunBound = 1e-4, kNoise = 30;

static double largestOf(const Tensor &tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.size(); ++i)
    if (double value = std::fabs(tensor.value(i)); std::isfinite(value))
      largest = std::max(largest, value);
  return largest;
}

static double distance(const Tensor &a, const Tensor &b) {
  return compareTensors(a, b, /*tolerance=*/0).maxAbs;
}

/// The largest change of an element, by tensor; what was not there was zero.
static std::map<std::string, double> findChanges(const TensorMap &before,
                                                 const TensorMap &after) {
  std::map<std::string, double> changes;
  for (const auto &[name, value] : after) {
    auto old = before.find(name);
    changes[name] =
        old == before.end() ? largestOf(value) : distance(old->second, value);
  }
  return changes;
}

/// Prints the tensors whose values differ from `wanted`, the interpreter's.
/// `other` are its values with other roundings. `before` are the values before
/// the run: errors are measured against their change, so that a small update of
/// a large parameter is compared as closely as any other number.
static bool isClose(const TensorMap &before, const TensorMap &wanted,
                    const TensorMap &other, const TensorMap &got,
                    raw_ostream &os) {
  std::map<std::string, double> changes = findChanges(before, wanted);
  double largest = 0;
  for (const auto &[name, change] : changes)
    if (std::isfinite(change))
      largest = std::max(largest, change);
  bool isClose = true;
  for (const auto &[name, value] : wanted) {
    double change = std::isfinite(changes[name]) ? changes[name] : 0;
    double scale = std::max({change, 1e-3, 1e-2 * largest});
    double bound = value.isFloat() ? kRunBound * scale : 0;
    double noise = kNoise * distance(value, other.at(name));
    double error = distance(value, got.at(name));
    if (error <= bound + noise)
      continue;
    os << "error: the compiled program has another " << name << ": off by "
       << error << ", allowed " << bound << " + " << noise << '\n';
    isClose = false;
  }
  return isClose;
}

static bool isSame(const TensorMap &a, const TensorMap &b, raw_ostream &os) {
  bool isSame = true;
  for (const auto &[name, value] : a)
    if (distance(value, b.at(name)) != 0) {
      os << "error: " << name << " depends on what no command wrote\n";
      isSame = false;
    }
  return isSame;
}

static bool isProved(const CompiledPlan &plan, ModuleOp module,
                     const std::string &program, const Step &step,
                     const std::optional<ProgramResult> &wanted,
                     raw_ostream &os) {
  std::string problem;
  auto run = [&](bool isPoisoned) {
    return plan.run(program, step.inputs, step.before, isPoisoned, problem);
  };
  std::optional<ProgramResult> got = run(true), again = run(false);
  if (!wanted || !got || !again) {
    os << problem << '\n';
    return !wanted && !got && !again;
  }
  std::optional<ProgramResult> other =
      interpret(module, program, step, ComputeMode::F64);
  return isSame(got->outputs, again->outputs, os) &&
         isSame(got->states, again->states, os) &&
         isClose({}, wanted->outputs, other->outputs, got->outputs, os) &&
         isClose(step.before, wanted->states, other->states, got->states, os);
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

namespace {
/// A line of standard input.
struct Question {
  std::string program, file;
  bool prove = false;
};
} // namespace

static std::string answer(ModuleOp module, const Step &step,
                          const Question &question, raw_ostream &os) {
  std::optional<ProgramResult> result =
      interpret(module, question.program, step, ComputeMode::F32);
  Fate fate = Fate::Stops;
  if (result)
    fate = std::max(compareMaps(step.result.outputs, result->outputs, os),
                    compareMaps(step.result.states, result->states, os));
  Proof proof = Proof::NotAsked;
  if (question.prove) {
    std::string problem;
    auto plan = CompiledPlan::compile(question.file, problem);
    os << problem;
    proof = Proof::Uncompiled;
    if (plan)
      proof = isProved(*plan, module, question.program, step, result, os)
                  ? Proof::Proved
                  : Proof::Unproved;
  }
  return std::string(nameOf(fate)) + nameOf(proof);
}

static std::string examine(MLIRContext &context, const Reference &reference,
                           const Question &question, raw_ostream &os) {
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context, os);
  auto module = parseSourceFile<ModuleOp>(question.file, sources, &context);
  if (!module)
    return nameOf(Fate::Refused);
  PassManager manager(&context);
  manager.addPass(createVerifyPlanPass());
  if (failed(manager.run(*module)))
    return nameOf(Fate::Refused);
  return answer(*module, reference[question.program], question, os);
}

int main(int argc, char **argv) {
  // Compiler reads them.
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  auto plan = parseSourceFile<ModuleOp>(argc > 1 ? argv[1] : "", &context);
  Reference reference;
  if (!plan || failed(reference.run(*plan)))
    return 1;
  for (Question q; std::cin >> q.program >> q.file >> q.prove;) {
    std::string said;
    llvm::raw_string_ostream os(said);
    ::alarm(kMostSeconds);
    std::string fate = examine(context, reference, q, os);
    ::alarm(0);
    std::cout << fate << ' ' << said.size() << '\n' << said << std::flush;
  }
  return 0;
}
