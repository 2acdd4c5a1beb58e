//===- StandardStreams.h - Descriptors 0 to 2 of every program --*- C++ -*-===//
//
// A program starts with reserveStandardStreams() and returns from main what
// finishOutput() makes of its exit status.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_STANDARDSTREAMS_H
#define WEFT_BASE_STANDARDSTREAMS_H

#include <string>
#include <string_view>

namespace weft {

/// Opens the descriptors 0 to 2 that are closed, before the program opens a
/// file that would get their number and, with it, what is meant for a terminal.
/// They lead to /dev/null the wrong way round, so that using one still fails.
/// A reader of standard output that goes away is a write that fails from then
/// on (EPIPE), not a signal that ends the program in the midst of a save.
void reserveStandardStreams();

/// What becomes of a failed write to standard output.
enum class ReaderGone {
  Quiet,   // `tool | head`: nothing more to say
  Reported // a run, whose progress somebody wanted
};

/// Flushes standard output; finishOutput() says if that fails.
void flushOutput();

/// Flushes and closes standard output. If some of it was not written, a message
/// and exit status 8 instead of `status` 0; other failures keep theirs.
int finishOutput(int status, ReaderGone gone = ReaderGone::Quiet);

/// Writes to standard output; finishOutput() says if that fails, and why.
void printText(std::string_view text);

/// Writes text from outside, such as names in a file, with its control bytes
/// spelt out (escaped()) but for line ends.
void printEscaped(std::string_view text);

/// What a model said, which may be anything: a terminal gets no control bytes
/// of it but line ends and tabs, a file or a pipe every byte.
std::string forTerminal(std::string_view text);

} // namespace weft

#endif // WEFT_BASE_STANDARDSTREAMS_H
