//===- EmitTables.cpp - Plan programs as constant tables ------------------===//

#include "TableGlobals.h"

#include "weft/Abi/CpuWorkspaces.h"
#include "weft/Abi/PackedTables.h"
#include "weft/Abi/TransferRecords.h"
#include "weft/Lowering/Table/Tables.h"
#include "weft/Plan/Plan.h"
#include "weft/Plan/PlanCollectives.h"
#include "weft/Plan/Transfers.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/SmallString.h"

#include <vector>

using namespace mlir;
using namespace weft;

static LogicalResult verifyKind(ModuleOp module, ProgramKind wanted) {
  StringRef kind = stringifyProgramKind(wanted);
  plan::ProgramOp called, other, second;
  for (auto program : module.getOps<plan::ProgramOp>()) {
    if (program.getSymName() == kind)
      called = program;
    else if (program.getKind() == wanted)
      (other ? second : other) = program;
  }
  if (called && called.getKind() != wanted)
    return called.emitOpError("expects a program of kind \"")
           << kind << "\" under the name @" << kind << ", but got \""
           << called.getKindName() << "\"";
  if (called || !second)
    return success();
  InFlightDiagnostic error =
      second.emitOpError("expects one program of kind \"")
      << kind << "\", or one of them called @" << kind << ", but got @"
      << other.getSymName() << " and @" << second.getSymName();
  error.attachNote(other.getLoc()) << "the first is here";
  return error;
}

/// The run time asks for the program of a kind by the kind's name: it is the
/// one of that symbol, or the only one of its kind (weft::findProgram). Fails
/// with an error on a program that would be taken for another, or where there
/// are several of a kind to choose from.
static LogicalResult verifyProgramKinds(ModuleOp module) {
  for (ProgramKind kind :
       {ProgramKind::Init, ProgramKind::Micro, ProgramKind::Apply,
        ProgramKind::Eval, ProgramKind::Logits, ProgramKind::Refresh,
        ProgramKind::Denominators, ProgramKind::Prefill, ProgramKind::Decode,
        ProgramKind::Predict})
    if (failed(verifyKind(module, kind)))
      return failure();
  return success();
}

namespace {

/// Writes WeftTables of PackedTables.h.
class TableEmitter {
public:
  TableEmitter(ModuleOp source, llvm::Module &output, const TableTarget &target,
               ArrayRef<DeviceImage> images)
      : source(source), target(target), images(images), globals(output) {}

  LogicalResult emit();

private:
  WeftPackedText text(StringRef value);
  WeftPackedList list(ArrayRef<int64_t> values) { return {lists.get(values)}; }
  WeftPackedRecord record(StringRef bytes);
  int64_t function(StringRef name, bool isKernel);

  LogicalResult kernel(plan::LaunchOp op, WeftPackedCommand &packed);
  int64_t deviceKernel(StringRef name, const DeviceLaunch &launch);
  LogicalResult callee(plan::CommandOpInterface op, WeftPackedCommand &packed);
  LogicalResult workspace(plan::CommandOpInterface op, RoutineCall &made,
                          WeftPackedCommand &packed);
  LogicalResult command(plan::CommandOpInterface op);
  LogicalResult port(Operation *op, StringRef name, Value buffer);
  LogicalResult program(plan::ProgramOp op);
  void segment(const Segment &segment);
  LogicalResult tensor(plan::StateOp op);

  void emitExecutable(int64_t arenaBytes);

