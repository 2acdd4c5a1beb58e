//===- GpuGroups.cpp - One launch for the blocks of several kernels -------===//
//
// The blocks of a group's launch are the blocks of its kernels, one kernel
// after the other. A kernel that is several times in the group has one copy of
// its code, and its blocks select their pointers.
//
//===----------------------------------------------------------------------===//

#include "GpuEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace weft;

namespace {

/// A kernel and, for each of its places in the group, its arguments.
struct Member {
  gpu::GPUFuncOp function;
  SmallVector<SmallVector<Value>> places;

  int64_t countBlocks() const {
    return gpu::GPUFuncOp(function).getKnownGridSize()->front();
  }
  /// Threads of a block along x and along y.
  std::pair<int32_t, int32_t> getBlock() const {
    ArrayRef<int32_t> sizes = *gpu::GPUFuncOp(function).getKnownBlockSize();
    return {sizes[0], sizes[1]};
  }
};

class GroupEmitter {
public:
  GroupEmitter(KernelGroupOp group, gpu::GPUModuleOp kernels)
      : group(group), kernels(kernels), b(group.getContext()),
        loc(group.getLoc()) {}

  LogicalResult emit(const llvm::StringMap<int64_t> &numOutputs);

private:
  LogicalResult findMembers(const llvm::StringMap<int64_t> &numOutputs);
  LogicalResult setLaunch();
  void emitMember(Member &member, int64_t start);
  Value getShared(Type type, unsigned number);
  void copyBody(Member &member, Value place, Value ownBlock);
  Value selectArgument(const Member &member, unsigned argument, Value place);
  void adapt(Block &body, const Member &member, Value ownBlock);
  Value getThread(const Member &member, gpu::Dimension dimension);
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  KernelGroupOp group;
  gpu::GPUModuleOp kernels;
  OpBuilder b;
  Location loc;
  gpu::GPUFuncOp function;
  Value block;
  bool isFlat = false; // blocks have one dimension and the kernels' have two
  SmallVector<Member> members;
  llvm::DenseMap<Type, SmallVector<Value>> shared;
};

} // namespace

/// Creates the function and finds the arguments of each kernel: inputs of the
/// group lie before outputs.
LogicalResult
GroupEmitter::findMembers(const llvm::StringMap<int64_t> &numOutputs) {
  FunctionType type = group.getFunctionType();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), kGlobalSpace);
  SmallVector<Type> types(type.getNumInputs() + type.getNumResults(), pointer);
  b.setInsertionPointToEnd(kernels.getBody());
  function = gpu::GPUFuncOp::create(b, loc, group.getSymName(),
                                    b.getFunctionType(types, {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  SymbolTable symbols(kernels);
  size_t numKernels = 0;
  llvm::MapVector<Operation *, unsigned> known;
  ArrayRef<BlockArgument> arguments = function.getArguments();
  ArrayRef<BlockArgument> inputs = arguments.take_front(type.getNumInputs());
  ArrayRef<BlockArgument> outputs = arguments.drop_front(type.getNumInputs());
  for (auto name : group.getKernels().getAsRange<FlatSymbolRefAttr>()) {
    auto kernel = symbols.lookup<gpu::GPUFuncOp>(name.getValue());
    if (!kernel)
      return group.emitOpError("expects a lowered kernel, but got ") << name;
    auto [found, isNew] = known.try_emplace(kernel, members.size());
    if (isNew)
      members.push_back({kernel, {}});
    const size_t numOwn = numOutputs.lookup(name.getValue());
    const size_t numInputs = kernel.getNumArguments() - numOwn;
    if (numInputs > inputs.size() || numOwn > outputs.size())
      break;
    SmallVector<Value> own(inputs.take_front(numInputs));
    llvm::append_range(own, outputs.take_front(numOwn));
    members[found->second].places.push_back(std::move(own));
    inputs = inputs.drop_front(numInputs);
    outputs = outputs.drop_front(numOwn);
    ++numKernels;
  }
  if (numKernels == group.getKernels().size() && inputs.empty() &&
      outputs.empty())
    return success();
  return group.emitOpError("expects the arguments and results of its kernels, "
                           "but got ")
         << type;
}

/// All blocks have the same threads: in the shape of the kernels if they agree.
LogicalResult GroupEmitter::setLaunch() {
  int64_t blocks = 0;
  for (Member &member : members) {
    auto [x, y] = member.getBlock();
    if (x * y != kGroupThreads)
      return group.emitOpError("expects kernels with blocks of ")
             << kGroupThreads << " threads, but @" << member.function.getName()
             << " has " << x * y;
    isFlat |= member.getBlock() != members.front().getBlock();
    blocks += member.countBlocks() * member.places.size();
  }
  if (blocks > kMostGridBlocks)
    return group.emitOpError("expects a grid of at most ")
           << kMostGridBlocks << " blocks, but got " << blocks << " blocks";
  auto [x, y] = members.front().getBlock();
  if (isFlat)
    x = kGroupThreads, y = 1;
  function.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({x, y, 1}));
  function.setKnownGridSizeAttr(
      b.getDenseI32ArrayAttr({static_cast<int32_t>(blocks), 1, 1}));
  return success();
}

LogicalResult GroupEmitter::emit(const llvm::StringMap<int64_t> &numOutputs) {
  if (failed(findMembers(numOutputs)) || failed(setLaunch()))
    return failure();
  b.setInsertionPointToStart(&function.getBody().front());
  block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  int64_t start = 0;
  for (Member &member : members) {
    emitMember(member, start);
    start += member.countBlocks() * member.places.size();
  }
  gpu::ReturnOp::create(b, loc);
  return success();
}

/// The blocks from `start` on run the kernel.
void GroupEmitter::emitMember(Member &member, int64_t start) {
  const auto places = static_cast<int64_t>(member.places.size());
  const int64_t blocks = member.countBlocks();
  Value first = index(start), end = index(start + places * blocks);
  Value isBehind =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, block, first);
  Value isBefore =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, block, end);
  Value isHere = arith::AndIOp::create(b, loc, isBehind, isBefore);
  auto branch = scf::IfOp::create(b, loc, TypeRange(), isHere,
                                  /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value own = arith::SubIOp::create(b, loc, block, first);
  Value place = arith::DivUIOp::create(b, loc, own, index(blocks));
  own = arith::RemUIOp::create(b, loc, own, index(blocks));
  copyBody(member, place, own);
}

