//===- TransferPrograms.h - Programs with copies and events -----*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_DEVICES_TRANSFERPROGRAMS_H
#define WEFT_TEST_UNIT_DEVICES_TRANSFERPROGRAMS_H

#include "weft/Abi/TransferRecords.h"
#include "weft/Runtime/Devices/Launch.h"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

namespace weft {

/// The commands of a program as weft-assign-streams makes them.
class TransferCommands {
public:
  struct Copy {
    int64_t from, to, bytes;
  };
  enum Event { Uploaded, Placed, Gathered, Arrived };

  /// Copies of inputs and outputs around commands that compute. Those left out
  /// are named by `without`: "record 0", "wait 3".
  TransferCommands(const std::vector<Copy> &inputs,
                   const std::vector<WeftCommand> &work,
                   const std::vector<Copy> &outputs,
                   const std::string &without = "")
      : without(without) {
    if (!inputs.empty()) {
      addEvent(WEFT_WAIT, 1, Placed);
      std::vector<int64_t> staged;
      for (const Copy &copy : inputs)
        staged.push_back(copy.from);
      add("upload", WEFT_UPLOAD, 1, 0, staged);
      addEvent(WEFT_RECORD, 1, Uploaded);
      addEvent(WEFT_WAIT, 0, Uploaded);
      addCopies(inputs);
      addEvent(WEFT_RECORD, 0, Placed);
    }
    list.insert(list.end(), work.begin(), work.end());
    addEvent(WEFT_WAIT, 0, Arrived);
    addCopies(outputs);
    addEvent(WEFT_RECORD, 0, Gathered);
    addEvent(WEFT_WAIT, 2, Gathered);
    std::vector<int64_t> staged;
    for (const Copy &copy : outputs)
      staged.push_back(copy.to);
    add("readback", WEFT_READBACK, 2, 0, staged);
    addEvent(WEFT_RECORD, 2, Arrived);
  }
  TransferCommands(const TransferCommands &) = delete;

  const WeftCommand *data() const { return list.data(); }
  int32_t size() const { return int32_t(list.size()); }

private:
  static void copyPort(WeftContext *context, const WeftCommand *command,
                       void *const *buffers) {
    copyOnDevice(*context, *command, buffers[1], buffers[0],
                 *static_cast<const int64_t *>(command->record));
  }

  WeftCommand &add(const char *name, int32_t kind, int64_t stream,
                   int64_t event, std::vector<int64_t> buffers) {
    WeftCommand command = {};
    command.name = name;
    command.scope = "";
    command.kind = kind;
    offsets.push_back(std::move(buffers));
    command.offsets = offsets.back().data();
    command.numBuffers = int32_t(offsets.back().size());
    records.push_back({stream, event});
    command.record = &records.back();
    command.recordBytes = sizeof records.back();
    list.push_back(command);
    return list.back();
  }
  void addEvent(int32_t kind, int64_t stream, int64_t event) {
    const char *name = transferName(kind);
    if (without != std::string(name) + " " + std::to_string(event))
      add(name, kind, stream, event, {});
  }
  void addCopies(const std::vector<Copy> &copies) {
    for (const Copy &copy : copies) {
      WeftCommand &command =
          add("copy", WEFT_COPY, copy.bytes, 0, {copy.from, copy.to});
      command.library = copyPort; // its record begins with the bytes
    }
  }

  std::string without;
  std::vector<WeftCommand> list;
  std::deque<std::vector<int64_t>> offsets;
  std::deque<WeftTransferRecord> records;
};

} // namespace weft

#endif // WEFT_TEST_UNIT_DEVICES_TRANSFERPROGRAMS_H
