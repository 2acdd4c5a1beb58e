//===- InspectViews.h - The views of weft inspect ---------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_INSPECTVIEWS_H
#define WEFT_TOOLS_WEFT_INSPECTVIEWS_H

#include "ToolCommands.h"

#include "weft/Base/Error.h"
#include "weft/Formats/Json.h"

#include <string>
#include <vector>

namespace weft {

/// Sections of the ELF file.
struct ProgramFile {
  std::string metadata; // .weft.meta: JSON
  struct Images {
    std::string chip;  // "sm_90" for .weft.sm_90
    std::string bytes; // cubins (weft/Formats/Cubin.h)
  };
  std::vector<Images> images; // in the order of the sections
};

/// Exit 3 if the file is none that `weft compile` made.
Expected<ProgramFile> readProgramFile(const std::string &path);

/// A list with an object for each kernel of each image of the program: `chip`,
/// `name`, `generated`, `registers`, `shared_bytes`, `local_bytes`,
/// `stack_bytes`, `code_bytes`, `threads` [x, y, z] of a block and `blocks` of
/// the grid. A size is null if each launch decides it. Exit 3 if an image is
/// broken.
Expected<Json> describeImages(const ProgramFile &program, const Json &metadata);

/// Prints that list as a table.
void printImages(const Json &kernels);

/// A value of the metadata as text: names may come from a file of somebody
/// else. "" for null.
std::string viewText(const Json *value);
/// Whether an object has a field that is true.
bool isSet(const Json &json, const char *field);

/// Prints the configuration, update groups and parameters of the metadata.
void printParameters(const Json &metadata);

/// The memory report of a program's metadata, for people.
std::string memoryText(const Json &metadata);

/// Whether a view is asked for that takes a model and the flags of weft
/// compile.
bool asksAboutModel(const Arguments &args);

/// `weft inspect MODEL --activations|--tradeoff`.
Expected<ExitCode> inspectModel(const Arguments &args);

/// For the help of weft inspect.
FlagTable modelViewFlags();

/// Whether the path is a model: a folder with config.json, or such a file, or
/// a GGUF or .mlir file.
bool isModel(const std::string &path);

/// `weft inspect MODEL`: the sizes, weights and tokenizer of a model, and the
/// commands that take it.
Expected<ExitCode> inspectSummary(const std::string &model, bool isJson);

/// The fields `mesh`, `sharding` and `parameters` of the metadata and the
/// values derived from them, as an object:
/// - `ranks`, `zero`, `mesh`;
/// - `bytes`: bytes of a rank and of the whole state, by kind of state;
/// - `buckets`: `elements`, `padding`, `states` and `ranges` of each, where
///   `ranges` is the [begin, end) of the parameters that each rank holds;
/// - `parameters`: `bucket`, `begin`, `end`, `whole` (every rank holds all of
///   it) and `ranks` of each, where `ranks` is the first and the last of
///   neighbouring ranks that hold a part.
///
/// `ranges` and `ranks` end after 1024 entries; later ranks repeat the entry
/// `slices` ranks before them. Null for one rank without a mesh. Exit 3 if the
/// fields contradict each other.
Expected<Json> expandSharding(const Json &metadata);

/// Prints that object as tables.
void printSharding(const Json &sharding);

/// Adds up the trace that a program's --trace wrote, per kernel and per scope.
/// `digest` is the digest of the program's metadata `meta`; a trace with
/// another digest is an error. The result is the output of `weft inspect
/// --profile --json`.
Expected<Json> makeProfile(const Json &meta, const std::string &digest,
                           const std::string &tracePath);

/// The profile as tables on standard output.
void printProfile(const Json &profile);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_INSPECTVIEWS_H
