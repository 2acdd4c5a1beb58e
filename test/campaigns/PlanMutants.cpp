//===- PlanMutants.cpp - Runs plans that differ in one program ------------===//
//
// plan-mutants PLAN.mlir runs the plan once in the interpreter and then answers
// lines of standard input, "PROGRAM FILE": it parses and verifies the plan in
// FILE, runs PROGRAM, the only one that differs, from where the first plan
// stood, and compares outputs and states. The answer is a line "FATE BYTES" and
// as many bytes of errors and differences. Who asks sees a crash, or a signal
// after some minutes, as the end of this process.
//
//===----------------------------------------------------------------------===//

#include "weft/Interp/Compare.h"
#include "weft/Interp/Inputs.h"
#include "weft/Memory/Passes.h"
#include "weft/Pipeline/InitAll.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

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

constexpr unsigned kMostSeconds = 300;

const char *nameOf(Fate fate) {
  const char *names[] = {"equal", "differs", "makes-NaN", "refused", "stops"};
  return names[static_cast<int>(fate)];
}

/// One program of the first plan.
struct Step {
  TensorMap inputs, before, outputs, after;
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
  step.outputs = std::move(*outputs);
  step.after = runner.getStates();
  return success();
}

/// Zeros and ones of initial values would hide what is done with them.
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

static Fate runProgram(ModuleOp module, const std::string &program,
                       const Step &step, raw_ostream &os) {
  std::unique_ptr<ModuleRunner> runner = makeRunner(module, ComputeMode::F32);
  for (const auto &[name, value] : step.before)
    if (failed(runner->setState(name, value)))
      return Fate::Stops;
  FailureOr<TensorMap> outputs = runner->run(program, step.inputs);
  if (failed(outputs))
    return Fate::Stops;
  return std::max(compareMaps(step.outputs, *outputs, os),
                  compareMaps(step.after, runner->getStates(), os));
}

static Fate examine(MLIRContext &context, const Reference &reference,
                    const std::string &program, const std::string &file,
                    raw_ostream &os) {
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context, os);
  auto module = parseSourceFile<ModuleOp>(file, sources, &context);
  if (!module)
    return Fate::Refused;
  PassManager manager(&context);
  manager.addPass(createVerifyPlanPass());
  if (failed(manager.run(*module)))
    return Fate::Refused;
  return runProgram(*module, program, reference[program], os);
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  auto plan = parseSourceFile<ModuleOp>(argc > 1 ? argv[1] : "", &context);
  Reference reference;
  if (!plan || failed(reference.run(*plan)))
    return 1;
  for (std::string program, file; std::cin >> program >> file;) {
    std::string said;
    llvm::raw_string_ostream os(said);
    ::alarm(kMostSeconds);
    Fate fate = examine(context, reference, program, file, os);
    ::alarm(0);
    std::cout << nameOf(fate) << ' ' << said.size() << '\n'
              << said << std::flush;
  }
  return 0;
}
