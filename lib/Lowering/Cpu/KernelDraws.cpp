//===- KernelDraws.cpp - Random numbers of generated kernels --------------===//
//
// A block of random numbers serves four elements of a row. Functions that all
// kernels of a module share draw them: one makes the blocks of 64 elements, a
// lane for each block, and writes their numbers to the stack of the kernel,
// which then takes chunk by chunk. Chunks begin at multiples of kLanes, so that
// blocks do not straddle them. Where rows may begin within a block, a second
// function makes a block for each element. Written into each kernel, the rounds
// would be most of the time that LLVM takes for a program.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "weft/Lowering/Linalg/PhiloxNumbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft;

/// Elements of a block, and of as many blocks as a vector has lanes.
static constexpr int64_t kQuad = 4, kGroup = kQuad * kLanes;

static std::optional<int64_t> getInteger(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

static bool isMultiple(Value value) {
  if (std::optional<int64_t> number = getInteger(value))
    return *number % kQuad == 0;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::MulIOp>(op))
    return llvm::any_of(op->getOperands(), isMultiple);
  return isa_and_nonnull<arith::AddIOp>(op) &&
         llvm::all_of(op->getOperands(), isMultiple);
}

/// Whether it counts lanes from a multiple of four on.
bool KernelEmitter::countsLanes(const KernelNest &nest, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (std::optional<unsigned> dim = nest.getIndexDim(op))
    return shape.getRole(*dim) == DimRole::Lane;
  if (!isa<arith::AddIOp>(op))
    return false;
  auto isStart = [&](Value term) {
    return nest.depths.lookup(term) != ValueDepth::Lane && isMultiple(term);
  };
  Value x = op->getOperand(0), y = op->getOperand(1);
  return (countsLanes(nest, x) && isStart(y)) ||
         (countsLanes(nest, y) && isStart(x));
}

/// Whether it draws the blocks of a row, all of them in whole.
bool KernelEmitter::drawsBlocks(const KernelNest &nest, DrawOp draw) {
  auto isLane = [&](Value value) {
    return nest.depths.lookup(value) == ValueDepth::Lane;
  };
  return countsLanes(nest, draw.getElement()) && !isLane(draw.getKey()) &&
         !isLane(draw.getRow());
}

void KernelEmitter::findDraws(const KernelNest &nest) {
  for (auto draw : nest.getBody().getOps<DrawOp>())
    if (drawsBlocks(nest, draw))
      drawn[draw] = scratch(b.getF32Type(), kGroup);
}

