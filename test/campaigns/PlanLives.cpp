//===- PlanLives.cpp - Tells an emulated device when buffers end ----------===//
//
// plan-lives PLAN.mlir OUT.mlir [N] writes the plan again with scopes that say
// which bytes of the arena mean nothing any more when a command of stream 0 has
// run, by the lifetimes that memory was planned with:
//
//   poison ARENA in PROGRAM after POSITION: BEGIN+BYTES BEGIN+BYTES
//
// A profiler of the emulated device poisons them there (NvtxTool.cpp); the
// program is the same but for these names. With N, the Nth life ends before the
// last command that reads the buffer, too early. Prints a line for each life
// that can be made to end early so.
//
//===----------------------------------------------------------------------===//

#include "weft/Analysis/Liveness.h"
#include "weft/Analysis/StreamOrder.h"
#include "weft/Pipeline/Driver/InitAll.h"
#include "weft/Plan/Plan.h"
#include "weft/Plan/Transfers.h"

#include "mlir/Parser/Parser.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace mlir;
using namespace weft;

namespace {

/// The lives of the buffers of one program.
class ProgramLives {
public:
  ProgramLives(plan::ProgramOp program, int64_t deviceBytes)
      : program(program), deviceBytes(deviceBytes),
        liveness(computeLiveness(program)), ends(liveness.commands.size()) {
    StreamOrder order(program->getParentOfType<ModuleOp>());
    for (Operation *command : liveness.commands)
      moments.push_back(order.add(cast<plan::CommandOpInterface>(command)));
    addStagedInputs();
  }

  /// Finds the command behind which each life ends. `numRead` counts lives that
  /// can end too early; the one with the number `early` does.
  LogicalResult find(int64_t &numRead, std::optional<int64_t> early);
  void writeScopes();

private:
  plan::CommandOpInterface commandAt(size_t position) const {
    return cast<plan::CommandOpInterface>(liveness.commands[position]);
  }
  bool computes(size_t position) const {
    return commandAt(position).getStreamNumber() == 0;
  }
  void addStagedInputs();
  size_t findBehind(const BufferLifetime &life) const;
  std::optional<size_t> findBefore(size_t position) const;
  std::optional<size_t> findLastRead(const BufferLifetime &life) const;
  LogicalResult verifyEnded(const BufferLifetime &life, size_t behind) const;

  plan::ProgramOp program;
  int64_t deviceBytes;
  Liveness liveness;
  SmallVector<StreamMoment> moments;
  std::vector<SmallVector<Value>> ends; // behind each command
};

} // namespace

/// Staged inputs matter until stream 0 has copied them.
void ProgramLives::addStagedInputs() {
  for (auto input : program.getBody().front().getOps<plan::InputOp>()) {
    if (!plan::isStaged(input.getBuffer()))
      continue;
    BufferLifetime life = {input.getBuffer(),
                           plan::getBufferBytes(input.getBuffer().getType())};
    if (std::optional<size_t> reader = findLastRead(life)) {
      life.end = static_cast<int64_t>(*reader);
      liveness.buffers.push_back(life);
    }
  }
}

/// The last command of stream 0 before another one may write to the bytes of a
/// buffer. What else stream 0 waits for until then has ended as well; another
/// stream brings staged inputs as soon as stream 0 has recorded that they are
/// copied.
size_t ProgramLives::findBehind(const BufferLifetime &life) const {
  size_t behind = 0;
  if (plan::isStaged(life.root))
    return static_cast<size_t>(life.end);
  for (size_t i = 0; i < liveness.commands.size(); ++i) {
    if (!computes(i))
      continue;
    if (static_cast<int64_t>(i) > life.end &&
        commandAt(i)->getNumOperands() != 0)
      break;
    behind = i;
  }
  return behind;
}

std::optional<size_t> ProgramLives::findBefore(size_t position) const {
  while (position-- > 0)
    if (computes(position))
      return position;
  return std::nullopt;
}

