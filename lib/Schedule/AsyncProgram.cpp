//===- AsyncProgram.cpp - A program with asynchronous collectives ---------===//

#include "AsyncProgram.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;
using namespace weft;

/// Event: stream 0 has run all commands so far.
static constexpr StringLiteral kReady = "ready";

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

/// The state that a root is a use of, or null.
static StringAttr getState(Value root) {
  auto use = root.getDefiningOp<plan::UseOp>();
  return use ? use.getStateAttr().getAttr() : StringAttr();
}

namespace {
/// Names the events of collectives.
class EventNames {
public:
  explicit EventNames(ArrayRef<plan::CommandOpInterface> commands);
  std::string get(plan::CommandOpInterface collective) const;

private:
  /// Whether the command is a reduction, or a gather of means that belongs to
  /// one.
  bool isReduction(plan::CommandOpInterface command) const {
    return isa<plan::ReduceScatterOp>(*command) ||
           (isa<plan::AllGatherOp>(*command) &&
            means.contains(plan::getRoot(command->getOperand(0))));
  }
  StringAttr findState(Value buffer) const {
    return states.lookup(plan::getRoot(buffer));
  }
  /// The state that a root holds. For an intermediate result, the state that it
  /// is computed from or into.
  DenseMap<Value, StringAttr> states;
  DenseSet<Value> means; // of a mesh, or of an axis
};
} // namespace

EventNames::EventNames(ArrayRef<plan::CommandOpInterface> commands) {
  for (plan::CommandOpInterface command : commands) {
    StringAttr found;
    for (Value buffer : command->getOperands()) {
      Value root = plan::getRoot(buffer);
      StringAttr state = getState(root);
      if (state)
        states[root] = state;
      if (!found)
        found = state;
    }
    if (isReduction(command))
      means.insert(plan::getRoot(command->getOperand(1)));
    if (!found || plan::isCollective(command))
      continue;
    for (Value buffer : command->getOperands())
      states.try_emplace(plan::getRoot(buffer), found);
  }
}

/// A gather reads the slice of its state, a reduction writes it.
std::string EventNames::get(plan::CommandOpInterface collective) const {
  const bool isGather = !isReduction(collective);
  Value from = collective->getOperand(0), to = collective->getOperand(1);
  StringAttr state = findState(isGather ? from : to);
  if (!state)
    state = findState(isGather ? to : from);
  StringRef base = state ? state.getValue() : collective.getCommandScope();
  return ((base.empty() ? StringRef("values") : base) +
          (isGather ? ".gather" : ".reduce"))
      .str();
}