bool KernelEmitter::hasDraws(const KernelNest &nest) const {
  return llvm::any_of(nest.getBody().getOps<DrawOp>(),
                      [&](DrawOp draw) { return drawn.contains(draw); });
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Lane 4 g + j has block 4 j + g: chunk j then takes two interleavings.
static SmallVector<int64_t> getBlockOrder() {
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    order.push_back(lane % kQuad * kQuad + lane / kQuad);
  return order;
}

/// Of each four lanes of `x` and `y`, the lower or upper halves: pairs of
/// `width` lanes of the one and the other in turn.
static Value interleave(OpBuilder &b, Location loc, Value x, Value y,
                        int64_t width, bool upper) {
  SmallVector<int64_t> lanes;
  for (int64_t group = 0; group < kLanes; group += kQuad)
    for (int64_t from = group + 2 * upper; from < group + 2 * upper + 2;
         from += width)
      for (int64_t source : {int64_t(0), kLanes})
        for (int64_t lane = 0; lane < width; ++lane)
          lanes.push_back(source + from + lane);
  return vector::ShuffleOp::create(b, loc, x, y, lanes);
}

/// Turns vectors of the first, second, third and fourth numbers of blocks into
/// vectors of the numbers of chunks.
static std::array<Value, 4> toChunks(OpBuilder &b, Location loc,
                                     ArrayRef<Value> numbers) {
  std::array<Value, 4> chunks;
  for (bool upper : {false, true}) {
    Value low = interleave(b, loc, numbers[0], numbers[1], 1, upper);
    Value high = interleave(b, loc, numbers[2], numbers[3], 1, upper);
    for (bool second : {false, true})
      chunks[2 * upper + second] = interleave(b, loc, low, high, 2, second);
  }
  return chunks;
}

/// Writes the numbers of a group: to where, of which key, row and first block.
static void buildGroup(OpBuilder &b, Location loc, PhiloxKind kind,
                       ValueRange arguments) {
  auto lanes = VectorType::get({kLanes}, b.getI64Type());
  Value order =
      arith::ConstantOp::create(b, loc, b.getI64VectorAttr(getBlockOrder()));
  auto repeat = [&](Value number) -> Value {
    return vector::BroadcastOp::create(b, loc, lanes, number);
  };
  Value block = arith::AddIOp::create(b, loc, repeat(arguments[3]), order);
  std::array<Value, 4> chunks =
      toChunks(b, loc,
               buildPhiloxBlock(b, loc, kind, repeat(arguments[1]),
                                repeat(arguments[2]), block));
  for (auto [i, chunk] : llvm::enumerate(chunks)) {
    Value to =
        LLVM::GEPOp::create(b, loc, arguments[0].getType(), b.getF32Type(),
                            arguments[0], LLVM::GEPArg(int32_t(i * kLanes)));
    LLVM::StoreOp::create(b, loc, chunk, to, /*alignment=*/64);
  }
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

/// Returns the numbers of lanes of keys, rows and elements.
static void buildLanes(OpBuilder &b, Location loc, PhiloxKind kind,
                       ValueRange arguments) {
  Value numbers =
      buildPhiloxNumber(b, loc, kind, arguments[0], arguments[1], arguments[2]);
  LLVM::ReturnOp::create(b, loc, numbers);
}

/// The function of the module that draws a group, or for lanes.
LLVM::LLVMFuncOp KernelEmitter::getDrawFunction(PhiloxKind kind, bool group) {
  auto module = function->getParentOfType<ModuleOp>();
  std::string name =
      ("draw_" + stringifyPhiloxKind(kind) + (group ? "_group" : "_lanes"))
          .str();
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(module.getBody());
  Type number = b.getI64Type(), lanes = lanesOf(number);
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type nothing = LLVM::LLVMVoidType::get(b.getContext());
  auto type = group ? LLVM::LLVMFunctionType::get(
                          nothing, {pointer, number, number, number})
                    : LLVM::LLVMFunctionType::get(lanesOf(b.getF32Type()),
                                                  {lanes, lanes, lanes});
  auto draw =
      LLVM::LLVMFuncOp::create(b, loc, name, type, LLVM::Linkage::Internal);
  Block *entry = draw.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  (group ? buildGroup : buildLanes)(b, loc, kind, entry->getArguments());
  return draw;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// A number of a lane, at the first lane of a chunk.
Value KernelEmitter::firstOf(const KernelNest &nest, Value number) {
  if (nest.depths.lookup(number) != ValueDepth::Lane)
    return getScalar(nest, number, /*lanes=*/false);
  Operation *op = number.getDefiningOp();
  if (std::optional<unsigned> dim = nest.getIndexDim(op))
    return indices[*dim];
  Value x = firstOf(nest, op->getOperand(0));
  return arith::AddIOp::create(b, loc, x, firstOf(nest, op->getOperand(1)));
}

/// Draws for the group of chunks that begins at `index`.
void KernelEmitter::startDraws(const KernelNest &nest, Value index) {
  indices.back() = drawStart = index;
  for (auto draw : nest.getBody().getOps<DrawOp>()) {
    Value numbers = drawn.lookup(draw);
    if (!numbers)
      continue;
    Value first = firstOf(nest, draw.getElement());
    first = arith::DivUIOp::create(b, loc, first, constant(kQuad));
    Value key = getScalar(nest, draw.getKey(), /*lanes=*/false);
    Value row = getScalar(nest, draw.getRow(), /*lanes=*/false);
    LLVM::CallOp::create(b, loc,
                         getDrawFunction(draw.getKind(), /*group=*/true),
                         ValueRange{numbers, key, row, first});
  }
  indices.back() = nullptr;
}

/// The number of an element or of each lane.
Value KernelEmitter::drawNumbers(const KernelNest &nest, DrawOp draw) {
  if (Value numbers = drawn.lookup(draw)) {
    Value place = arith::SubIOp::create(b, loc, indices.back(), drawStart);
    return LLVM::LoadOp::create(b, loc, lanesOf(b.getF32Type()),
                                offset(numbers, b.getF32Type(), place),
                                /*alignment=*/64);
  }
  SmallVector<Value> arguments;
  for (Value operand : draw->getOperands())
    arguments.push_back(getScalar(nest, operand, /*lanes=*/true));
  Value lanes =
      LLVM::CallOp::create(
          b, loc, getDrawFunction(draw.getKind(), /*group=*/false), arguments)
          .getResult();
  if (nest.depths.lookup(draw) == ValueDepth::Lane)
    return lanes;
  return vector::ExtractOp::create(b, loc, lanes, ArrayRef<int64_t>{0});
}

/// Runs `body` for the whole chunks of [from, to), in groups where blocks are
/// drawn.
KernelEmitter::Values KernelEmitter::emitChunks(
    const KernelNest &nest, Value from, Value to, const Values &args,
    function_ref<Values(Value, Values)> body, int32_t unroll) {
  if (!hasDraws(nest))
    return emitLoop(from, to, kLanes, args, body, unroll);
  return emitLoop(from, to, kGroup, args, [&](Value first, Values values) {
    startDraws(nest, first);
    Value last = arith::AddIOp::create(b, loc, first, constant(kGroup));
    last = arith::MinSIOp::create(b, loc, last, to);
    return emitLoop(first, last, kLanes, values, body);
  });
}
