//===- Unpack.cpp - The tables of a compiled program as structs -----------===//

#include "weft/Runtime/Unpack.h"

using namespace weft;

namespace {

/// Reads records in the order that Abi.h gives.
class RecordReader {
public:
  explicit RecordReader(const WeftTables &packed)
      : packed(packed), at(packed.records) {}

  WeftCommand command();
  WeftPort port();
  WeftTensor tensor();
  int64_t word() { return *at++; }
  int32_t small() { return static_cast<int32_t>(word()); }
  const char *text() { return packed.texts + word(); }

private:
  const int64_t *ints() { return packed.ints + word(); }

  const WeftTables &packed;
  const int64_t *at;
};

WeftCommand RecordReader::command() {
  WeftCommand made = {};
  made.name = text();
  made.scope = text();
  int64_t kernel = word(), library = word();
  made.kernel = kernel < 0 ? nullptr : packed.kernels[kernel];
  made.library = library < 0 ? nullptr : packed.libraries[library];
  made.offsets = ints();
  made.numBuffers = small();
  made.ints = ints();
  made.numInts = small();
  made.floats = packed.floats + word();
  made.numFloats = small();
  made.extent = word();
  made.grain = word();
  return made;
}

WeftPort RecordReader::port() {
  WeftPort made = {};
  made.name = text();
  made.dtype = small();
  made.rank = small();
  made.dims = ints();
  made.offset = word();
  made.bytes = word();
  return made;
}

WeftTensor RecordReader::tensor() {
  WeftTensor made = {};
  made.name = text();
  made.param = text();
  made.source = text();
  made.kind = small();
  made.dtype = small();
  made.rank = small();
  made.trainable = small();
  made.dims = ints();
  made.offset = word();
  made.bytes = word();
  return made;
}

} // namespace

UnpackedTables::UnpackedTables(const WeftTables &packed) {
  unpacked.abiVersion = packed.abiVersion;
  if (packed.abiVersion != WEFT_ABI_VERSION)
    return;
  RecordReader reader(packed);
  for (int32_t i = 0; i < packed.numPrograms; ++i) {
    WeftProgram program = {};
    program.name = reader.text();
    program.numCommands = reader.small();
    program.numInputs = reader.small();
    program.numOutputs = reader.small();
    std::vector<WeftCommand> &list = commands.emplace_back();
    for (int32_t k = 0; k < program.numCommands; ++k)
      list.push_back(reader.command());
    std::vector<WeftPort> &ends = ports.emplace_back();
    for (int32_t k = 0; k < program.numInputs + program.numOutputs; ++k)
      ends.push_back(reader.port());
    program.commands = list.data();
    program.inputs = ends.data();
    program.outputs = ends.data() + program.numInputs;
    programs.push_back(program);
  }
  for (int32_t i = 0; i < packed.numTensors; ++i)
    tensors.push_back(reader.tensor());
  unpacked.numPrograms = packed.numPrograms;
  unpacked.numTensors = packed.numTensors;
  unpacked.programs = programs.data();
  unpacked.tensors = tensors.data();
  unpacked.arenaBytes = packed.arenaBytes;
  unpacked.metadata = packed.metadata;
  unpacked.metadataBytes = packed.metadataBytes;
}