LogicalResult weft::declareEvents(ModuleOp module) {
  llvm::MapVector<StringAttr, int64_t> recorded;
  module.walk([&](plan::RecordOp op) {
    recorded[op.getEventAttr().getAttr()] =
        cast<plan::CommandOpInterface>(*op).getStreamNumber();
  });
  for (auto event : llvm::make_early_inc_range(module.getOps<plan::EventOp>()))
    if (!recorded.contains(event.getSymNameAttr()))
      event.erase();
  auto programs = module.getOps<plan::ProgramOp>();
  if (programs.empty())
    return success();
  OpBuilder builder(*programs.begin());
  SymbolTable symbols(module);
  for (auto [name, stream] : recorded) {
    Operation *taken = symbols.lookup(name);
    auto event = dyn_cast_or_null<plan::EventOp>(taken);
    if (taken && (!event || static_cast<int64_t>(event.getStream()) != stream))
      return taken->emitOpError("expects a name other than the event's, ")
             << FlatSymbolRefAttr::get(name) << " of stream " << stream;
    if (!taken)
      symbols.insert(plan::EventOp::create(builder, module.getLoc(), name,
                                           builder.getI64IntegerAttr(stream)));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The events that this file makes: events of streams of collectives, declared
/// or only recorded.
static DenseSet<StringAttr> findOwnEvents(plan::ProgramOp program) {
  auto module = program->getParentOfType<ModuleOp>();
  DenseSet<StringAttr> own;
  for (auto record : program.getBody().front().getOps<plan::RecordOp>())
    if (plan::CommandOpInterface(record).getStreamNumber() >=
        plan::kGatherStream)
      own.insert(record.getEventAttr().getAttr());
  for (auto event : module.getOps<plan::EventOp>())
    if (event.getSymName() == kReady ||
        static_cast<int64_t>(event.getStream()) >= plan::kGatherStream)
      own.insert(event.getSymNameAttr());
  return own;
}

AsyncProgram::AsyncProgram(plan::ProgramOp program,
                           std::vector<plan::CommandOpInterface> commands)
    : program(program), commands(std::move(commands)),
      dependences(this->commands) {}

AsyncProgram AsyncProgram::read(plan::ProgramOp program) {
  DenseSet<StringAttr> own = findOwnEvents(program);
  std::vector<plan::CommandOpInterface> commands;
  for (Operation &op : llvm::make_early_inc_range(program.getBody().front())) {
    auto record = dyn_cast<plan::RecordOp>(op);
    auto wait = dyn_cast<plan::WaitOp>(op);
    if ((record && own.contains(record.getEventAttr().getAttr())) ||
        (wait && own.contains(wait.getEventAttr().getAttr())))
      op.erase();
    else if (auto command = dyn_cast<plan::CommandOpInterface>(op))
      commands.push_back(command);
  }
  return AsyncProgram(program, std::move(commands));
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
/// Puts commands in order, and tracks which commands each stream knows to be
/// done.
class AsyncWriter {
public:
  AsyncWriter(plan::ProgramOp program,
              ArrayRef<plan::CommandOpInterface> commands,
              const Dependences &dependences, bool inTurn);

  void put(unsigned index);
  void waitFor(unsigned index);
  void finish();

private:
  struct Started {
    unsigned command;
    std::string event;
  };
  struct Queue {
    SmallVector<Started> started;
    size_t awaited = 0;   // number that stream 0 has waited for
    bool isReady = false; // has waited for all commands of stream 0
  };

  Queue &queueOf(unsigned index) {
    plan::CommandOpInterface command = commands[index];
    return queues[command.getStreamNumber()];
  }
  bool isInFlight(unsigned index);
  std::string getEvent(unsigned index);
  void awaitLastCollective(unsigned index);
  void begin(unsigned index);
  void recordAwaited();
  void wait(StringRef event, int64_t stream);
  IntegerAttr number(int64_t stream) {
    return stream == plan::kComputeStream ? IntegerAttr()
                                          : builder.getI64IntegerAttr(stream);
  }

  plan::ProgramOp program;
  ArrayRef<plan::CommandOpInterface> commands;
  const Dependences &dependences;
  const bool inTurn;
  std::optional<unsigned> lastCollective; // started last
  EventNames names;
  OpBuilder builder; // in front of the first output
  std::map<int64_t, Queue> queues;
  std::map<std::string, unsigned> lastOf; // by event
  DenseMap<unsigned, size_t> places;      // in its queue, if started
  DenseSet<unsigned> recorded;            // collectives with a wait
};
} // namespace

static Operation *findEnd(plan::ProgramOp program) {
  auto outputs = program.getBody().front().getOps<plan::OutputOp>();
  return outputs.empty() ? nullptr : (*outputs.begin()).getOperation();
}

AsyncWriter::AsyncWriter(plan::ProgramOp program,
                         ArrayRef<plan::CommandOpInterface> commands,
                         const Dependences &dependences, bool inTurn)
    : program(program), commands(commands), dependences(dependences),
      inTurn(inTurn), names(commands),
      builder(OpBuilder::atBlockEnd(&program.getBody().front())) {
  if (Operation *end = findEnd(program))
    builder.setInsertionPoint(end);
}

bool AsyncWriter::isInFlight(unsigned index) {
  auto place = places.find(index);
  return place != places.end() && place->second >= queueOf(index).awaited;
}

void AsyncWriter::wait(StringRef event, int64_t stream) {
  plan::WaitOp::create(builder, program.getLoc(), event, {}, {}, {},
                       number(stream));
}

/// Makes stream 0 wait for the collective, and thereby for all earlier
/// collectives of its stream.
void AsyncWriter::waitFor(unsigned index) {
  if (!isInFlight(index))
    return;
  Queue &queue = queueOf(index);
  const size_t place = places[index];
  wait(queue.started[place].event, plan::kComputeStream);
  recorded.insert(index);
  queue.awaited = place + 1;
  for (auto &[stream, other] : queues)
    other.isReady = other.isReady && &other == &queue;
}

/// The event of a collective. The name is made unique among the collectives in
/// flight.
std::string AsyncWriter::getEvent(unsigned index) {
  std::string event = names.get(commands[index]);
  for (auto [last, isNew] = lastOf.try_emplace(event, index); !isNew;
       std::tie(last, isNew) = lastOf.try_emplace(event, index)) {
    if (!isInFlight(last->second)) {
      last->second = index;
      break;
    }
    event += ".again";
  }
  return event;
}

/// Whether a command sends bytes between ranks.
static bool sends(plan::CommandOpInterface command) {
  return isa<plan::AllGatherOp, plan::ReduceScatterOp, plan::AllReduceOp>(
             *command) &&
         command->getAttrOfType<IntegerAttr>("ranks").getInt() > 1;
}

/// Waits for the collective before this one, if that is in another stream.
void AsyncWriter::awaitLastCollective(unsigned index) {
  if (!lastCollective || !isInFlight(*lastCollective))
    return;
  plan::CommandOpInterface command = commands[index],
                           last = commands[*lastCollective];
  if (!plan::isAsync(command))
    return waitFor(*lastCollective);
  if (command.getStreamNumber() == last.getStreamNumber())
    return;
  const Queue &queue = queueOf(*lastCollective);
  wait(queue.started[places[*lastCollective]].event, command.getStreamNumber());
  recorded.insert(*lastCollective);
}

/// Starts a collective in its stream, after all commands above it are done.
void AsyncWriter::begin(unsigned index) {
  plan::CommandOpInterface command = commands[index];
  const int64_t stream = command.getStreamNumber();
  Queue &queue = queueOf(index);
  if (!queue.isReady) {
    plan::RecordOp::create(builder, command.getLoc(), kReady, {}, {}, {}, {});
    wait(kReady, stream);
    queue.isReady = true;
  }
  places[index] = queue.started.size();
  queue.started.push_back({index, getEvent(index)});
}

void AsyncWriter::put(unsigned index) {
  plan::CommandOpInterface command = commands[index];
  const bool isAsync = plan::isAsync(command);
  for (unsigned other : dependences.before(index))
    if (!isAsync ||
        command.getStreamNumber() !=
            plan::CommandOpInterface(commands[other]).getStreamNumber())
      waitFor(other);
  if (inTurn && sends(command))
    awaitLastCollective(index);
  if (isAsync) {
    begin(index);
    lastCollective = index;
  }
  command->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
  if (isAsync)
    return;
  for (auto &[stream, queue] : queues)
    queue.isReady = false;
}

/// Records the event after each collective that has a wait.
void AsyncWriter::recordAwaited() {
  for (auto &[stream, queue] : queues)
    for (const Started &each : queue.started) {
      if (!recorded.contains(each.command))
        continue;
      plan::CommandOpInterface command = commands[each.command];
      builder.setInsertionPointAfter(command);
      plan::RecordOp::create(builder, command.getLoc(), each.event, {}, {}, {},
                             number(stream));
    }
}

void AsyncWriter::finish() {
  for (auto &[stream, queue] : queues)
    if (!queue.started.empty())
      waitFor(queue.started.back().command);
  recordAwaited();
}

void AsyncProgram::write(ArrayRef<AsyncStep> steps, bool inTurn) {
  AsyncWriter writer(program, commands, dependences, inTurn);
  for (const AsyncStep &step : steps)
    if (step.isWait)
      writer.waitFor(step.command);
    else
      writer.put(step.command);
  writer.finish();
}
