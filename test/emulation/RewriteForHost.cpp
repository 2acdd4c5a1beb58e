//===- RewriteForHost.cpp - Kernels as code of this machine ---------------===//

#include "EmitTwins.h"
#include "TellAccesses.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {

/// Rewrites one module. What fails leaves its reason in `problem`.
class Rewriter {
public:
  explicit Rewriter(Module &code)
      : code(code), builder(code.getContext()), i32(builder.getInt32Ty()),
        ptr(builder.getPtrTy()) {}

  void replaceCall(CallInst &call);
  void replaceRounding(Instruction &cast);

  std::string problem;

private:
  Value *replacementOf(CallInst &call, StringRef intrinsic);
  Value *readPlace(StringRef which);
  Value *callExchange(CallInst &call, StringRef which);
  Value *callHost(StringRef name, Type *result, ArrayRef<Value *> operands);
  /// The number of a place where threads meet.
  Value *nextSite() { return builder.getInt32(++numSites); }

  Module &code;
  IRBuilder<> builder;
  IntegerType *i32;
  PointerType *ptr;
  int numSites = 0;
};

} // namespace

Value *Rewriter::callHost(StringRef name, Type *result,
                          ArrayRef<Value *> operands) {
  SmallVector<Type *> types;
  for (Value *operand : operands)
    types.push_back(operand->getType());
  return builder.CreateCall(
      code.getOrInsertFunction(
          name, FunctionType::get(result, types, /*isVarArg=*/false)),
      operands);
}

//===----------------------------------------------------------------------===//
// Instructions of a device
//===----------------------------------------------------------------------===//

/// A special register, as a field of struct WeftEmuPlace.
Value *Rewriter::readPlace(StringRef which) {
  if (which == "warpsize")
    return builder.getInt32(32);
  auto [name, dimension] = which.split('.');
  int first = StringSwitch<int>(name)
                  .Case("tid", 0)
                  .Case("ctaid", 3)
                  .Case("ntid", 6)
                  .Case("nctaid", 9)
                  .Case("laneid", 12)
                  .Default(-1);
  if (first < 0)
    return nullptr;
  int field = first + (dimension.empty() ? 0 : dimension[0] - 'x');
  Value *place = callHost("weft_emu_place", ptr, {});
  return builder.CreateLoad(i32, builder.CreateConstGEP1_32(i32, place, field));
}

/// shfl.sync of 32 bits, its kind and type in `which`: "bfly.f32".
Value *Rewriter::callExchange(CallInst &call, StringRef which) {
  auto [name, type] = which.split('.');
  int kind = StringSwitch<int>(name)
                 .Case("bfly", 0)
                 .Case("up", 1)
                 .Case("down", 2)
                 .Case("idx", 3)
                 .Default(-1);
  if (kind < 0 || (type != "i32" && type != "f32"))
    return nullptr;
  Value *value = builder.CreateBitCast(call.getArgOperand(1), i32);
  Value *result =
      callHost("weft_emu_shuffle", i32,
               {builder.getInt32(kind), call.getArgOperand(0), value,
                call.getArgOperand(2), call.getArgOperand(3), nextSite()});
  return builder.CreateBitCast(result, call.getType());
}

Value *Rewriter::replacementOf(CallInst &call, StringRef intrinsic) {
  if (intrinsic.consume_front("read.ptx.sreg."))
    return readPlace(intrinsic);
  if (intrinsic.consume_front("shfl.sync."))
    return callExchange(call, intrinsic);
  if (intrinsic == "ex2.approx.ftz.f32")
    return callHost("exp2f", call.getType(), {call.getArgOperand(0)});
  if (intrinsic == "barrier.cta.sync.aligned.all")
    return callHost("weft_emu_barrier", builder.getVoidTy(),
                    {call.getArgOperand(0), builder.getInt32(0), nextSite()});
  if (intrinsic == "barrier.cta.sync.aligned.count")
    return callHost("weft_emu_barrier", builder.getVoidTy(),
                    {call.getArgOperand(0), call.getArgOperand(1), nextSite()});
  // Exact where a device is off by two places at most.
  if (intrinsic == "ex2.approx.ftz.f32")
    return callHost("exp2f", call.getType(), {call.getArgOperand(0)});
  if (intrinsic == "rcp.approx.ftz.f")
    return builder.CreateFDiv(ConstantFP::get(call.getType(), 1.0),
                              call.getArgOperand(0));
  if (intrinsic == "bar.warp.sync")
    return callHost("weft_emu_warp_barrier", builder.getVoidTy(),
                    {call.getArgOperand(0), nextSite()});
  return nullptr;
}

