//===- RankPresence.cpp - Gradients that only some ranks have -------------===//

#include "RankPresence.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft;

static bool isPresence(ReadOp read) {
  auto state =
      SymbolTable::lookupNearestSymbolFrom<StateOp>(read, read.getSourceAttr());
  return state && state.getKind() == StateKind::Presence;
}

RankPresence::RankPresence(ProgramOp apply) {
  for (auto read : apply.getBody().front().getOps<ReadOp>())
    if (isPresence(read))
      reads.push_back(read);
}

/// Whether a count is above zero: ranks agree on whether that is so for one.
static bool isQuestion(Operation *op, Value count) {
  auto compare = dyn_cast<CompareOp>(op);
  return compare && compare.getPredicate() == Predicate::GT &&
         compare.getLhs() == count &&
         matchPattern(compare.getRhs(), m_AnyZeroFloat());
}

LogicalResult RankPresence::verify(Operation *message) {
  for (ReadOp read : reads)
    for (Operation *user : read->getUsers()) {
      if (!isQuestion(user, read))
        return user->emitOpError("expects a comparison of presence to be "
                                 "above zero to be all that reads it");
      for (Operation *needed : user->getUsers())
        if (needed->isBeforeInBlock(message)) {
          InFlightDiagnostic error =
              needed->emitOpError("expects all checks of gradients above the "
                                  "first user of presence");
          error.attachNote(message->getLoc()) << "a check below";
          return error;
        }
      questions.push_back(cast<CompareOp>(user));
    }
  return success();
}

SmallVector<Value> RankPresence::ask(OpBuilder &builder,
                                     const MeshCollectives &mesh) const {
  SmallVector<Value> answers;
  for (CompareOp question : questions) {
    Operation *own = builder.clone(*question);
    for (OpOperand &operand : own->getOpOperands())
      operand.set(builder.clone(*operand.get().getDefiningOp())->getResult(0));
    for (OpOperand &operand : own->getOpOperands())
      operand.get().getDefiningOp()->moveBefore(own);
    answers.push_back(own->getResult(0));
  }
  return answers.empty()
             ? answers
             : mesh.askReplicas(builder, answers.front().getLoc(), answers);
}

void RankPresence::replace(ValueRange answers) {
  for (auto [question, answer] : llvm::zip_equal(questions, answers)) {
    question.getResult().replaceAllUsesWith(answer);
    Operation *zero = question.getRhs().getDefiningOp();
    question.erase();
    if (zero->use_empty())
      zero->erase();
  }
  for (ReadOp read : reads)
    if (read->use_empty())
      read->erase();
}
