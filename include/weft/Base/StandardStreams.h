//===- StandardStreams.h - Descriptors 0 to 2 of every program --*- C++ -*-===//
//
// A program starts with reserveStandardStreams(), and main returns
// finishOutput() of its exit status.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_STANDARDSTREAMS_H
#define WEFT_BASE_STANDARDSTREAMS_H

#include <string>
#include <string_view>

namespace weft {

/// Opens every closed descriptor of 0 to 2. Otherwise a file that the program
/// opens later would get such a number, and output for the terminal would go
/// into it. They are opened on /dev/null in the wrong direction, so that using
/// one still fails. A reader of standard output that exits makes later writes
/// fail (EPIPE) instead of raising a signal, which could end the program during
/// a save.
void reserveStandardStreams();

/// How a failed write to standard output is reported.
enum class ReaderGone {
  Quiet,   // `tool | head`, a sample: nothing more to say
  Reported // a run, whose progress somebody wanted
};

/// Flushes standard output; finishOutput() says if that fails.
void flushOutput();

/// Whether a write to standard output has failed.
bool outputHasFailed();

/// Flushes and closes standard output. If some of it was not written, a message
/// and exit status 8 instead of `status` 0; other failures keep theirs.
int finishOutput(int status, ReaderGone gone = ReaderGone::Quiet);

/// Writes to standard output; finishOutput() says if that fails, and why.
void printText(std::string_view text);

/// Writes text from outside, such as names in a file, with its control bytes
/// spelt out (escaped()) but for line ends.
void printEscaped(std::string_view text);

/// The environment variable by which `weft launch` tells its ranks where their
/// output goes: mpirun gives each a terminal of its own. Its value is the
/// number of columns of a terminal that can redraw a line, 0 for another
/// terminal, or kNoTerminal.
inline constexpr char kTerminalVariable[] = "WEFT_TERMINAL_COLUMNS";
inline constexpr char kNoTerminal[] = "none";

/// Whether standard output is a terminal that can redraw a line: TERM is not
/// `dumb`.
bool canRedrawOutput();
/// Columns of the terminal that standard output is; COLUMNS if the terminal
/// does not tell, else 80. A file or a pipe has 80.
int outputColumns();
/// The columns of kTerminalVariable; 0 without columns.
int launcherColumns();

/// Text from a model, which may contain any byte. For a terminal, control bytes
/// other than line ends and tabs are spelt out (escaped()); a file or a pipe
/// gets every byte as it is.
std::string forTerminal(std::string_view text);

} // namespace weft

#endif // WEFT_BASE_STANDARDSTREAMS_H
