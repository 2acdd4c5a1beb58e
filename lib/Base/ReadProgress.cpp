//===- ReadProgress.cpp - Progress of a file that takes long --------------===//

#include "weft/Base/ReadProgress.h"

#include "weft/Base/CountText.h"
#include "weft/Base/Text.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace weft {

static std::atomic<bool> isShown = false, isBusy = false;

static constexpr std::chrono::milliseconds kFirst(2000), kRedraw(200),
    kLine(30000);

/// Whether standard error is a terminal that can redraw a line.
static bool canRedrawErrors() {
  const char *terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) &&
         (!terminal || std::string_view(terminal) != "dumb");
}

void ReadProgress::show(bool shows) { isShown = shows; }

ReadProgress::ReadProgress(const char *verb, std::string path, int64_t total,
                           std::string totalText)
    : verb(verb), path(std::move(path)), total(total),
      totalText(std::move(totalText)),
      reports(isShown && !isBusy.exchange(true)), next(Clock::now() + kFirst) {}

ReadProgress::ReadProgress(std::string path, int64_t bytes)
    : ReadProgress("reading", std::move(path), bytes, humanBytes(bytes)) {}

ReadProgress::ReadProgress(const char *verb, std::string path, int64_t rows)
    : ReadProgress(verb, std::move(path), rows, countText(rows, "row")) {}

ReadProgress::~ReadProgress() {
  if (hasLine)
    std::fputs("\r\033[K", stderr);
  if (reports)
    isBusy = false;
}

void ReadProgress::advance(int64_t count) {
  done += count;
  if (reports && done < total && Clock::now() >= next)
    report();
}

void ReadProgress::report() {
  const bool redraws = canRedrawErrors();
  const double percent = 100.0 * double(done) / double(total);
  const std::string text = std::string(verb) + " " + printable(path, 40) +
                           ": " + numberText(percent, 3) + " % of " + totalText;
  std::fprintf(stderr, redraws ? "\r\033[K%s" : "%s\n", text.c_str());
  std::fflush(stderr);
  hasLine = redraws;
  next = Clock::now() + (redraws ? kRedraw : kLine);
}

} // namespace weft
