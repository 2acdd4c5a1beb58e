//===- Unpack.cpp - The tables of a compiled program as structs -----------===//

#include "weft/Runtime/Execute/Unpack.h"

using namespace weft;

namespace {

/// Unpacks structs field by field: one function for each type of a packed
/// field.
class Unpacker {
public:
  Unpacker(const WeftTables &tables,
           const std::vector<WeftDeviceKernel> &deviceKernels)
      : tables(tables), deviceKernels(deviceKernels) {}

#define WEFT_UNPACK_FIELD(How, field) unpackField(packed.field, made.field);
  WeftProgram unpack(const WeftPackedProgram &packed) const {
    WeftProgram made = {};
    WEFT_PROGRAM_FIELDS(WEFT_UNPACK_FIELD)
    return made;
  }
  WeftCommand unpack(const WeftPackedCommand &packed) const {
    WeftCommand made = {};
    WEFT_COMMAND_FIELDS(WEFT_UNPACK_FIELD)
    return made;
  }
  WeftPort unpack(const WeftPackedPort &packed) const {
    WeftPort made = {};
    WEFT_PORT_FIELDS(WEFT_UNPACK_FIELD)
    return made;
  }
  WeftTensor unpack(const WeftPackedTensor &packed) const {
    WeftTensor made = {};
    WEFT_TENSOR_FIELDS(WEFT_UNPACK_FIELD)
    return made;
  }
  WeftSegment unpack(const WeftPackedSegment &packed) const {
    WeftSegment made = {};
    WEFT_SEGMENT_FIELDS(WEFT_UNPACK_FIELD)
    return made;
  }
  WeftDeviceKernel unpack(const WeftPackedKernelLaunch &packed) const {
    WeftDeviceKernel made = {};
    WEFT_DEVICE_KERNEL_FIELDS(WEFT_UNPACK_FIELD)
    return made;
  }
#undef WEFT_UNPACK_FIELD

private:
  void unpackField(WeftPackedWord word, int64_t &field) const { field = word; }
  void unpackField(WeftPackedSmall word, int32_t &field) const {
    field = static_cast<int32_t>(word);
  }
  void unpackField(WeftPackedText text, const char *&field) const {
    field = tables.texts + text.index;
  }
  void unpackField(WeftPackedList list, const int64_t *&field) const {
    field = tables.lists + list.index;
  }
  void unpackField(WeftPackedRecord record, const void *&field) const {
    field = record.offset < 0 ? nullptr : tables.records + record.offset;
  }
  void unpackField(WeftPackedKernel kernel, WeftKernelFn &field) const {
    field = kernel.index < 0 ? nullptr : tables.kernels[kernel.index];
  }
  void unpackField(WeftPackedDeviceKernel kernel,
                   const WeftDeviceKernel *&field) const {
    field = kernel.index < 0 ? nullptr : &deviceKernels[kernel.index];
  }
  void unpackField(WeftPackedLibrary routine, WeftLibraryFn &field) const {
    field = routine.index < 0 ? nullptr : tables.libraries[routine.index];
  }

  const WeftTables &tables;
  const std::vector<WeftDeviceKernel> &deviceKernels;
};

} // namespace

UnpackedTables::UnpackedTables(const WeftTables &packed) {
  unpacked.abiVersion = packed.abiVersion;
  if (packed.abiVersion != WEFT_ABI_VERSION)
    return;
  const Unpacker unpacker(packed, deviceKernels);
  for (int64_t i = 0; i < packed.numDeviceKernels; ++i)
    deviceKernels.push_back(unpacker.unpack(packed.deviceKernels[i]));
  const WeftPackedCommand *nextCommand = packed.commands;
  const WeftPackedPort *nextPort = packed.ports;
  for (int32_t i = 0; i < packed.numPrograms; ++i) {
    WeftProgram program = unpacker.unpack(packed.programs[i]);
    std::vector<WeftCommand> &list = commands.emplace_back();
    for (int32_t k = 0; k < program.numCommands; ++k)
      list.push_back(unpacker.unpack(*nextCommand++));
    std::vector<WeftPort> &ends = ports.emplace_back();
    for (int32_t k = 0; k < program.numInputs + program.numOutputs; ++k)
      ends.push_back(unpacker.unpack(*nextPort++));
    program.commands = list.data();
    program.inputs = ends.data();
    program.outputs = ends.data() + program.numInputs;
    programs.push_back(program);
  }
  const WeftPackedSegment *nextSegment = packed.segments;
  for (int32_t i = 0; i < packed.numTensors; ++i) {
    WeftTensor &tensor =
        tensors.emplace_back(unpacker.unpack(packed.tensors[i]));
    if (tensor.numSegments <= 0)
      continue;
    std::vector<WeftSegment> &list = segments.emplace_back();
    for (int32_t k = 0; k < tensor.numSegments; ++k)
      list.push_back(unpacker.unpack(*nextSegment++));
    tensor.segments = list.data();
  }
  unpacked.numPrograms = packed.numPrograms;
  unpacked.numTensors = packed.numTensors;
  unpacked.maxThreads = packed.maxThreads;
  unpacked.programs = programs.data();
  unpacked.tensors = tensors.data();
  unpacked.arenaBytes = packed.arenaBytes;
  unpacked.metadata = packed.metadata;
  unpacked.metadataBytes = packed.metadataBytes;
  unpacked.images = packed.images;
  unpacked.numImages = static_cast<int32_t>(packed.numImages);
}
