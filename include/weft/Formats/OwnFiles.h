//===- OwnFiles.h - Outputs replace only what weft wrote --------*- C++ -*-===//
//
// A command may be run again and replace its earlier output. Any other file
// under the name of an output stays, unless the user asks for the contrary.
// Outputs are marked. Text has a last line with a digest, which also tells
// whether somebody edited it since.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_OWNFILES_H
#define WEFT_FORMATS_OWNFILES_H

#include "weft/Base/OutputFile.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// The entry of `__metadata__` in safetensors files that weft writes for people
/// to look at. Its value names their contents: "gradients". Weights have none.
constexpr const char *writtenByKey = "weft";

enum class FileOrigin {
  Weft,   // written by weft
  Edited, // written by weft and changed since
  Other
};

/// The origin of a regular file. Weft: an ELF file with a section `.weft.*`; a
/// safetensors file with `writtenByKey`; a trace, timeline or tuning file in
/// JSON; sealed text; a file of tokens with their digest in its header; a
/// reproducer of a pass; an empty file.
FileOrigin originOf(const std::string &path);

/// Whether a safetensors file has the entry `writtenByKey`.
bool hasOwnEntry(const std::string &path);

/// `text` and a last line: a comment that begins with `comment`, has the digest
/// of the lines before it and ends with `close`, which is "" or " -->".
std::string sealText(std::string text, std::string_view comment,
                     std::string_view close = "");

/// An output that exists was written by weft, unless the user `overwrites`.
/// Else a usage error. Devices, pipes and folders are not looked at, nor is
/// "-", standard output.
Status checkReplaced(const std::vector<FileUse> &outputs, bool overwrites);

} // namespace weft

#endif // WEFT_FORMATS_OWNFILES_H