/// A function of libm in place of one of libdevice.
static StringRef libmName(StringRef name) {
  static const StringSet<> known = {
      "acos", "acosh", "asin",     "asinh", "atan",  "atan2", "atanh",
      "cbrt", "ceil",  "copysign", "cos",   "cosh",  "erf",   "erfc",
      "exp",  "exp2",  "expm1",    "fabs",  "floor", "fma",   "fmod",
      "log",  "log10", "log1p",    "log2",  "pow",   "rint",  "round",
      "sin",  "sinh",  "sqrt",     "tan",   "tanh",  "trunc"};
  StringRef function = name.drop_front(StringRef("__nv_").size());
  StringRef base = function;
  bool isKnown =
      known.contains(base) || (base.consume_back("f") && known.contains(base));
  return isKnown ? function : "";
}

void Rewriter::replaceCall(CallInst &call) {
  StringRef name = call.getCalledFunction()->getName();
  StringRef intrinsic = name;
  builder.SetInsertPoint(&call);
  Value *result = nullptr;
  if (intrinsic.consume_front("llvm.nvvm."))
    result = replacementOf(call, intrinsic);
  else if (StringRef function = libmName(name); !function.empty())
    result =
        callHost(function, call.getType(), SmallVector<Value *>(call.args()));
  if (!result) {
    problem = ("does not support " + name + " in twins yet").str();
    return;
  }
  if (!call.getType()->isVoidTy())
    call.replaceAllUsesWith(result);
  call.eraseFromParent();
}

/// f32 to bf16, which libraries of this machine need not have, and which a
/// device makes of NaN as well in its own way.
void Rewriter::replaceRounding(Instruction &cast) {
  builder.SetInsertPoint(&cast);
  auto round = [&](Value *value) {
    return builder.CreateBitCast(
        callHost("weft_emu_to_bf16", builder.getInt16Ty(), {value}),
        builder.getBFloatTy());
  };
  Value *from = cast.getOperand(0), *result;
  if (auto *vector = dyn_cast<FixedVectorType>(cast.getType())) {
    result = PoisonValue::get(vector);
    for (unsigned i = 0; i < vector->getNumElements(); ++i)
      result = builder.CreateInsertElement(
          result, round(builder.CreateExtractElement(from, i)), i);
  } else {
    result = round(from);
  }
  cast.replaceAllUsesWith(result);
  cast.eraseFromParent();
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

namespace {
/// The instructions to rewrite, collected before the first change.
struct Found {
  explicit Found(Module &code) {
    for (Function &function : code)
      for (Instruction &instruction : instructions(function))
        add(instruction);
  }

  void add(Instruction &instruction) {
    if (auto *call = dyn_cast<CallInst>(&instruction)) {
      Function *callee = call->getCalledFunction();
      if (callee && (callee->getName().starts_with("llvm.nvvm.") ||
                     callee->getName().starts_with("__nv_")))
        calls.push_back(call);
    } else if (isa<FPTruncInst>(instruction) &&
               instruction.getType()->getScalarType()->isBFloatTy() &&
               instruction.getOperand(0)
                   ->getType()
                   ->getScalarType()
                   ->isFloatTy()) {
      roundings.push_back(&instruction);
    }
  }

  SmallVector<CallInst *> calls;
  SmallVector<Instruction *> roundings;
};
} // namespace

/// Drops attributes: facts about a kernel on a device need not hold for its
/// twin.
static void dropAttributes(Module &code) {
  for (Function &function : code) {
    if (function.isIntrinsic())
      continue;
    function.setAttributes({});
    function.setCallingConv(CallingConv::C);
    if (!function.isDeclaration())
      function.setLinkage(GlobalValue::InternalLinkage);
  }
}

/// Gives what cannot be told, as a message.
static std::string tellAllAccesses(Module &code) {
  for (Function &function : code) {
    if (function.isDeclaration())
      continue;
    std::string what = weft::tellAccesses(function);
    if (!what.empty())
      return "does not support " + what + " in checked twins yet";
  }
  return "";
}

bool weft::rewriteForHost(Module &code, bool isChecked, std::string &error) {
  Rewriter rewriter(code);
  Found found(code);
  if (isChecked)
    rewriter.problem = tellAllAccesses(code);
  for (Instruction *rounding : found.roundings)
    rewriter.replaceRounding(*rounding);
  for (CallInst *call : found.calls)
    if (rewriter.problem.empty())
      rewriter.replaceCall(*call);
  error = rewriter.problem;
  if (!error.empty())
    return false;
  for (Function &function : make_early_inc_range(code))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();
  dropAttributes(code);
  return true;
}
