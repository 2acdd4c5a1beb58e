//===- ReportCharts.h - Charts of weft report as SVG ------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_REPORTCHARTS_H
#define WEFT_TOOLS_WEFT_REPORTCHARTS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/// Text for HTML: markup and control bytes are escaped, since names may come
/// from a file of somebody else.
std::string htmlText(std::string_view text);

/// Values by x in ascending order; a value that is not finite is a gap.
struct ChartSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

enum class ChartUnit { Number, Bytes };

struct Chart {
  std::string title, xTitle;
  std::vector<ChartSeries> series;
  ChartUnit unit = ChartUnit::Number;
  bool startsAtZero = false; // the axis of the values
  bool isStepwise = false;   // a value holds until the next x
  /// Positions of vertical lines, such as skipped steps.
  std::vector<double> marks;
};

/// A `figure` with the chart, a legend, and the drawn values as JSON, which the
/// script of the page shows under the pointer. A series of more than 1200
/// points is thinned; the least and the largest values stay.
std::string drawChart(const Chart &chart);

enum class SliceKind { Generated, Library, Collective, Event };

/// A command of a step.
struct Slice {
  SliceKind kind = SliceKind::Library;
  int64_t stream = 0;
  double beginUs = 0, us = 0;
  std::string program, name, scope;
};

/// A `figure` with a row for each stream. Of more than 20,000 slices the
/// longest are drawn.
std::string drawTimeline(const std::vector<Slice> &slices);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_REPORTCHARTS_H
