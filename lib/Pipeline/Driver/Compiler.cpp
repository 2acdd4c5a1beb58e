//===- Compiler.cpp - A model through the phases --------------------------===//

#include "weft/Pipeline/Driver/Compiler.h"

#include "DiagnosticSink.h"

#include "weft/Base/OutputFile.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Frontend/Frontend.h"
#include "weft/Memory/MemoryReport.h"
#include "weft/Pipeline/Driver/InitAll.h"
#include "weft/Pipeline/Driver/Passes.h"
#include "weft/Pipeline/Driver/PhaseTable.h"
#include "weft/Pipeline/Driver/Plugins.h"
#include "weft/Pipeline/Metadata/Fingerprint.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Pipeline/Targets/Target.h"
#include "weft/Plan/Plan.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

#include <filesystem>

using namespace mlir;
using namespace weft;

Compiler::Compiler() {
  DialectRegistry registry;
  registerAllDialects(registry);
  context = std::make_unique<MLIRContext>(registry);
  context->loadAllAvailableDialects();
  context->printOpOnDiagnostic(false);
  sink = std::make_unique<DiagnosticSink>(*context);
}

Compiler::~Compiler() = default;

ModuleOp Compiler::module() { return *owned; }

const Target &Compiler::target() const { return table->target(); }

Error Compiler::takeError(const std::string &what) {
  return sink->takeError(what);
}

const std::string &Compiler::notices() const { return sink->notices(); }

