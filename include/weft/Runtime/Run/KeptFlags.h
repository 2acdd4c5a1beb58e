//===- KeptFlags.h - Flags that a resumed run keeps -------------*- C++ -*-===//
//
// A checkpoint records the flags of its run. A resumed run takes the flags that
// its command line does not give, and names the settings that changed.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_KEPTFLAGS_H
#define WEFT_RUNTIME_RUN_KEPTFLAGS_H

#include "weft/Base/Flags.h"
#include "weft/Formats/RunRecord.h"
#include "weft/Runtime/Execute/Metadata.h"

struct WeftExecutable;

namespace weft {

/// A run flag that checkpoints record.
struct KeptFlag {
  const char *name;
  bool named;     // results depend on it: a warning names a change
  bool isFile;    // recorded with its absolute path
  bool evaluates; // also taken by --eval-only
};

/// The flags that checkpoints record. All others belong to one start of the
/// program, to the machine, or to the state in the checkpoint (seed,
/// shuffling).
std::vector<KeptFlag> keptFlags();

/// The settings that a command line takes from its checkpoint.
struct KeptSettings {
  std::optional<RunRecord> record;
  std::vector<std::string> args; // "--lr=0.001"
  Settings inputs;               // the files among them that the run reads
};

/// Reads the manifest that `given` resumes from. Nothing without --resume, and
/// for --resume=auto without a checkpoint. A checkpoint of another model is a
/// checkpoint error that names the first difference.
Expected<KeptSettings> findKeptSettings(const FlagValues &given,
                                        const FlagTable &table,
                                        const Metadata &metadata,
                                        const WeftExecutable &executable);

/// Checks that the files that only the checkpoint names exist. Exit 3 as for a
/// file that cannot be opened; the hint says that the checkpoint names it.
Status checkInputsAreThere(const KeptSettings &kept);

/// The record of a run with the flags `values`, some of them from `kept`.
RunRecord recordOf(const FlagValues &values, const FlagTable &table,
                   const KeptSettings &kept, const Metadata &metadata);

/// The differences between the run of a checkpoint and this one, by flag:
/// "--lr was 0.001 in the checkpoint, now 0.002".
std::vector<std::string> changedSettings(const RunRecord &was,
                                         const RunRecord &now);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_KEPTFLAGS_H
