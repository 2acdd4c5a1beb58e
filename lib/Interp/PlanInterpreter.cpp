//===- PlanInterpreter.cpp - Runs plans command by command ----------------===//

#include "PlanInterpreter.h"

#include "OpFunctions.h"
#include "ProgramRun.h"

#include "weft/Analysis/StreamOrder.h"
#include "weft/Interp/Inputs.h"
#include "weft/Plan/Transfers.h"

#include "llvm/ADT/DenseSet.h"

#include <deque>
#include <random>

using namespace mlir;
using namespace weft;

namespace {
struct Given {
  plan::CommandOpInterface command;
  StreamMoment moment;
};
} // namespace

/// Whether all that has to happen before it is done.
static bool isReady(const StreamMoment &moment, ArrayRef<int64_t> done) {
  for (auto [stream, needed] : llvm::enumerate(moment.done))
    if (done[stream] < needed - (static_cast<int64_t>(stream) == moment.stream))
      return false;
  return true;
}

/// The commands of a program in one of the orders in which its streams may run
/// them, by a seed; 0: as they stand.
static std::vector<plan::CommandOpInterface>
orderCommands(plan::ProgramOp program, uint64_t seed) {
  StreamOrder order(program->getParentOfType<ModuleOp>());
  std::vector<std::deque<Given>> streams(
      static_cast<size_t>(order.getNumStreams()));
  std::vector<plan::CommandOpInterface> commands;
  for (auto command :
       program.getBody().front().getOps<plan::CommandOpInterface>()) {
    commands.push_back(command);
    StreamMoment moment = order.add(command);
    streams[static_cast<size_t>(moment.stream)].push_back({command, moment});
  }
  if (seed == 0 || streams.size() == 1)
    return commands;
  std::mt19937_64 random(seed);
  SmallVector<int64_t> done(streams.size(), 0);
  for (plan::CommandOpInterface &next : commands) {
    SmallVector<size_t> ready;
    for (auto [stream, left] : llvm::enumerate(streams))
      if (!left.empty() && isReady(left.front().moment, done))
        ready.push_back(stream);
    // Runs of one stream, so that another falls far behind, and turns.
    size_t chosen = ready[random() % ready.size()];
    next = streams[chosen].front().command;
    streams[chosen].pop_front();
    ++done[chosen];
  }
  return commands;
}

