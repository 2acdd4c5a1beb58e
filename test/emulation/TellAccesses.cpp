//===- TellAccesses.cpp - Code that reports its memory accesses -----------===//

#include "TellAccesses.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <algorithm>
#include <optional>
#include <vector>

using namespace llvm;

namespace {

/// A memory access of an instruction.
struct Access {
  Value *place, *bytes;
  MaybeAlign alignment;
  bool isStore;
};

/// The accesses of one instruction: a copy has two.
using Accesses = SmallVector<Access, 2>;

constexpr uint64_t kWidest = 16, kMostParts = 16;

} // namespace

//===----------------------------------------------------------------------===//
// Finding accesses
//===----------------------------------------------------------------------===//

/// Adds the accesses of a call of memcpy, memmove or memset; false for other
/// calls.
static bool addLibraryCall(const CallInst &call, Accesses &found) {
  const Function *callee = call.getCalledFunction();
  StringRef name = callee ? callee->getName() : "";
  bool copies = name == "memcpy" || name == "memmove";
  if ((!copies && name != "memset") || call.arg_size() != 3)
    return false;
  Value *bytes = call.getArgOperand(2);
  if (copies)
    found.push_back({call.getArgOperand(1), bytes, std::nullopt, false});
  found.push_back({call.getArgOperand(0), bytes, std::nullopt, true});
  return true;
}

/// False for atomic, masked and vector-predicated accesses, which are not
/// supported.
static bool findAccesses(Instruction &instruction, Accesses &found) {
  if (isa<LoadInst, StoreInst>(instruction)) {
    const DataLayout &layout = instruction.getModule()->getDataLayout();
    uint64_t bytes = layout.getTypeStoreSize(getLoadStoreType(&instruction));
    found.push_back(
        {getLoadStorePointerOperand(&instruction),
         ConstantInt::get(Type::getInt64Ty(instruction.getContext()), bytes),
         getLoadStoreAlignment(&instruction), isa<StoreInst>(instruction)});
    return true;
  }
  if (auto *copy = dyn_cast<AnyMemTransferInst>(&instruction))
    found.push_back({copy->getRawSource(), copy->getLength(),
                     copy->getSourceAlign().valueOrOne(), false});
  if (auto *fill = dyn_cast<AnyMemIntrinsic>(&instruction)) {
    found.push_back({fill->getRawDest(), fill->getLength(),
                     fill->getDestAlign().valueOrOne(), true});
    return true;
  }
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(instruction))
    return false;
  auto *call = dyn_cast<CallInst>(&instruction);
  if (!call || addLibraryCall(*call, found) || !call->getCalledFunction())
    return true;
  StringRef name = call->getCalledFunction()->getName();
  return !name.starts_with("llvm.masked.") && !name.starts_with("llvm.vp.");
}

/// Whether a place is the thread's own, a part of its WeftEmuPlace, or in a
/// constant of the code.
static bool isOwn(const Value *place) {
  const Value *object = getUnderlyingObject(place, /*MaxLookup=*/0);
  if (auto *call = dyn_cast<CallInst>(object)) {
    const Function *callee = call->getCalledFunction();
    return callee && callee->getName() == "weft_emu_place";
  }
  auto *global = dyn_cast<GlobalVariable>(object);
  return isa<AllocaInst>(object) || (global && global->isConstant());
}

//===----------------------------------------------------------------------===//
// Telling them
//===----------------------------------------------------------------------===//

static void tell(IRBuilder<> &builder, const Access &access) {
  Module &code = *builder.GetInsertBlock()->getModule();
  PointerType *ptr = builder.getPtrTy();
  IntegerType *i64 = builder.getInt64Ty();
  FunctionCallee callee = code.getOrInsertFunction(
      access.isStore ? "weft_emu_store" : "weft_emu_load",
      FunctionType::get(builder.getVoidTy(), {ptr, i64}, false));
  Value *place = builder.CreateAddrSpaceCast(access.place, ptr);
  auto *known = dyn_cast<ConstantInt>(access.bytes);
  uint64_t bytes = known ? known->getZExtValue() : 0;
  uint64_t step = std::min<uint64_t>(
      access.alignment ? access.alignment->value() : 1, kWidest);
  if (!known || bytes > step * kMostParts) {
    builder.CreateCall(callee,
                       {place, builder.CreateZExtOrTrunc(access.bytes, i64)});
    return;
  }
  for (uint64_t i = 0; i < bytes; i += step)
    builder.CreateCall(
        callee, {builder.CreateConstGEP1_64(builder.getInt8Ty(), place, i),
                 builder.getInt64(std::min(step, bytes - i))});
}

std::string weft::tellAccesses(Function &function) {
  std::vector<std::pair<Instruction *, Accesses>> all;
  for (Instruction &instruction : instructions(function)) {
    Accesses found;
    if (!findAccesses(instruction, found)) {
      auto *call = dyn_cast<CallInst>(&instruction);
      return (call ? call->getCalledFunction()->getName()
                   : StringRef(instruction.getOpcodeName()))
          .str();
    }
    erase_if(found, [](const Access &access) { return isOwn(access.place); });
    if (!found.empty())
      all.emplace_back(&instruction, std::move(found));
  }
  for (auto &[instruction, found] : all) {
    IRBuilder<> builder(instruction);
    for (const Access &access : found)
      tell(builder, access);
  }
  return "";
}