/// The argument at a place: one of the pointers, or the only one.
Value GroupEmitter::selectArgument(const Member &member, unsigned argument,
                                   Value place) {
  Value selected = member.places.front()[argument];
  for (size_t i = 1; i < member.places.size(); ++i) {
    Value other = member.places[i][argument];
    Value isHere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                         place, index(static_cast<int64_t>(i)));
    selected = arith::SelectOp::create(b, loc, isHere, other, selected);
  }
  return selected;
}

/// Memory of a block of that type, of which a member uses several. Members run
/// in different blocks, so they share it.
Value GroupEmitter::getShared(Type type, unsigned number) {
  SmallVector<Value> &all = shared[type];
  if (number == all.size())
    all.push_back(function.addWorkgroupAttribution(type, loc));
  return all[number];
}

void GroupEmitter::copyBody(Member &member, Value place, Value ownBlock) {
  IRMapping map;
  // Memory of the block lies behind the arguments.
  for (BlockArgument argument : member.function.getArguments().take_front(
           member.function.getNumArguments()))
    map.map(argument, selectArgument(member, argument.getArgNumber(), place));
  llvm::DenseMap<Type, unsigned> numUsed;
  for (BlockArgument own : member.function.getWorkgroupAttributions())
    map.map(own, getShared(own.getType(), numUsed[own.getType()]++));
  Block *body = b.getInsertionBlock();
  for (Operation &op : member.function.getBody().front().without_terminator())
    b.clone(op, map);
  adapt(*body, member, ownBlock);
}

Value GroupEmitter::getThread(const Member &member, gpu::Dimension dimension) {
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value columns = index(member.getBlock().first);
  if (dimension == gpu::Dimension::x)
    return arith::RemUIOp::create(b, loc, thread, columns);
  return arith::DivUIOp::create(b, loc, thread, columns);
}

/// Replaces the numbers of the block and of the thread. Stack memory belongs
/// into the first block of a function.
void GroupEmitter::adapt(Block &body, const Member &member, Value ownBlock) {
  SmallVector<Operation *> replaced;
  body.walk([&](Operation *op) {
    if (isa<memref::AllocaOp>(op))
      op->moveBefore(block.getDefiningOp());
    if (isa<gpu::BlockIdOp, gpu::ThreadIdOp>(op))
      replaced.push_back(op);
  });
  OpBuilder::InsertionGuard guard(b);
  for (Operation *op : replaced) {
    b.setInsertionPoint(op);
    if (isa<gpu::BlockIdOp>(op))
      op->replaceAllUsesWith(ValueRange(ownBlock));
    else if (isFlat)
      op->replaceAllUsesWith(ValueRange(
          getThread(member, cast<gpu::ThreadIdOp>(op).getDimension())));
    else
      continue;
    op->erase();
  }
}

LogicalResult weft::emitGroup(KernelGroupOp group, gpu::GPUModuleOp kernels,
                              const llvm::StringMap<int64_t> &numOutputs) {
  return GroupEmitter(group, kernels).emit(numOutputs);
}
