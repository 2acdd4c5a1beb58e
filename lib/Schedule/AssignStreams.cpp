//===- AssignStreams.cpp - Copies to and from the host as commands --------===//

#include "weft/Schedule/Passes.h"

#include "weft/Plan/PlanCollectives.h"
#include "weft/Plan/Transfers.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace weft {
#define GEN_PASS_DEF_ASSIGNSTREAMSPASS
#include "weft/Schedule/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
enum Stream : int64_t { Compute = 0, Upload = 1, Readback = 2 };

struct EventName {
  StringRef symbol;
  Stream stream;
};
} // namespace

/// Inputs are on the device; in the buffers of the program.
static constexpr EventName kUploaded = {"uploaded", Upload};
static constexpr EventName kPlaced = {"placed", Compute};
/// Outputs are in the staging part, or where they stay; at the host.
static constexpr EventName kGathered = {"gathered", Compute};
static constexpr EventName kArrived = {"arrived", Readback};

namespace {
/// One program with commands and no stream.
class StreamAssigner {
  /// The outputs of the program on their way to the host.
  struct Results {
    llvm::SetVector<Value> read;          // by stream 2
    llvm::MapVector<Value, Value> copies; // to the staging part
    Operation *first = nullptr;           // to use the staging part
    bool isInPlace = false;               // one is not in the staging part
  };

public:
  StreamAssigner(plan::ProgramOp program, int64_t stagedBytes);
  void run() {
    addInputs();
    addOutputs();
  }

private:
  void addInputs();
  void addOutputs();
  void addOutput(plan::OutputOp output, Results &results);
  void addReadback(const Results &results);
  Value declareStaged(Value output);
  bool isWrittenHere(Value output) const;
  Value moveToStaging(Value output);
  Operation *findFirstUser(Value staged) const;
  bool isSmall(Value output) const {
    auto type = cast<MemRefType>(output.getType());
    return plan::getBufferBytes(type) <= stagedBytes;
  }

  IntegerAttr number(Stream stream) {
    return stream == Compute ? IntegerAttr()
                             : builder.getI64IntegerAttr(stream);
  }
  void record(EventName event) {
    plan::RecordOp::create(builder, loc, event.symbol, {}, {}, {},
                           number(event.stream));
  }
  void wait(EventName event, Stream stream) {
    plan::WaitOp::create(builder, loc, event.symbol, {}, {}, {},
                         number(stream));
  }
  void copy(Value from, Value to) {
    plan::CopyOp::create(builder, from.getLoc(), from, to, {}, {}, {}, {});
  }

  plan::ProgramOp program;
  Block &body;
  Location loc;
  int64_t stagedBytes;
  OpBuilder builder;
  Operation *last = nullptr;    // of the declarations
  llvm::DenseSet<Value> placed; // copies of inputs
};
} // namespace

StreamAssigner::StreamAssigner(plan::ProgramOp program, int64_t stagedBytes)
    : program(program), body(program.getBody().front()), loc(program.getLoc()),
      stagedBytes(stagedBytes), builder(program.getContext()) {
  for (Operation &op : body)
    if (isa<plan::UseOp, plan::InputOp, plan::AllocOp, plan::ViewOp>(op))
      last = &op;
}

/// The program works on copies of its inputs, so that the next ones may come.
void StreamAssigner::addInputs() {
  SmallVector<Value> inputs;
  SmallVector<std::pair<Value, Value>> copies;
  for (auto input : llvm::make_early_inc_range(body.getOps<plan::InputOp>())) {
    Value buffer = input.getBuffer();
    inputs.push_back(buffer);
    if (buffer.use_empty())
      continue;
    builder.setInsertionPointAfter(input);
    auto place = plan::AllocOp::create(builder, input.getLoc(),
                                       cast<MemRefType>(buffer.getType()),
                                       plan::Role::Temporary, IntegerAttr());
    buffer.replaceAllUsesWith(place);
    copies.push_back({buffer, place});
    placed.insert(place);
    if (last == input)
      last = place;
  }
  if (inputs.empty())
    return;
  builder.setInsertionPointAfter(last);
  wait(kPlaced, Upload);
  plan::UploadOp::create(builder, loc, inputs, {}, {}, {}, number(Upload));
  record(kUploaded);
  wait(kUploaded, Compute);
  for (auto [from, to] : copies)
    copy(from, to);
  record(kPlaced);
}

/// A buffer of the staging part for a copy of an output, declared.
Value StreamAssigner::declareStaged(Value output) {
  auto type = cast<MemRefType>(output.getType());
  builder.setInsertionPointAfter(last);
  auto staged = plan::StagingOp::create(
      builder, output.getLoc(),
      MemRefType::get(type.getShape(), type.getElementType()), IntegerAttr());
  last = staged;
  return staged;
}

