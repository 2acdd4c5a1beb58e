//===- SelectKernels.cpp - Choose ops that a target's library runs --------===//

#include "Fusion.h"
#include "Selection.h"

#include "weft/Analysis/Implementations.h"
#include "weft/Fusion/Passes.h"

#include "mlir/IR/Remarks.h"

namespace weft {
#define GEN_PASS_DEF_SELECTKERNELSPASS
#include "weft/Fusion/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Reasons
//===----------------------------------------------------------------------===//

void ChoiceLog::add(Operation *op, const Twine &what) {
  std::string text = (op->getName().stripDialect() + " " + what).str();
  auto [entry, isNew] = choices.try_emplace(text, Choice{op->getLoc(), 0});
  ++entry->second.count;
}

void ChoiceLog::report() const {
  for (auto &[text, choice] : choices) {
    std::string times;
    if (choice.count > 1)
      times = "; " + std::to_string(choice.count) + " times, here first";
    remark::analysis(choice.first,
                     remark::RemarkOpts::name("library").category("fusion"))
        << text + times;
  }
}

//===----------------------------------------------------------------------===//
// Single ops
//===----------------------------------------------------------------------===//

namespace {

struct SelectKernelsPass
    : weft::impl::SelectKernelsPassBase<SelectKernelsPass> {
  using SelectKernelsPassBase::SelectKernelsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<WeftDialect>();
  }

  void runOnOperation() override {
    Dialect *dialect = getContext().getLoadedDialect<WeftDialect>();
    chosen = KernelLibraries::of(*dialect).find(library);
    if (!chosen) {
      getOperation().emitError(
          "expects the name of a kernel library, but got '")
          << library << "'";
      return signalPassFailure();
    }
    log = {};
    for (auto program : getOperation().getOps<ProgramOp>())
      if (failed(selectInProgram(program)))
        return signalPassFailure();
    log.report();
  }

  LogicalResult selectInProgram(ProgramOp program) {
    eraseDeadOps(program.getBody().front());
    renameTrivialReduces(program);
    const MergeOptions options = {epilogues, fast && chosen->roundsOnce()};
    if (options.epilogues && options.fast)
      narrowGeluGradients(program);
    MergeCounts counts = mergeProducts(program, *chosen, options, log);
    numMerged += counts.merged;
    numMissed += counts.missed;
    for (Operation &op : program.getBody().front().without_terminator()) {
      clearChoice(&op);
      if (!needsNoChoice(&op) && failed(select(&op)))
        return failure();
    }
    return success();
  }

  /// Removes the attributes of an earlier selection, and `weft.apart`, which
  /// only the merging of products reads.
  static void clearChoice(Operation *op) {
    for (StringRef name :
         {StringRef(WeftDialect::kImplAttr), StringRef(WeftDialect::kApartAttr),
          StringRef(kFoldedAttr)})
      if (op->getDiscardableAttr(name))
        op->removeDiscardableAttr(name);
  }

  void claim(Operation *op, StringRef kind) {
    op->setAttr(WeftDialect::kImplAttr, StringAttr::get(&getContext(), kind));
    ++numClaimed;
  }

  LogicalResult select(Operation *op) {
    if (auto accumulate = dyn_cast<AccumulateOp>(op))
      if (Operation *producer = findFoldableProducer(accumulate)) {
        claim(op, kFoldedImpl);
        producer->setAttr(kFoldedAttr, UnitAttr::get(&getContext()));
        ++numFolded;
        log.add(op, "is performed by the " + getCommandKind(producer) +
                        " before it");
        return success();
      }
    LibraryAnswer answer = ask(op);
    if (auto gemm = dyn_cast<GemmOp>(op); gemm && failed(checkParts(gemm)))
      return failure();
    if (answer.runs()) {
      if (getCommandKind(op).empty())
        return reportNoCommand(op);
      claim(op, getCommandKind(op));
      log.add(op,
              "runs as " + getCommandKind(op) + " of " + chosen->getTitle());
      return success();
    }
    return generate(op, answer);
  }

  /// Checks a product that was merged for another library.
  LogicalResult checkParts(GemmOp op) const {
    for (ProductPart part : getProductParts(op))
      if (!chosen->hasPart(part))
        return op.emitOpError("expects an operation that a product of ")
               << chosen->getTitle() << " does itself, but got "
               << stringifyProductPart(part);
    return success();
  }

  /// Asks the library. An op of another dialect provides its own command.
  LibraryAnswer ask(Operation *op) const {
    auto source = dyn_cast<CommandSourceOpInterface>(op);
    if (!source)
      return chosen->find(op);
    SmallVector<Type> types(op->getOperandTypes());
    types.append(op->result_type_begin(), op->result_type_end());
    for (Type type : types)
      if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
          element && !source.takesElement(element))
        return {true, element};
    return {true, Type()};
  }

  /// Leaves the op to kernels, if they can compute it.
  LogicalResult generate(Operation *op, const LibraryAnswer &answer) {
    if (canGenerate(op)) {
      if (isa<CompositeOpInterface>(op))
        log.add(op, "is generated: " + getReason(answer));
      return success();
    }
    if (!answer.isKnown)
      return getCommandKind(op).empty()
                 ? reportNoCommand(op)
                 : reportNoRoutine(op, chosen->getTitle());
    return op->emitOpError("does not support ")
           << answer.unsupported << " on " << chosen->getTitle()
           << " yet; cast to f32 before it";
  }

  std::string getReason(const LibraryAnswer &answer) const {
    std::string reason = (chosen->getTitle() + " has no routine for it").str();
    if (answer.unsupported)
      llvm::raw_string_ostream(reason) << " in " << answer.unsupported;
    return reason;
  }

  const KernelLibrary *chosen = nullptr;
  ChoiceLog log;
};

} // namespace