  ModuleOp source;
  const TableTarget &target;
  ArrayRef<DeviceImage> images;
  int64_t maxThreads = 0;
  TableGlobals globals;
  std::vector<WeftPackedProgram> programs;
  std::vector<WeftPackedCommand> commands;
  std::vector<WeftPackedPort> ports;
  std::vector<WeftPackedTensor> tensors;
  std::vector<WeftPackedSegment> segments;
  ListPool<char> texts;
  ListPool<int64_t> lists;
  ListPool<char> records;
  FunctionPool kernels, libraries;
  std::vector<WeftPackedKernelLaunch> deviceKernels;
  llvm::StringMap<int64_t> deviceKernelIndices;
};

//===----------------------------------------------------------------------===//
// Packed structs
//===----------------------------------------------------------------------===//

WeftPackedText TableEmitter::text(StringRef value) {
  SmallString<64> ended(value);
  ended.push_back('\0');
  return {texts.get(ended)};
}

WeftPackedRecord TableEmitter::record(StringRef bytes) {
  return {bytes.empty() ? -1 : records.get({bytes.data(), bytes.size()})};
}

int64_t TableEmitter::function(StringRef name, bool isKernel) {
  FunctionPool &pool = isKernel ? kernels : libraries;
  auto [known, isNew] =
      pool.indices.try_emplace(name, int64_t(pool.functions.size()));
  if (isNew)
    pool.functions.push_back(globals.function(name, isKernel));
  return known->second;
}

/// The kernel of a launch: of a device, or a function over a range.
LogicalResult TableEmitter::kernel(plan::LaunchOp op,
                                   WeftPackedCommand &packed) {
  packed.kind = WEFT_KERNEL;
  FailureOr<KernelLaunch> launch = target.getLaunch(op);
  if (failed(launch))
    return failure();
  if (auto *device = std::get_if<DeviceLaunch>(&*launch)) {
    packed.deviceKernel = {deviceKernel(op.getKernel(), *device)};
    return success();
  }
  const auto &range = std::get<RangeLaunch>(*launch);
  packed.kernel = {function(op.getKernel(), /*isKernel=*/true)};
  packed.extent = range.extent;
  packed.grain = range.grain;
  return success();
}

int64_t TableEmitter::deviceKernel(StringRef name, const DeviceLaunch &launch) {
  auto [known, isNew] =
      deviceKernelIndices.try_emplace(name, int64_t(deviceKernels.size()));
  if (isNew)
    deviceKernels.push_back(
        {text(name), launch.blocks, launch.threadsX, launch.threadsY});
  return known->second;
}

LogicalResult TableEmitter::callee(plan::CommandOpInterface op,
                                   WeftPackedCommand &packed) {
  const bool overlaps =
      plan::isAsync(op) && op.getStreamNumber() >= plan::kGatherStream;
  if (op.getStreamNumber() != 0 && !plan::isTransfer(op) && !overlaps)
    return op->emitOpError("expects stream 0, the only one of ")
           << target.getTitle() << " that computes, but got "
           << op.getStreamNumber();
  packed.kernel = {-1};
  packed.deviceKernel = {-1};
  packed.library = {-1};
  packed.record = record("");
  if (auto launch = dyn_cast<plan::LaunchOp>(op.getOperation()))
    return kernel(launch, packed);
  FailureOr<RoutineCall> made = RoutineCall::get(op, target);
  if (failed(made))
    return failure();
  if (!made->routine.empty())
    packed.library = {function(made->routine, /*isKernel=*/false)};
  packed.kind = made->kind;
  packed.record = record(made->getBytes());
  packed.recordBytes = made->getBytes().size();
  return workspace(op, *made, packed);
}

LogicalResult TableEmitter::workspace(plan::CommandOpInterface op,
                                      RoutineCall &made,
                                      WeftPackedCommand &packed) {
  FailureOr<int64_t> wanted = made.getWorkspaceBytes(target, maxThreads);
  if (failed(wanted))
    return failure();
  auto user = dyn_cast<plan::WorkspaceOpInterface>(op.getOperation());
  if (Value buffer = user ? user.getWorkspace() : Value())
    packed.workspaceBytes =
        plan::getBufferBytes(cast<MemRefType>(buffer.getType()));
  if (packed.workspaceBytes >= *wanted)
    return success();
  return op->emitOpError("expects a workspace of at least ")
         << *wanted << " bytes for " << maxThreads
         << " threads (weft-add-workspaces), but got " << packed.workspaceBytes;
}

LogicalResult TableEmitter::command(plan::CommandOpInterface op) {
  SmallVector<int64_t> offsets;
  for (Value buffer : op->getOperands()) {
    std::optional<int64_t> offset = plan::getByteOffset(buffer);
    if (!offset)
      return op->emitOpError("expects buffers with arena offsets; run "
                             "weft-plan-memory first");
    offsets.push_back(*offset);
  }
  WeftPackedCommand packed = {};
  if (failed(callee(op, packed)))
    return failure();
  packed.name = text(op.getCommandName());
  packed.scope = text(op.getCommandScope());
  packed.offsets = list(offsets);
  packed.numBuffers = offsets.size();
  commands.push_back(packed);
  return success();
}

LogicalResult TableEmitter::port(Operation *op, StringRef name, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  std::optional<int64_t> offset = plan::getByteOffset(buffer);
  if (!offset)
    return op->emitOpError("expects a buffer with an arena offset; run "
                           "weft-plan-memory first");
  WeftPackedPort &packed = ports.emplace_back();
  packed.name = text(name);
  packed.dtype = getDType(type.getElementType());
  packed.rank = type.getRank();
  packed.dims = list(type.getShape());
  packed.offset = *offset;
  packed.bytes = plan::getBufferBytes(type);
  return success();
}

LogicalResult TableEmitter::program(plan::ProgramOp op) {
  SmallVector<plan::OutputOp> outputs;
  const size_t firstCommand = commands.size(), firstPort = ports.size();
  for (Operation &inner : op.getBody().front()) {
    if (auto commandOp = dyn_cast<plan::CommandOpInterface>(inner)) {
      if (failed(command(commandOp)))
        return failure();
    } else if (auto input = dyn_cast<plan::InputOp>(inner)) {
      if (failed(port(input, input.getName(), input.getBuffer())))
        return failure();
    } else if (auto result = dyn_cast<plan::OutputOp>(inner)) {
      outputs.push_back(result);
    }
  }
  WeftPackedProgram &packed = programs.emplace_back();
  packed.symbol = text(op.getSymName());
  packed.kind = text(op.getKindName());
  packed.numCommands = commands.size() - firstCommand;
  packed.numInputs = ports.size() - firstPort;
  packed.numOutputs = outputs.size();
  for (plan::OutputOp result : outputs)
    if (failed(port(result, result.getName(), result.getBuffer())))
      return failure();
  return success();
}

static_assert(int(StateKind::Param) == WEFT_PARAM &&
                  int(StateKind::Gradient) == WEFT_GRADIENT &&
                  int(StateKind::Optimizer) == WEFT_OPTIMIZER &&
                  int(StateKind::Scaler) == WEFT_SCALER &&
                  int(StateKind::Working) == WEFT_WORKING &&
                  int(StateKind::Accumulator) == WEFT_ACCUMULATOR &&
                  int(StateKind::Presence) == WEFT_PRESENCE &&
                  int(StateKind::Denominator) == WEFT_DENOMINATOR &&
                  int(StateKind::Cache) == WEFT_CACHE &&
                  getMaxEnumValForStateKind() == WEFT_CACHE,
              "a state's kind is written as its number");

void TableEmitter::segment(const Segment &segment) {
  WeftPackedSegment &packed = segments.emplace_back();
  packed.param = text(segment.param.getValue());
  packed.source = text(segment.source ? segment.source.getValue() : "");
  packed.rank = segment.shape.size();
  packed.dims = list(segment.shape);
  packed.begin = segment.begin;
  packed.end = segment.end;
}

LogicalResult TableEmitter::tensor(plan::StateOp op) {
  if (!op.getOffset())
    return op.emitOpError(
        "expects an arena offset; run weft-plan-memory first");
  SmallVector<Segment> inside = op.getSegmentList();
  for (const Segment &each : inside)
    segment(each);
  MemRefType type = op.getBufferType();
  WeftPackedTensor &packed = tensors.emplace_back();
  packed.name = text(op.getSymName());
  packed.param = text(op.getParam().value_or(StringRef()));
  packed.source = text(op.getSource().value_or(StringRef()));
  packed.kind = static_cast<int64_t>(op.getKind());
  packed.dtype = getDType(type.getElementType());
  packed.rank = type.getRank();
  packed.trainable = op.getTrainable();
  packed.dims = list(type.getShape());
  packed.offset = *op.getOffset();
  packed.bytes = plan::getBufferBytes(type);
  packed.slot = text(op.getSlot().value_or(StringRef()));
  packed.numSegments = inside.size();
  packed.slices = op.getSlices();
  return success();
}

//===----------------------------------------------------------------------===//
// The executable
//===----------------------------------------------------------------------===//

/// WeftTables
void TableEmitter::emitExecutable(int64_t arenaBytes) {
  auto json = source->getAttrOfType<StringAttr>("weft.metadata");
  StringRef described = json ? json.getValue() : StringRef("{}");
  SmallVector<llvm::Constant *> fields = {
      globals.int32(WEFT_ABI_VERSION),
      globals.int32(programs.size()),
      globals.int32(tensors.size()),
      globals.int32(maxThreads),
      globals.bytes(programs, "weft.programs"),
      globals.bytes(commands, "weft.commands"),
      globals.bytes(ports, "weft.ports"),
      globals.bytes(tensors, "weft.tensors"),
      globals.bytes(segments, "weft.segments"),
      globals.bytes(texts.getBytes(), "weft.texts"),
      globals.bytes(lists.getBytes(), "weft.lists"),
      globals.bytes(records.getBytes(), "weft.records"),
      globals.functionArray(kernels, "weft.kernels"),
      globals.bytes(deviceKernels, "weft.device_kernels"),
      globals.functionArray(libraries, "weft.libraries"),
      globals.int64(arenaBytes),
      globals.metadata(described),
      globals.int64(described.size()),
      globals.images(images),
      globals.int64(images.size()),
      globals.int64(deviceKernels.size())};
  globals.structure(fields, "weft_tables");
}

/// Of plan.max_threads.
static FailureOr<int64_t> readMaxThreads(ModuleOp module) {
  constexpr StringLiteral name = plan::PlanDialect::kMaxThreadsAttr;
  Attribute attribute = module->getAttr(name);
  if (!attribute)
    return kDefaultMaxThreads;
  auto threads = dyn_cast<IntegerAttr>(attribute);
  if (threads && threads.getType().isInteger(64) && threads.getInt() >= 1 &&
      threads.getInt() <= kMostThreads)
    return threads.getInt();
  return module.emitOpError("expects ")
         << name << " of 1 to 1024, but got " << attribute;
}

LogicalResult TableEmitter::emit() {
  FailureOr<int64_t> threads = readMaxThreads(source);
  if (failed(threads))
    return failure();
  maxThreads = *threads;
  for (auto op : source.getOps<plan::ProgramOp>())
    if (failed(program(op)))
      return failure();
  for (auto op : source.getOps<plan::StateOp>())
    if (failed(tensor(op)))
      return failure();
  if (programs.empty())
    return success(); // kernels only
  auto arena =
      source->getAttrOfType<IntegerAttr>(plan::PlanDialect::kArenaBytesAttr);
  if (!arena)
    return source.emitOpError("expects the attribute ")
           << plan::PlanDialect::kArenaBytesAttr << "; run weft-plan-memory";
  emitExecutable(arena.getInt());
  return success();
}

} // namespace

LogicalResult weft::emitTables(ModuleOp module, llvm::Module &output,
                               const TableTarget &target,
                               ArrayRef<DeviceImage> images) {
  if (failed(verifyProgramKinds(module)))
    return failure();
  return TableEmitter(module, output, target, images).emit();
}