static RankedTensorType tensorTypeOf(MemRefType type) {
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

PlanInterpreter::PlanInterpreter(ModuleOp module, ComputeMode mode,
                                 uint64_t streamOrder)
    : ModuleRunner(module, mode), kernels(module, mode),
      streamOrder(streamOrder) {
  for (auto state : module.getOps<plan::StateOp>())
    if (state.getKind() != StateKind::Param)
      states.emplace(state.getSymName().str(),
                     Tensor(tensorTypeOf(state.getBufferType())));
}

std::vector<ProgramInfo> PlanInterpreter::getPrograms() const {
  std::vector<ProgramInfo> programs;
  for (auto program : ModuleOp(module).getOps<plan::ProgramOp>())
    programs.push_back(describeProgram(program));
  return programs;
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

static std::vector<std::string>
namesOf(ModuleOp module, function_ref<bool(StateKind)> isWanted) {
  std::vector<std::string> names;
  for (auto state : module.getOps<plan::StateOp>())
    if (isWanted(state.getKind()))
      names.push_back(state.getSymName().str());
  return names;
}

std::vector<std::string> PlanInterpreter::getParameters() const {
  return namesOf(module,
                 [](StateKind kind) { return kind == StateKind::Param; });
}

/// With counts of micro-steps that had some: ranks take the mean of both.
std::vector<std::string> PlanInterpreter::getGradients() const {
  return namesOf(module, isMadeByStep);
}

LogicalResult PlanInterpreter::initialize(int64_t seed) {
  std::optional<ProgramInfo> init = findProgram(*this, ProgramKind::Init);
  if (!init)
    return success();
  TensorMap before = states;
  if (failed(run(init->name, makeInputs(*init, seed))))
    return failure();
  for (auto &[name, value] : before)
    states[name] = std::move(value);
  return success();
}

LogicalResult PlanInterpreter::setState(StringRef name, Tensor value) {
  auto state = dyn_cast_or_null<plan::StateOp>(
      SymbolTable::lookupSymbolIn(module, name));
  if (!state)
    return module.emitError()
           << "expects a parameter or state, but there is no '@" << name << "'";
  FailureOr<Tensor> adopted =
      adopt(std::move(value), tensorTypeOf(state.getBufferType()),
            state.getLoc(), ("'@" + name + "'").str());
  if (failed(adopted))
    return failure();
  states[name.str()] = std::move(*adopted);
  return success();
}

const Tensor *PlanInterpreter::findState(StringRef name) const {
  auto found = states.find(name.str());
  return found == states.end() ? nullptr : &found->second;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// One run of a program on fresh memory.
class PlanInterpreter::Run final : public ProgramRun {
public:
  Run(PlanInterpreter &owner, plan::ProgramOp program,
      std::optional<int64_t> bytes)
      : owner(owner), program(program), arena(owner.mode, bytes) {}

  LogicalResult start(ArrayRef<Tensor> inputs);
  std::vector<Operation *> listOps() override;
  FailureOr<std::optional<OpCall>> prepare(Operation *op) override;
  void complete(OpCall &call) override;
  /// The outputs; the states are those at the end.
  FailureOr<TensorMap> finish() override;

private:
  LogicalResult placeStates();
  LogicalResult placeRoot(Operation *op);
  Operation *findStateOf(Value root);
  const void *getName(Value root);
  void poisonWorkspaces(Operation *command);
  void runTransfer(Operation *command);
  FailureOr<Tensor> load(Operation *op, Value buffer);
  void store(Value buffer, const Tensor &tensor);

  PlanInterpreter &owner;
  plan::ProgramOp program;
  PlanArena arena;
  /// Parameters that have no value yet.
  DenseSet<Operation *> unset;
  /// Host values of inputs that commands upload and of outputs that commands
  /// read back.
  DenseMap<Value, Tensor> atHost;
  /// Operands of the current command.
  std::vector<Tensor> read;
};

LogicalResult PlanInterpreter::Run::placeStates() {
  for (auto state : owner.module.getOps<plan::StateOp>()) {
    MemRefType type = state.getBufferType();
    if (failed(arena.place(state, state.getOperation(), state.getStorageType(),
                           state.getOffsetAttr())))
      return failure();
    if (const Tensor *value = owner.findState(state.getSymName()))
      arena.store(state.getOperation(), type, *value);
    else
      unset.insert(state);
  }
  return success();
}

/// The state whose buffer a root is, or null.
Operation *PlanInterpreter::Run::findStateOf(Value root) {
  auto use = root.getDefiningOp<plan::UseOp>();
  return use ? SymbolTable::lookupSymbolIn(owner.module, use.getState())
             : nullptr;
}

/// The key of a root in the arena. Without offsets, a use shares the block of
/// its state.
const void *PlanInterpreter::Run::getName(Value root) {
  Operation *state = arena.hasOffsets() ? nullptr : findStateOf(root);
  return state ? state : root.getAsOpaquePointer();
}

LogicalResult PlanInterpreter::Run::placeRoot(Operation *op) {
  bool isRoot = isa<plan::InputOp, plan::AllocOp, plan::StagingOp>(op) ||
                (isa<plan::UseOp>(op) && arena.hasOffsets());
  if (!isRoot)
    return success();
  Value root = op->getResult(0);
  return arena.place(op, root.getAsOpaquePointer(),
                     cast<MemRefType>(root.getType()),
                     op->getAttrOfType<IntegerAttr>("offset"));
}

LogicalResult PlanInterpreter::Run::start(ArrayRef<Tensor> inputs) {
  if (failed(placeStates()))
    return failure();
  for (Operation &op : program.getBody().front())
    if (failed(placeRoot(&op)))
      return failure();
  auto buffers = program.getBody().front().getOps<plan::InputOp>();
  for (auto [input, value] : llvm::zip(buffers, inputs))
    if (plan::isStaged(input.getBuffer()))
      atHost[input.getBuffer()] = value;
    else
      store(input.getBuffer(), value);
  return success();
}

FailureOr<Tensor> PlanInterpreter::Run::load(Operation *op, Value buffer) {
  Value root = plan::getRoot(buffer);
  if (Operation *state = findStateOf(root); unset.contains(state))
    return reportNoValue(op, cast<plan::StateOp>(state).getSymName());
  return arena.load(getName(root), cast<MemRefType>(buffer.getType()));
}

void PlanInterpreter::Run::store(Value buffer, const Tensor &tensor) {
  Value root = plan::getRoot(buffer);
  unset.erase(findStateOf(root));
  arena.store(getName(root), cast<MemRefType>(buffer.getType()), tensor);
}

/// A copy from or to the host. Events are in the order of the commands.
void PlanInterpreter::Run::runTransfer(Operation *command) {
  if (auto upload = dyn_cast<plan::UploadOp>(command))
    for (Value buffer : upload.getInputs())
      store(buffer, atHost.find(buffer)->second);
  if (auto readback = dyn_cast<plan::ReadbackOp>(command))
    for (Value buffer : readback.getOutputs())
      atHost[buffer] = arena.load(getName(plan::getRoot(buffer)),
                                  cast<MemRefType>(buffer.getType()));
}

/// A routine may leave anything in its workspace, before its operands are read
/// and after its results are written.
void PlanInterpreter::Run::poisonWorkspaces(Operation *command) {
  for (Value buffer : command->getOperands())
    if (plan::isWorkspace(buffer))
      arena.poison(getName(buffer), cast<MemRefType>(buffer.getType()));
}

/// The buffers that a command writes, but for its workspace.
static SmallVector<Value> findWritten(plan::CommandOpInterface command) {
  SmallVector<Value> written;
  for (const plan::Access &access : command.getAccesses())
    if (access.isWritten && !plan::isWorkspace(access.buffer))
      written.push_back(access.buffer);
  return written;
}

std::vector<Operation *> PlanInterpreter::Run::listOps() {
  std::vector<Operation *> ops;
  for (auto command : orderCommands(program, owner.streamOrder))
    ops.push_back(command);
  return ops;
}

FailureOr<std::optional<OpCall>> PlanInterpreter::Run::prepare(Operation *op) {
  auto command = cast<plan::CommandOpInterface>(op);
  if (plan::isTransfer(command)) {
    runTransfer(command);
    return std::optional<OpCall>();
  }
  poisonWorkspaces(command);
  read.clear();
  for (const plan::Access &access : command.getAccesses()) {
    if (!access.isRead)
      continue;
    FailureOr<Tensor> value = load(command, access.buffer);
    if (failed(value))
      return failure();
    read.push_back(std::move(*value));
  }
  OpCall call{command, {}, owner.kernels, {}};
  for (const Tensor &tensor : read)
    call.operands.push_back(&tensor);
  for (Value buffer : findWritten(command))
    call.results.emplace_back(getTensorType(buffer));
  return std::optional<OpCall>(std::move(call));
}

void PlanInterpreter::Run::complete(OpCall &call) {
  auto command = cast<plan::CommandOpInterface>(call.op);
  for (auto [buffer, result] : llvm::zip(findWritten(command), call.results))
    store(buffer, result);
  poisonWorkspaces(command);
}

FailureOr<TensorMap> PlanInterpreter::Run::finish() {
  TensorMap outputs;
  for (auto output : program.getBody().front().getOps<plan::OutputOp>()) {
    Value buffer = output.getBuffer();
    auto readBack = atHost.find(buffer);
    outputs.emplace(output.getName().str(),
                    readBack != atHost.end()
                        ? readBack->second
                        : arena.load(getName(plan::getRoot(buffer)),
                                     cast<MemRefType>(buffer.getType())));
  }
  // All of them: a program could write over a state that it does not use.
  for (auto state : owner.module.getOps<plan::StateOp>())
    if (!unset.contains(state))
      owner.states[state.getSymName().str()] =
          arena.load(state.getOperation(), state.getBufferType());
  return outputs;
}

/// The size of the arena, or nothing before weft-plan-memory.
static FailureOr<std::optional<int64_t>> readArenaBytes(ModuleOp module) {
  constexpr StringLiteral name = plan::PlanDialect::kArenaBytesAttr;
  Attribute attribute = module->getAttr(name);
  if (!attribute)
    return std::optional<int64_t>();
  auto bytes = dyn_cast<IntegerAttr>(attribute);
  constexpr int64_t most = int64_t(1) << 44;
  if (bytes && bytes.getValue().getSignificantBits() <= 64 &&
      bytes.getInt() >= 0 && bytes.getInt() <= most)
    return std::optional<int64_t>(bytes.getInt());
  return module.emitError()
         << "expects " << name << " of 0 to 2^44, but got " << attribute;
}

FailureOr<std::unique_ptr<ProgramRun>>
PlanInterpreter::start(StringRef programName, const TensorMap &inputs) {
  auto program = dyn_cast_or_null<plan::ProgramOp>(
      SymbolTable::lookupSymbolIn(module, programName));
  if (!program)
    return module.emitError() << "there is no program '@" << programName << "'";
  FailureOr<std::vector<Tensor>> values =
      bindInputs(describeProgram(program), inputs);
  auto bytes = readArenaBytes(module);
  if (failed(values) || failed(bytes))
    return failure();
  auto run = std::make_unique<Run>(*this, program, *bytes);
  if (failed(run->start(*values)))
    return failure();
  return std::unique_ptr<ProgramRun>(std::move(run));
}
