//===- ProgressBar.cpp - One line of a terminal that redraws itself -------===//

#include "weft/Runtime/Reports/Progress.h"

#include "weft/Base/StandardStreams.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sys/ioctl.h>
#include <tuple>
#include <unistd.h>

using namespace weft;

/// Called for every drawing, so that resizes need no signal handler.
static int terminalColumns() {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  const char *text = std::getenv("COLUMNS");
  int columns = text ? std::atoi(text) : 0;
  return columns > 0 ? columns : 80;
}

std::string weft::fitFields(const std::vector<ProgressField> &fields,
                            size_t room) {
  std::vector<size_t> order(fields.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tie(fields[a].rank, a) < std::tie(fields[b].rank, b);
  });
  std::vector<bool> shown(fields.size());
  size_t used = 0;
  for (size_t i : order) {
    // Drop all fields from the first one that does not fit: no shown field is
    // less important than a dropped one.
    if (fields[i].rank > 0 && used + fields[i].text.size() > room)
      break;
    shown[i] = true;
    used += fields[i].text.size();
  }
  std::string line;
  for (size_t i = 0; i < fields.size(); ++i)
    if (shown[i])
      line += fields[i].text;
  return line.substr(0, room);
}

/// "[####......] "
static std::string cells(int width, int64_t step, int64_t lastStep) {
  int filled =
      lastStep > 0 ? int(double(width) * double(step) / lastStep) : width;
  std::string text(size_t(std::min(filled, width)), '#');
  text.resize(size_t(width), '.');
  return "[" + text + "] ";
}

void Progress::bar(const StepReport &report) {
  // Draw at most 20 times per second: drawing costs more than a small step.
  auto now = std::chrono::steady_clock::now();
  bool last = report.step == lastStep;
  if (barOpen && !last && now - barDrawn < std::chrono::milliseconds(50))
    return;
  barDrawn = now;
  // The last column stays free: writing to it wraps on some terminals.
  const size_t room = size_t(std::max(terminalColumns() - 1, 1));
  std::vector<ProgressField> shown = fields(report);
  shown.insert(shown.begin(), {cells(10, report.step, lastStep), 2});
  std::string line = fitFields(shown, room);
  if (line.size() + 10 <= room) {
    shown[0].text = cells(20, report.step, lastStep);
    line = fitFields(shown, room);
  }
  std::printf("\r\033[K%s", line.c_str());
  flushOutput();
  barOpen = true;
}
