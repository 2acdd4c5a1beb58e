//===- CallRecords.cpp - The record of a plan's command -------------------===//

#include "weft/Lowering/Cpu/CallRecords.h"

#include "weft/Runtime/Abi.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"

#include <cstddef>

using namespace mlir;

namespace weft {

static WeftCommandKind getKind(StringRef routine) {
  return llvm::StringSwitch<WeftCommandKind>(routine)
#define WEFT_CASE(number, KIND, name, Record)                                  \
  .Case("weft_cpu_" #name, WEFT_##KIND)
      WEFT_COMMAND_KINDS(WEFT_CASE)
#undef WEFT_CASE
          .Default(WEFT_KERNEL);
}

namespace {

/// Appends words to a record, from the numbers of one command. Each function
/// returns whether the command has as many numbers as it takes.
class RecordWriter {
public:
  RecordWriter(ArrayRef<int64_t> ints, ArrayRef<double> floats,
               SmallVectorImpl<int64_t> &words)
      : ints(ints), floats(floats), words(words) {}

  bool write(WeftCommandKind kind, size_t numBuffers);

private:
  bool has(size_t numInts, size_t numFloats) const {
    return ints.size() == numInts && floats.size() == numFloats;
  }
  /// Whether the command has `others` integers and, for each of the entries
  /// that integer `at` counts, `each`.
  bool hasList(size_t at, size_t others, size_t each) const {
    return ints.size() >= others && ints[at] >= 0 &&
           (ints.size() - others) % each == 0 &&
           (ints.size() - others) / each == size_t(ints[at]);
  }
  void add(ArrayRef<int64_t> list) { llvm::append_range(words, list); }
  void add(double value) { words.push_back(llvm::bit_cast<int64_t>(value)); }
  void addFloats() {
    for (double value : floats)
      add(value);
  }

  /// The integers and the floats are the fields in their order.
  bool writePlain(size_t numInts, size_t numFloats) {
    add(ints);
    addFloats();
    return has(numInts, numFloats);
  }
  bool writeAttention(size_t numStrides);
  bool writeCopy();
  bool writeConstant();
  bool writeNorm();
  bool writeTotalNorm();

  ArrayRef<int64_t> ints;
  ArrayRef<double> floats;
  SmallVectorImpl<int64_t> &words;
};

/// Eight sizes, the strides, a type.
bool RecordWriter::writeAttention(size_t numStrides) {
  if (!has(9 + numStrides, 2))
    return false;
  add(ints.take_front(8));
  add(ints.take_back(1));
  addFloats();
  add(ints.slice(8, numStrides));
  return true;
}

/// The bytes of an element and the rank, then sizes, strides from and to.
bool RecordWriter::writeCopy() {
  if (ints.size() < 2 || !hasList(1, 2, 3) || !floats.empty())
    return false;
  add(ints.take_front(2));
  size_t rank = ints[1];
  for (size_t i = 0; i < rank; ++i)
    add({ints[2 + i], ints[2 + rank + i], ints[2 + 2 * rank + i]});
  return true;
}

/// A type and a count, then integers, or floats alone.
bool RecordWriter::writeConstant() {
  bool isRight = ints.size() == 2
                     ? floats.size() == size_t(ints[1])
                     : ints.size() > 2 && hasList(1, 2, 1) && floats.empty();
  add(ints);
  addFloats();
  return isRight;
}

/// How many gradients, then their elements and their types.
bool RecordWriter::writeNorm() {
  if (ints.empty() || !hasList(0, 1, 2) || floats.size() != 1)
    return false;
  addFloats();
  add(ints.take_front(1));
  size_t count = ints[0];
  for (size_t i = 0; i < count; ++i)
    add({ints[1 + i], ints[1 + count + i]});
  return true;
}

bool RecordWriter::writeTotalNorm() {
  addFloats();
  add(ints);
  return has(2, 1);
}

bool RecordWriter::write(WeftCommandKind kind, size_t numBuffers) {
  switch (kind) {
  case WEFT_KERNEL:
    return true;
  case WEFT_GEMM:
    return writePlain(16, 0);
  case WEFT_ATTENTION:
    return writeAttention(12);
  case WEFT_ATTENTION_GRAD:
    return writeAttention(24);
  case WEFT_CROSS_ENTROPY:
  case WEFT_CROSS_ENTROPY_GRAD:
    return writePlain(7, 1);
  case WEFT_EMBEDDING:
    return writePlain(5, 0);
  case WEFT_EMBEDDING_GRAD:
    return writePlain(7, 0);
  case WEFT_COPY:
    return writeCopy();
  case WEFT_FILL:
    return writePlain(2, 1);
  case WEFT_CONSTANT:
    return writeConstant();
  case WEFT_ACCUMULATE:
    return writePlain(2, 0);
  case WEFT_RANDOM_NORMAL:
  case WEFT_RANDOM_UNIFORM:
    return writePlain(3, 2);
  case WEFT_DROPOUT:
    return writePlain(4, 1);
  case WEFT_NORM_AND_CHECK:
    return writeNorm();
  case WEFT_TOTAL_NORM:
    return writeTotalNorm();
  case WEFT_CLIP_COEFFICIENT:
    add(ArrayRef<int64_t>{numBuffers > 3});
    return has(0, 0);
  case WEFT_STEP_INCREMENT:
    add(ArrayRef<int64_t>{1});
    return has(0, 0);
  case WEFT_SCALER_UPDATE:
    return writePlain(4, 3);
  case WEFT_ADAMW:
  case WEFT_ADAM:
    return writePlain(4, 2);
  case WEFT_SGD:
    return writePlain(5, 2);
  }
  llvm_unreachable("a kind that is not in Records.h");
}

} // namespace

FailureOr<CallRecord> getCallRecord(plan::CommandOpInterface command) {
  CallRecord record;
  if (command.isKernel())
    return record;
  record.kind = getKind(command.getRoutine());
  SmallVector<int64_t> ints = command.getIntArguments();
  SmallVector<double> floats = command.getFloatArguments();
  if (RecordWriter(ints, floats, record.words)
          .write(record.kind, command.getCommandBuffers().size()))
    return record;
  command->emitOpError("expects the numbers that ")
      << command.getRoutine() << " takes, but got " << ints.size()
      << " integers and " << floats.size() << " floats";
  return failure();
}

} // namespace weft
