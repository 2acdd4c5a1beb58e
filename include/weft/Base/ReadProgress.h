//===- ReadProgress.h - Progress of a file that takes long ------*- C++ -*-===//

#ifndef WEFT_BASE_READPROGRESS_H
#define WEFT_BASE_READPROGRESS_H

#include <chrono>
#include <cstdint>
#include <string>

namespace weft {

/// Reports on standard error how far a file has been read, or its rows have
/// been used, if that takes more than two seconds: a terminal shows one line
/// that is redrawn, other outputs get a line every 30 seconds. Nothing is
/// reported before show() was called. Of several objects at the same time one
/// reports.
class ReadProgress {
public:
  ReadProgress(std::string path, int64_t bytes);
  /// Of `rows` rows of a file: "predicting data.txt: 40 % of 1200 rows".
  ReadProgress(const char *verb, std::string path, int64_t rows);
  /// Removes the line of a terminal.
  ~ReadProgress();
  ReadProgress(const ReadProgress &) = delete;
  ReadProgress &operator=(const ReadProgress &) = delete;

  /// By bytes, or rows.
  void advance(int64_t count);

  /// Turns reports of this process on or off.
  static void show(bool shows);

private:
  using Clock = std::chrono::steady_clock;
  ReadProgress(const char *verb, std::string path, int64_t total,
               std::string totalText);
  void report();

  const char *const verb;
  const std::string path;
  const int64_t total;
  const std::string totalText;
  int64_t done = 0;
  const bool reports; // this object is the one that does
  bool hasLine = false;
  Clock::time_point next;
};

} // namespace weft

#endif // WEFT_BASE_READPROGRESS_H