void Compiler::showTrainingNotices(bool shows) {
  sink->showsTrainingNotices = shows;
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Status Compiler::load(const std::string &model, FlagValues flags) {
  snapshots.clear();
  values = std::move(flags);
  Status status = values.isSet("from") ? loadDump(model) : importModel(model);
  if (status && failed(printRemarks(*context, values.getText("explain"))))
    return takeError("--explain");
  return status;
}

/// Whether a program of the model has attention with that property.
static bool hasAttention(ModuleOp module, function_ref<bool(AttentionOp)> has) {
  return module
      .walk([&](AttentionOp op) {
        return has(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Checks flags that have a meaning for some models only.
static Status checkMeaning(ModuleOp module, const FlagValues &flags) {
  auto refuse = [&](const std::string &flag, const std::string &feature) {
    return usageError("--" + flag + "=" + flags.getText(flag) +
                      " expects a model with " + feature + ", but got " +
                      inQuotes(module.getName().value_or("").str()));
  };
  auto differs = [&](const std::string &flag, const char *neutral) {
    return flags.getText(flag) != neutral;
  };
  const bool attends = hasAttention(module, [](AttentionOp) { return true; });
  if (differs("attention", "auto") && !attends)
    return refuse("attention", "attention");
  if (differs("deterministic", "on") && !attends)
    return refuse("deterministic", "attention");
  if (differs("dropout-bits", "auto") &&
      !hasAttention(module,
                    [](AttentionOp op) { return !op.getDropout().isZero(); }))
    return refuse("dropout-bits", "dropout of attention")
        .hint("leave it out: it has no effect without dropout of attention");
  return Status::success();
}

/// Warns of valid flags whose combination may cost accuracy unexpectedly.
static void warnOfFlags(const FlagValues &flags, MLIRContext &context) {
  if (flags.getText("reduce-dtype") != "f16" || lossScaleMode(flags) != "none")
    return;
  Location nowhere = UnknownLoc::get(&context);
  mlir::emitWarning(nowhere, "--reduce-dtype=f16 without a loss scale: small "
                             "gradients are rounded to 0")
          .attachNote(nowhere)
      << "--loss-scale=dynamic keeps them, and so does --reduce-dtype=bf16";
}

Status Compiler::importModel(const std::string &model) {
  if (Status status = checkSupported(values); !status)
    return status;
  Expected<PhaseTable> found = PhaseTable::get(values);
  if (!found)
    return found.takeError();
  table = std::move(*found);
  if (Status status = loadDialects(values.getList("load-pass-plugin")); !status)
    return status;
  FrontendOptions options;
  if (values.isSet("batch"))
    options.batch = values.getInt("batch");
  if (values.isSet("seq"))
    options.seq = values.getInt("seq");
  options.ignoreFields = values.getList("ignore-field");
  FailureOr<OwningOpRef<ModuleOp>> loaded = loadModel(model, options, *context);
  if (failed(loaded))
    return sink->takeError("import");
  owned = std::move(*loaded);
  if (Status status = checkMeaning(*owned, values); !status)
    return status;
  warnOfFlags(values, *context);
  storeOptions(*owned, values);
  storeFingerprint(*owned);
  done = -1;
  return run(0);
}

Status Compiler::loadDialects(const std::vector<std::string> &plugins) {
  if (plugins.empty())
    return Status::success();
  DialectRegistry registry;
  if (Status status = registerPluginDialects(plugins, registry); !status)
    return status;
  context->appendDialectRegistry(registry);
  context->loadAllAvailableDialects();
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Status Compiler::run(int to) {
  while (done < to)
    if (Status status = runPhase(done + 1); !status)
      return explainPhase(status.takeError(), done + 1);
  return Status::success();
}

/// A phase may not accept the ops that an added pass made before it.
Error Compiler::explainPhase(Error error, int index) const {
  const std::vector<std::string> added = phases().listAddedPasses(-1, index);
  const bool isOfModule =
      error.code() == ExitCode::Input || error.code() == ExitCode::Internal;
  if (added.empty() || !isOfModule)
    return error;
  const std::string hint = "--add-pass=" + added.back() +
                           " ran before; try an earlier phase, or without it";
  return error.hint(error.hintText().empty() ? hint
                                             : error.hintText() + "; " + hint);
}

/// Whether the next phase works on another level of IR. The module is verified
/// only there and where it is written out. This keeps compile time nearly
/// independent of the number of layers.
static bool isLevelEnd(const PhaseTable &phases, int index) {
  return index + 1 >= phases.size() ||
         phases[index].level != phases[index + 1].level;
}

/// The lowering to a target turns kernels into functions and leaves the plan,
/// which was verified at its own level, as it is.
static LogicalResult verifyLevel(ModuleOp module, Level level) {
  if (level != Level::Llvm)
    return mlir::verify(module);
  for (Operation &op : *module.getBody())
    if (!isa<plan::ProgramOp, plan::StateOp>(op) && failed(mlir::verify(&op)))
      return failure();
  return success();
}

Status Compiler::runPasses(int index, PassManager &manager) {
  const PhaseInfo &phase = phases()[index];
  // At the end of each level, not after every pass: see isLevelEnd.
  manager.enableVerifier(false);
  if (!isTrial) {
    if (failed(applyPassManagerCLOptions(manager)))
      return Error(ExitCode::Usage, "does not accept these --mlir flags");
    applyDefaultTimingPassManagerCLOptions(manager);
  }
  if (values.isSet("reproducer")) {
    context->disableMultithreading();
    manager.enableCrashReproducerGeneration(values.getString("reproducer"),
                                            /*genLocalReproducer=*/true);
  }
  if (failed(manager.run(*owned)))
    return sink->takeError("phase " + std::string(phase.name));
  return Status::success();
}

/// Verifies the module at the end of a level and after passes of --add-pass,
/// and the contract of the phase.
Status Compiler::verifyPhase(int index) {
  const PhaseInfo &phase = phases()[index];
  const bool verifies =
      isLevelEnd(phases(), index) || phases().hasAddedPasses(index);
  if (verifies && failed(verifyLevel(*owned, phase.level)))
    return sink->takeError("verifying phase " + std::string(phase.name));
  if (failed(verifyContract(*owned, phase, target(), values)))
    return sink->takeError("the contract of phase " + std::string(phase.name));
  return Status::success();
}

Status Compiler::runPhase(int index) {
  const PhaseInfo &phase = phases()[index];
  PassManager manager(context.get(), ModuleOp::getOperationName());
  phases().addPasses(index, values, manager);
  if (!manager.empty())
    if (Status status = runPasses(index, manager); !status)
      return status;
  if (Status status = verifyPhase(index); !status)
    return status;
  if (phase.phase == Phase::PlanMemory)
    if (Status status = checkMemoryLimit(); !status)
      return status;
  return finishPhase(index);
}

Status Compiler::finishPhase(int index) {
  done = index;
  keepSnapshot();
  return dump(index);
}

/// Compares the packed arena, constants and reserved memory with the bound of
/// the flags.
Status Compiler::checkMemoryLimit() {
  std::optional<MemoryBound> bound = getMemoryBound(values, target());
  if (!bound)
    return Status::success();
  MemoryReport report = reportMemory(*owned, values, target());
  const int64_t needed = report.getNeededBytes();
  if (needed <= bound->bytes) {
    fitted = {std::move(*bound), std::move(report)};
    return Status::success();
  }
  return Error(ExitCode::DoesNotFit, "needs " + exactBytes(needed) + ", but " +
                                         bound->text + "\n" + report.toText())
      .hint("the smallest limit that works is " + std::to_string(needed) +
            "; a smaller --batch or --seq needs less");
}

/// A phase that changes nothing has no dump.
Status Compiler::dump(int index) {
  const bool changes = index == 0 || phases().hasPasses(index, values);
  if (!values.isSet("dump-dir") || !changes)
    return Status::success();
  if (Status status = verify(); !status)
    return status;
  std::filesystem::path folder = values.getString("dump-dir");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return systemError(ExitCode::Storage, "cannot make the folder",
                       error.value())
        .at(folder.string());
  return writeFile((folder / phases().dumpFileName(index)).string(),
                   sealText(text(), "//"));
}

Status Compiler::verify() {
  if (succeeded(mlir::verify(*owned)))
    return Status::success();
  return sink->takeError("verifying phase " + std::string(phases()[done].name));
}

std::string Compiler::text() {
  std::string result;
  llvm::raw_string_ostream stream(result);
  owned->print(stream);
  stream << "\n";
  return result;
}