/// Whether the device reads an operand: the flag of a product is told by the
/// host.
static bool isReadThere(plan::CommandOpInterface command, OpOperand &operand) {
  auto product = dyn_cast<plan::GemmOp>(*command);
  return command.isRead(operand.getOperandNumber()) &&
         !(product && product.getFlag() == operand.get());
}

/// The last use of a buffer, if that reads it in stream 0.
std::optional<size_t>
ProgramLives::findLastRead(const BufferLifetime &life) const {
  for (size_t i = liveness.commands.size(); i-- > 0;) {
    bool isUsed = false, isRead = false;
    for (OpOperand &operand : liveness.commands[i]->getOpOperands())
      if (plan::getRoot(operand.get()) == life.root) {
        isUsed = true;
        isRead |= isReadThere(commandAt(i), operand);
      }
    if (isUsed)
      return isRead && computes(i) ? std::optional(i) : std::nullopt;
  }
  return std::nullopt;
}

/// Poison in stream 0 comes after all uses of the buffer in other streams.
LogicalResult ProgramLives::verifyEnded(const BufferLifetime &life,
                                        size_t behind) const {
  for (auto [i, command] : llvm::enumerate(liveness.commands))
    for (Value buffer : command->getOperands())
      if (plan::getRoot(buffer) == life.root && i != behind &&
          !moments[i].isBefore(moments[behind]))
        return command->emitError("expects to end before what follows ")
               << liveness.commands[behind]->getName() << " in stream 0";
  return success();
}

LogicalResult ProgramLives::find(int64_t &numRead,
                                 std::optional<int64_t> early) {
  for (const BufferLifetime &life : liveness.buffers) {
    if (life.end < life.begin)
      continue;
    size_t behind = findBehind(life);
    if (failed(verifyEnded(life, behind)))
      return failure();
    std::optional<size_t> reader = findLastRead(life);
    std::optional<size_t> before =
        reader ? findBefore(*reader) : std::optional<size_t>();
    if (before) {
      llvm::outs() << numRead << ' ' << program.getSymName() << ' '
                   << commandAt(*reader).getCommandName() << ' ' << life.bytes
                   << '\n';
      if (early == numRead++)
        behind = *before;
    }
    ends[behind].push_back(life.root);
  }
  return success();
}

void ProgramLives::writeScopes() {
  for (auto [position, roots] : llvm::enumerate(ends)) {
    if (roots.empty())
      continue;
    std::string text;
    llvm::raw_string_ostream os(text);
    os << "poison " << deviceBytes << " in " << program.getSymName()
       << " after " << position << ":";
    for (Value root : roots)
      os << ' '
         << root.getDefiningOp()->getAttrOfType<IntegerAttr>("offset").getInt()
         << '+' << plan::getBufferBytes(cast<MemRefType>(root.getType()));
    commandAt(position).setScopeAttr(
        StringAttr::get(program.getContext(), text));
  }
}

static LogicalResult writeLives(ModuleOp plan, std::optional<int64_t> early) {
  auto arena =
      plan->getAttrOfType<IntegerAttr>(plan::PlanDialect::kArenaBytesAttr);
  if (!arena)
    return plan.emitError("expects a plan with offsets");
  // The device has both in one piece of memory.
  auto constants = plan->getAttrOfType<IntegerAttr>(plan::kConstantBytesAttr);
  const int64_t deviceBytes =
      arena.getInt() + (constants ? constants.getInt() : 0);
  int64_t numRead = 0;
  for (auto program : plan.getOps<plan::ProgramOp>()) {
    ProgramLives lives(program, deviceBytes);
    if (failed(lives.find(numRead, early)))
      return failure();
    lives.writeScopes();
  }
  if (early && *early >= numRead)
    return plan.emitError("expects a life below ") << numRead;
  return success();
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto plan = parseSourceFile<ModuleOp>(argv[1], &context);
  std::optional<int64_t> early;
  if (argc > 3)
    early = std::atoll(argv[3]);
  if (!plan || failed(writeLives(*plan, early)))
    return 1;
  std::error_code error;
  llvm::raw_fd_ostream out(argv[2], error);
  if (error)
    return 1;
  plan->print(out);
  return 0;
}
