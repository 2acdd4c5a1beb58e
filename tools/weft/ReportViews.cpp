//===- ReportViews.cpp - Memory, step, kernels and sharding ---------------===//

#include "InspectViews.h"
#include "ReportPage.h"

#include "weft/Base/CountText.h"
#include "weft/Base/Text.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

using namespace weft;

static const char kNeedsProgram[] =
    "weft report with --program FILE, the program of the run, shows it";

static std::string fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

static double numberOf(const Json &json, const char *field) {
  const Json *value = json.find(field);
  return value && value->isNumber() ? value->asDouble() : 0;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static std::string drawMemoryChart(const ReportedProgram &program) {
  Chart chart;
  chart.title = "Bytes of the arena in use over a step, estimated";
  chart.xTitle = "ms";
  chart.unit = ChartUnit::Bytes;
  chart.startsAtZero = true;
  chart.isStepwise = true;
  ChartSeries series;
  series.name = "in use";
  for (const auto &[us, bytes] : program.memory)
    series.points.emplace_back(us / 1000, bytes);
  chart.series.push_back(std::move(series));
  return drawChart(chart);
}

std::string weft::drawMemory(const ReportedProgram *program) {
  const std::string head = "<h2 id=\"memory\">Memory over a step</h2>\n";
  if (!program)
    return head + missing("No memory report", kNeedsProgram);
  std::string out = head + "<div class=\"charts\">\n";
  if (!program->memory.empty())
    out += drawMemoryChart(*program);
  if (const std::string text = memoryText(program->meta); !text.empty())
    out += "<pre>" + htmlText(text) + "</pre>\n";
  return out + "</div>\n";
}

//===----------------------------------------------------------------------===//
// Step and kernels
//===----------------------------------------------------------------------===//

static double endOf(const std::vector<Slice> &slices) {
  double endUs = 0;
  for (const Slice &slice : slices)
    endUs = std::max(endUs, slice.beginUs + slice.us);
  return endUs;
}

std::string weft::drawStep(const ReportedProgram *program) {
  std::string out = "<h2 id=\"step\">Timeline of a step</h2>\n";
  if (!program)
    return out + missing("No timeline", kNeedsProgram);
  if (!program->measured.empty())
    out += "<p>Measured, the last step of the trace: " +
           fixed(endOf(program->measured) / 1000, 3) + " ms.</p>\n" +
           drawTimeline(program->measured);
  if (!program->estimated.empty())
    out += "<p>Estimated, one micro-batch and the update: " +
           fixed(endOf(program->estimated) / 1000, 3) + " ms.</p>\n" +
           drawTimeline(program->estimated);
  if (!program->profile)
    out += missing("No measured times",
                   "a run with --trace FILE measures them, and weft report "
                   "with --trace FILE shows them");
  return out;
}

static constexpr size_t kMostKernels = 40;

static std::string restText(size_t all) {
  return all <= kMostKernels ? ""
                             : "<p>" + std::to_string(all - kMostKernels) +
                                   " more take less time.</p>\n";
}

static std::string drawMeasuredKernels(const Json &profile) {
  HtmlTable table;
  table.titles = {">share", ">ms",     ">calls", ">GFLOP/s",
                  ">GB/s",  "command", "routine"};
  const Json::Array &rows = profile.find("kernels")->asArray();
  for (const Json &row : rows)
    if (table.rows.size() < kMostKernels)
      table.rows.push_back(
          {fixed(100 * numberOf(row, "share"), 1) + " %",
           fixed(numberOf(row, "us") / 1000, 3), reportText(row, "calls"),
           fixed(numberOf(row, "gflops"), 1),
           fixed(numberOf(row, "gigabytes_per_second"), 1),
           reportText(row, "name"), reportText(row, "routine")});
  return "<p>Measured, all steps of the trace.</p>\n" + table.str() +
         restText(rows.size());
}

namespace {
struct KernelSum {
  std::string name;
  int64_t calls = 0;
  double us = 0;
};
} // namespace

static std::string drawEstimatedKernels(const std::vector<Slice> &slices) {
  std::map<std::string, KernelSum> byName;
  double total = 0;
  for (const Slice &slice : slices) {
    KernelSum &sum = byName[slice.name];
    sum.name = slice.name;
    ++sum.calls;
    sum.us += slice.us;
    total += slice.us;
  }
  std::vector<KernelSum> sums;
  for (const auto &entry : byName)
    sums.push_back(entry.second);
  std::sort(sums.begin(), sums.end(),
            [](const KernelSum &a, const KernelSum &b) {
              return std::tie(b.us, a.name) < std::tie(a.us, b.name);
            });
  HtmlTable table;
  table.titles = {">share", ">ms", ">calls", "command"};
  for (const KernelSum &sum : sums)
    if (table.rows.size() < kMostKernels)
      table.rows.push_back({fixed(100 * sum.us / total, 1) + " %",
                            fixed(sum.us / 1000, 3), std::to_string(sum.calls),
                            sum.name});
  return "<p>Estimated, one micro-batch and the update.</p>\n" + table.str() +
         restText(sums.size());
}

std::string weft::drawKernels(const ReportedProgram *program) {
  const std::string head = "<h2 id=\"kernels\">Commands by time</h2>\n";
  if (!program)
    return head + missing("No commands", kNeedsProgram);
  if (program->profile)
    return head + drawMeasuredKernels(*program->profile);
  if (program->estimated.empty())
    return head + "<p>The program has no commands.</p>\n";
  return head + drawEstimatedKernels(program->estimated);
}

//===----------------------------------------------------------------------===//
// Sharding
//===----------------------------------------------------------------------===//

/// "gradients" for "gradients", "optimizer state" for "optimizer_state".
static std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

static std::string drawStateBytes(const Json &sharding) {
  HtmlTable table;
  table.titles = {"state", ">of a rank", ">all shards"};
  for (const JsonMember &member : sharding.find("bytes")->asObject()) {
    const int64_t held = int64_t(numberOf(member.value, "held"));
    const int64_t whole = int64_t(numberOf(member.value, "whole"));
    if (held != 0)
      table.rows.push_back({spaced(member.name), humanBytes(held),
                            whole ? humanBytes(whole) : "-"});
  }
  return table.str();
}

static std::string statesText(const Json &bucket) {
  std::string text;
  for (const Json &state : bucket.find("states")->asArray()) {
    const std::string slot = reportText(state, "slot");
    text += (text.empty() ? "" : ", ") + (slot.empty() ? "parameters" : slot) +
            " " + reportText(state, "dtype") + " in " +
            reportText(state, "slices");
  }
  return text;
}

static std::string drawBuckets(const Json &sharding) {
  HtmlTable table;
  table.titles = {"bucket", ">elements", ">padding", ">shards", "states"};
  for (const Json &bucket : sharding.find("buckets")->asArray())
    table.rows.push_back({reportText(bucket, "name"),
                          reportText(bucket, "elements"),
                          reportText(bucket, "padding"),
                          reportText(bucket, "slices"), statesText(bucket)});
  return table.str();
}

/// "0 to 2, 4 to 6": neighbouring ranks that hold elements of a parameter.
static std::string ranksText(const Json &parameter) {
  if (const Json *whole = parameter.find("whole"); whole && whole->asBool())
    return "every rank";
  std::string text;
  const Json::Array &pairs = parameter.find("ranks")->asArray();
  for (size_t i = 0; i < pairs.size() && i < 8; ++i) {
    const std::string first = pairs[i].asArray()[0].compact();
    const std::string last = pairs[i].asArray()[1].compact();
    text += (i ? ", " : "") + (first == last ? first : first + " to " + last);
  }
  return pairs.size() > 8 ? text + ", ..." : text;
}

static std::string drawParameters(const Json &sharding) {
  HtmlTable table;
  table.titles = {"parameter", "bucket", ">begin", ">end", "ranks"};
  const Json::Array &parameters = sharding.find("parameters")->asArray();
  for (const Json &parameter : parameters)
    table.rows.push_back({reportText(parameter, "name"),
                          reportText(parameter, "bucket"),
                          reportText(parameter, "begin"),
                          reportText(parameter, "end"), ranksText(parameter)});
  return "<details><summary>" +
         countText(int64_t(parameters.size()), "parameter") + "</summary>\n" +
         table.str() + "</details>\n";
}

std::string weft::drawSharding(const ReportedProgram *program) {
  const std::string head = "<h2 id=\"sharding\">Sharding</h2>\n";
  if (!program)
    return head + missing("No sharding", kNeedsProgram);
  const Json &sharding = program->sharding;
  if (sharding.isNull())
    return head + missing("No sharding for one rank",
                          "a program compiled with --mesh dp:N shards it");
  return head + "<p>Mesh " + htmlText(reportText(sharding, "mesh")) + ", " +
         countText(int64_t(numberOf(sharding, "ranks")), "rank") +
         ", ZeRO stage " + htmlText(reportText(sharding, "zero")) + ".</p>\n" +
         drawStateBytes(sharding) + drawBuckets(sharding) +
         drawParameters(sharding);
}
