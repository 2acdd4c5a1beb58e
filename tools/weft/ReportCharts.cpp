//===- ReportCharts.cpp - Charts of weft report as SVG --------------------===//

#include "ReportCharts.h"

#include "weft/Base/Text.h"
#include "weft/Formats/Json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <tuple>

using namespace weft;

std::string weft::htmlText(std::string_view text) {
  std::string out;
  for (char letter : escaped(text, "\n\t"))
    switch (letter) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    case '\'':
      out += "&#39;";
      break;
    default:
      out += letter;
    }
  return out;
}

/// A coordinate in tenths of a pixel.
static std::string coordinate(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

namespace {
/// Values of an axis and where they lie in the picture.
struct Axis {
  double least = 0, most = 1; // values
  double begin = 0, end = 1;  // coordinates of both

  void include(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  double place(double value) const {
    return begin + (value - least) / (most - least) * (end - begin);
  }
};
} // namespace

/// 1, 2 or 5 times a power of ten, so that about `count` steps span the range.
static double tickStep(double range, int count) {
  const double power = std::pow(10, std::floor(std::log10(range / count)));
  for (double factor : {1.0, 2.0, 5.0})
    if (range / (factor * power) <= count)
      return factor * power;
  return 10 * power;
}

/// The same in powers of two, so that bytes are round numbers.
static double byteStep(double range, int count) {
  return std::pow(2, std::ceil(std::log2(std::max(range / count, 1.0))));
}

static std::vector<double> ticksOf(const Axis &axis, double step) {
  std::vector<double> ticks;
  const double first = std::ceil(axis.least / step - 1e-9);
  const double last = std::floor(axis.most / step + 1e-9);
  // Equal neighbours, where a step is lost in rounding, end the loop too.
  for (double tick = first; tick <= last && ticks.size() < 20; ++tick)
    ticks.push_back(tick * step + 0.0); // no negative zero
  return ticks;
}

/// Widens an axis around values that are all equal.
static void widen(Axis &axis) {
  if (axis.most > axis.least)
    return;
  const double room = std::max(std::abs(axis.least) / 10, 1e-12);
  axis.least -= axis.least == 0 ? 0 : room;
  axis.most += axis.most == 0 ? 1 : room;
}

//===----------------------------------------------------------------------===//
// Line charts
//===----------------------------------------------------------------------===//

using Points = std::vector<std::pair<double, double>>;

static constexpr double kWidth = 560, kHeight = 230, kLeft = 72, kRight = 12,
                        kTop = 12, kBottom = 40;
static constexpr size_t kMostPoints = 1200;

/// Keeps the least and the largest value, and a gap, of equal parts.
static Points thin(const Points &points) {
  if (points.size() <= kMostPoints)
    return points;
  const size_t parts = kMostPoints / 3;
  Points kept;
  for (size_t part = 0; part < parts; ++part) {
    const size_t begin = points.size() * part / parts;
    const size_t end = points.size() * (part + 1) / parts;
    size_t least = end, most = end, gap = end;
    for (size_t i = begin; i < end; ++i)
      if (!std::isfinite(points[i].second)) {
        gap = i;
      } else {
        if (least == end || points[i].second < points[least].second)
          least = i;
        if (most == end || points[i].second > points[most].second)
          most = i;
      }
    std::vector<size_t> chosen = {least, most, gap};
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    for (size_t i : chosen)
      if (i < end)
        kept.push_back(points[i]);
  }
  return kept;
}

/// Both axes; false if no value is finite.
static bool findAxes(const std::vector<ChartSeries> &series, const Chart &chart,
                     Axis &x, Axis &y) {
  bool isEmpty = true;
  for (const ChartSeries &one : series)
    for (const auto &[at, value] : one.points) {
      if (!std::isfinite(value))
        continue;
      if (isEmpty) {
        x.least = x.most = at;
        y.least = y.most = value;
      }
      isEmpty = false;
      x.include(at);
      y.include(value);
    }
  if (chart.startsAtZero)
    y.include(0);
  widen(x);
  widen(y);
  const double room = (y.most - y.least) * 0.04;
  y.most += room;
  y.least -= chart.startsAtZero && y.least >= 0 ? 0 : room;
  x.begin = kLeft, x.end = kWidth - kRight;
  y.begin = kHeight - kBottom, y.end = kTop;
  return !isEmpty;
}

static std::string lineOf(double x1, double y1, double x2, double y2,
                          const char *style) {
  return "<line class=\"" + std::string(style) + "\" x1=\"" + coordinate(x1) +
         "\" y1=\"" + coordinate(y1) + "\" x2=\"" + coordinate(x2) +
         "\" y2=\"" + coordinate(y2) + "\"/>\n";
}

static std::string textAt(double x, double y, const char *anchor,
                          const std::string &text) {
  return "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) +
         "\" text-anchor=\"" + anchor + "\">" + htmlText(text) + "</text>\n";
}

static std::string valueText(double value, ChartUnit unit) {
  return unit == ChartUnit::Bytes ? humanBytes(int64_t(std::llround(value)))
                                  : numberText(value, 6);
}

/// Ticks, their values and the title of the x axis. Steps are whole numbers.
static std::string drawAxes(const Chart &chart, const Axis &x, const Axis &y) {
  std::string out;
  const double yStep = chart.unit == ChartUnit::Bytes
                           ? byteStep(y.most - y.least, 5)
                           : tickStep(y.most - y.least, 5);
  for (double tick : ticksOf(y, yStep)) {
    out += lineOf(x.begin, y.place(tick), x.end, y.place(tick), "grid");
    out += textAt(x.begin - 6, y.place(tick) + 4, "end",
                  valueText(tick, chart.unit));
  }
  double xStep = tickStep(x.most - x.least, 8);
  if (chart.xTitle == "step")
    xStep = std::max(xStep, 1.0);
  for (double tick : ticksOf(x, xStep))
    out += textAt(x.place(tick), y.begin + 16, "middle", numberText(tick, 9));
  out += lineOf(x.begin, y.begin, x.end, y.begin, "axis");
  return out +
         textAt((x.begin + x.end) / 2, kHeight - 6, "middle", chart.xTitle);
}

/// A path without its gaps; a point with gaps on both sides is a dot.
static std::string drawSeries(const Points &points, bool isStepwise,
                              size_t number, const Axis &x, const Axis &y) {
  std::string path, dots;
  const std::string style = "s" + std::to_string(number % 4);
  auto isGap = [&](size_t i) {
    return i >= points.size() || !std::isfinite(points[i].second);
  };
  for (size_t i = 0; i < points.size(); ++i) {
    if (isGap(i))
      continue;
    const std::string across = coordinate(x.place(points[i].first));
    const std::string up = coordinate(y.place(points[i].second));
    const bool isFirst = i == 0 || isGap(i - 1);
    path += isFirst ? "M" + across + " " + up
                    : (isStepwise ? "H" + across + "V" + up
                                  : "L" + across + " " + up);
    if ((isFirst && isGap(i + 1)) || (!isStepwise && points.size() <= 40))
      dots += "<circle class=\"dot " + style + "\" cx=\"" + across +
              "\" cy=\"" + up + "\" r=\"2.2\"/>\n";
  }
  return "<path class=\"curve " + style + "\" d=\"" + path + "\"/>\n" + dots;
}

/// Text of a JSON value inside of a `script` element, which "</script" ends.
static std::string scriptJson(const Json &json) {
  std::string out;
  for (char letter : json.compact())
    out += letter == '<' ? "\\u003c" : std::string(1, letter);
  return out;
}

/// The numbers that the script of the page needs.
static std::string hoverData(const Chart &chart,
                             const std::vector<ChartSeries> &series,
                             const Axis &x) {
  Json data = Json::object();
  data.set("title", chart.title);
  data.set("x_title", chart.xTitle);
  data.set("bytes", chart.unit == ChartUnit::Bytes);
  data.set("range", Json::arrayOf(std::vector<double>{x.least, x.most}));
  data.set("place", Json::arrayOf(std::vector<double>{x.begin, x.end}));
  data.set("width", kWidth);
  Json list = Json::array();
  for (const ChartSeries &one : series) {
    Json entry = Json::object();
    entry.set("name", one.name);
    Json points = Json::array();
    for (const auto &[at, value] : one.points)
      points.push(Json::arrayOf(std::vector<double>{at, value}));
    entry.set("points", std::move(points));
    list.push(std::move(entry));
  }
  data.set("series", std::move(list));
  return "<script type=\"application/json\">" + scriptJson(data) +
         "</script>\n";
}

static std::string drawLegend(const std::vector<ChartSeries> &series) {
  std::string out;
  for (size_t i = 0; i < series.size(); ++i)
    out += " <span class=\"key k" + std::to_string(i % 4) + "\">" +
           htmlText(series[i].name) + "</span>";
  return out;
}

static std::string openSvg(double width, double height,
                           const std::string &title) {
  return "<svg viewBox=\"0 0 " + numberText(width) + " " + numberText(height) +
         "\" role=\"img\" aria-label=\"" + htmlText(title) + "\">\n";
}

std::string weft::drawChart(const Chart &chart) {
  std::vector<ChartSeries> series = chart.series;
  for (ChartSeries &one : series)
    one.points = thin(one.points);
  Axis x, y;
  if (!findAxes(series, chart, x, y))
    return "<p>" + htmlText(chart.title) + ": no value is finite.</p>\n";
  std::string out = "<figure class=\"chart\">\n<figcaption>" +
                    htmlText(chart.title) +
                    (series.size() > 1 ? drawLegend(series) : "") +
                    " <output></output></figcaption>\n";
  out += openSvg(kWidth, kHeight, chart.title) + drawAxes(chart, x, y);
  for (double mark : chart.marks)
    if (mark >= x.least && mark <= x.most)
      out += lineOf(x.place(mark), y.begin, x.place(mark), y.end, "mark");
  for (size_t i = 0; i < series.size(); ++i)
    out += drawSeries(series[i].points, chart.isStepwise, i, x, y);
  out += lineOf(-9, y.begin, -9, y.end, "cursor");
  return out + "</svg>\n" + hoverData(chart, series, x) + "</figure>\n";
}

//===----------------------------------------------------------------------===//
// Timelines
//===----------------------------------------------------------------------===//

static constexpr double kTimelineWidth = 1160, kRow = 30, kNames = 88;
static constexpr size_t kMostDrawn = 20000;

static const char *styleOf(SliceKind kind) {
  switch (kind) {
  case SliceKind::Generated:
    return "generated";
  case SliceKind::Library:
    return "library";
  case SliceKind::Collective:
    return "collective";
  case SliceKind::Event:
    return "event";
  }
  return "";
}

static std::string streamName(int64_t stream) {
  static const char *const kNames[] = {"compute", "upload", "readback",
                                       "gathers", "reductions"};
  return stream >= 0 && stream < 5 ? kNames[stream]
                                   : "stream " + std::to_string(stream);
}

static std::string drawSlice(const Slice &slice, const Axis &x, double top) {
  const double begin = x.place(slice.beginUs);
  const double width = std::max(x.place(slice.beginUs + slice.us) - begin, 0.2);
  return "<rect class=\"" + std::string(styleOf(slice.kind)) + "\" x=\"" +
         coordinate(begin) + "\" y=\"" + coordinate(top + 4) + "\" width=\"" +
         coordinate(width) + "\" height=\"" + coordinate(kRow - 8) +
         "\"><title>" + htmlText(slice.name) +
         (slice.scope.empty() ? "" : ", " + htmlText(slice.scope)) + " in " +
         htmlText(slice.program) + ": " + numberText(slice.us, 4) + " us at " +
         numberText(slice.beginUs / 1000, 5) + " ms</title></rect>\n";
}

/// A row for each stream, from the top.
static std::map<int64_t, double> rowsOf(const std::vector<Slice> &slices) {
  std::map<int64_t, double> rows;
  for (const Slice &slice : slices)
    rows[slice.stream] = 0;
  double top = 0;
  for (auto &row : rows) {
    row.second = top;
    top += kRow;
  }
  return rows;
}

static std::string drawMilliseconds(const Axis &x, double bottom) {
  std::string out;
  for (double tick : ticksOf(x, tickStep(x.most, 10))) {
    out += lineOf(x.place(tick), 0, x.place(tick), bottom, "grid");
    out += textAt(x.place(tick), bottom + 16, "middle",
                  numberText(tick / 1000, 6) + " ms");
  }
  return out;
}

std::string weft::drawTimeline(const std::vector<Slice> &all) {
  std::vector<Slice> slices = all;
  std::sort(slices.begin(), slices.end(), [](const Slice &a, const Slice &b) {
    return std::tie(b.us, a.beginUs, a.stream) <
           std::tie(a.us, b.beginUs, b.stream);
  });
  slices.resize(std::min(slices.size(), kMostDrawn));
  Axis x;
  x.most = 0;
  for (const Slice &slice : slices)
    x.include(slice.beginUs + slice.us);
  widen(x);
  x.begin = kNames, x.end = kTimelineWidth - 30;
  const std::map<int64_t, double> rows = rowsOf(slices);
  const double bottom = kRow * double(rows.size());
  std::string out = "<figure class=\"timeline\">\n<figcaption>"
                    "<span class=\"key generated\">generated kernel</span> "
                    "<span class=\"key library\">routine</span> "
                    "<span class=\"key collective\">collective</span> "
                    "<span class=\"key event\">wait</span></figcaption>\n";
  out += openSvg(kTimelineWidth, bottom + 24, "Timeline of a step");
  out += drawMilliseconds(x, bottom);
  for (const auto &[stream, top] : rows)
    out += textAt(kNames - 8, top + kRow / 2 + 4, "end", streamName(stream));
  for (const Slice &slice : slices)
    out += drawSlice(slice, x, rows.at(slice.stream));
  out += "</svg>\n</figure>\n";
  if (all.size() > slices.size())
    out += "<p>" + std::to_string(all.size() - slices.size()) +
           " short commands are not drawn.</p>\n";
  return out;
}