/// Whether commands of stream 0 alone use the output, which is a buffer of this
/// run: they may work in the staging part. A copy of an input starts a program,
/// where it would wait for results of the program before.
bool StreamAssigner::isWrittenHere(Value output) const {
  if (!output.getDefiningOp<plan::AllocOp>() || placed.contains(output))
    return false;
  return llvm::all_of(plan::getUsers(output), [](Operation *user) {
    auto command = dyn_cast<plan::CommandOpInterface>(user);
    return !command || !command.getStreamAttr();
  });
}

/// Replaces the output's buffer by one of the staging part.
Value StreamAssigner::moveToStaging(Value output) {
  auto alloc = output.getDefiningOp<plan::AllocOp>();
  builder.setInsertionPoint(alloc);
  auto staged = plan::StagingOp::create(builder, alloc.getLoc(),
                                        cast<MemRefType>(output.getType()),
                                        IntegerAttr());
  if (last == alloc)
    last = staged;
  output.replaceAllUsesWith(staged);
  alloc.erase();
  return staged;
}

/// The first command that uses a buffer; null if none does.
Operation *StreamAssigner::findFirstUser(Value staged) const {
  Operation *first = nullptr;
  for (Operation *user : plan::getUsers(staged))
    if (isa<plan::CommandOpInterface>(user) &&
        (!first || user->isBeforeInBlock(first)))
      first = user;
  return first;
}

/// Small outputs are in the staging part. States, inputs and buffers of other
/// streams are copied there.
void StreamAssigner::addOutput(plan::OutputOp output, Results &results) {
  Value buffer = output.getBuffer();
  if (results.read.contains(buffer))
    return;
  if (!isSmall(buffer)) {
    results.read.insert(buffer);
    results.isInPlace = true;
    return;
  }
  if (isWrittenHere(buffer)) {
    Value staged = moveToStaging(buffer);
    results.read.insert(staged);
    Operation *user = findFirstUser(staged);
    if (user && (!results.first || user->isBeforeInBlock(results.first)))
      results.first = user;
    return;
  }
  Value &staged = results.copies[buffer];
  if (!staged)
    staged = declareStaged(buffer);
  output.getBufferMutable().assign(staged);
  results.read.insert(staged);
}

/// The host gets the results while the next run computes.
void StreamAssigner::addReadback(const Results &results) {
  for (auto [from, to] : results.copies)
    copy(from, to);
  record(kGathered);
  wait(kGathered, Readback);
  plan::ReadbackOp::create(builder, loc, results.read.getArrayRef(), {}, {}, {},
                           number(Readback));
  record(kArrived);
  if (results.isInPlace)
    wait(kArrived, Compute);
}

void StreamAssigner::addOutputs() {
  auto outputs = llvm::to_vector(body.getOps<plan::OutputOp>());
  if (outputs.empty())
    return;
  Results results;
  for (plan::OutputOp output : outputs)
    addOutput(output, results);
  if (!results.first && !results.copies.empty())
    results.first = outputs.front();
  if (results.first) {
    builder.setInsertionPoint(results.first);
    wait(kArrived, Compute);
  }
  builder.setInsertionPoint(outputs.front());
  addReadback(results);
}

static bool isOfCopies(int64_t stream) {
  return stream == Upload || stream == Readback;
}

/// Collectives may have streams and events, copies have none.
static LogicalResult verifyUnassigned(ModuleOp module) {
  for (auto event : module.getOps<plan::EventOp>())
    if (isOfCopies(event.getStream()))
      return event.emitOpError("expects no event before streams are assigned");
  WalkResult result = module.walk([](plan::CommandOpInterface command) {
    const bool isCopy =
        isa<plan::UploadOp, plan::ReadbackOp>(command.getOperation());
    const bool mayOverlap =
        plan::isCollective(command) ||
        isa<plan::RecordOp, plan::WaitOp>(command.getOperation());
    if (!isCopy && (!command.getStreamAttr() ||
                    (mayOverlap && !isOfCopies(command.getStreamNumber()))))
      return WalkResult::advance();
    command->emitOpError("expects no stream before streams are assigned");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct AssignStreamsPass
    : weft::impl::AssignStreamsPassBase<AssignStreamsPass> {
  using AssignStreamsPassBase::AssignStreamsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto programs = llvm::to_vector(module.getOps<plan::ProgramOp>());
    if (failed(verifyUnassigned(module)))
      return signalPassFailure();
    if (programs.empty())
      return;
    OpBuilder builder(programs.front());
    for (EventName event : {kUploaded, kPlaced, kGathered, kArrived}) {
      if (Operation *taken = module.lookupSymbol(event.symbol)) {
        taken->emitOpError("expects a name other than the event's, @")
            << event.symbol;
        return signalPassFailure();
      }
      plan::EventOp::create(builder, module.getLoc(), event.symbol,
                            event.stream);
    }
    for (plan::ProgramOp program : programs)
      StreamAssigner(program, stagedBytes).run();
  }
};
} // namespace
