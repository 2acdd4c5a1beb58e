//===- ReportProgram.cpp - The program of a run, and its trace ------------===//

#include "InspectViews.h"
#include "ReportData.h"

#include "weft/Abi/MicroSteps.h"
#include "weft/Abi/Names.h"
#include "weft/Base/Text.h"
#include "weft/Formats/Digest.h"

#include <algorithm>
#include <map>

using namespace weft;

static double numberOf(const Json::Array &row, size_t index) {
  return index < row.size() && row[index].isNumber() ? row[index].asDouble()
                                                     : 0;
}

static std::string textOf(const Json::Array &row, size_t index) {
  return index < row.size() && row[index].isString() ? row[index].asString()
                                                     : "";
}

//===----------------------------------------------------------------------===//
// The estimated step
//===----------------------------------------------------------------------===//

/// Routines of the plan's collectives.
static bool isCollective(const std::string &routine) {
  return routine == "all_gather" || routine == "reduce_scatter" ||
         routine == "all_reduce";
}

static SliceKind kindOf(const Json::Array &row) {
  if (isCollective(textOf(row, 0)))
    return SliceKind::Collective;
  if (row.size() > 3 && row[3].isBool() && row[3].asBool())
    return SliceKind::Generated;
  // An event between streams has neither arithmetic nor traffic.
  return numberOf(row, 5) == 0 && numberOf(row, 6) == 0 ? SliceKind::Event
                                                        : SliceKind::Library;
}

/// The commands of a program as slices, by their numbers.
static std::vector<Slice> slicesOf(const Json &meta,
                                   const std::string &program) {
  std::vector<Slice> slices;
  const Json *schedule = meta.find("schedule");
  const Json *rows = schedule ? schedule->find(program) : nullptr;
  if (!rows || !rows->isArray())
    return slices;
  for (const Json &entry : rows->asArray()) {
    if (!entry.isArray())
      return {};
    const Json::Array &row = entry.asArray();
    slices.push_back({kindOf(row), int64_t(numberOf(row, 7)), numberOf(row, 8),
                      numberOf(row, 9), program, textOf(row, 4),
                      textOf(row, 1)});
  }
  return slices;
}

/// Appends the memory that is in use at each command of stream 0.
static void addMemory(ReportedProgram &facts, const std::string &program,
                      double beginUs) {
  const Json::Array &rows =
      facts.meta.find("schedule")->find(program)->asArray();
  for (const Json &row : rows)
    if (const Json::Array &fields = row.asArray();
        fields.size() > 10 && fields[10].isInt() && numberOf(fields, 7) == 0)
      facts.memory.emplace_back(beginUs + numberOf(fields, 8),
                                numberOf(fields, 10));
}

/// A step of one micro-batch, as the cost model estimates it.
static void estimateStep(ReportedProgram &facts) {
  double beginUs = 0;
  for (const char *program :
       {names::kDenominators, names::kMicro, names::kApply}) {
    double endUs = beginUs;
    const std::vector<Slice> slices = slicesOf(facts.meta, program);
    for (Slice slice : slices) {
      slice.beginUs += beginUs;
      endUs = std::max(endUs, slice.beginUs + slice.us);
      if (slice.us > 0)
        facts.estimated.push_back(std::move(slice));
    }
    if (!slices.empty())
      addMemory(facts, program, beginUs);
    beginUs = endUs;
  }
  if (!facts.memory.empty())
    facts.memory.emplace_back(beginUs, facts.memory.back().second);
}

//===----------------------------------------------------------------------===//
// The measured step
//===----------------------------------------------------------------------===//

static bool isOfStep(const std::string &program) {
  for (const char *name : {names::kMicro, names::kMicroLater, names::kMicroKeep,
                           names::kMicroLaterKeep, names::kDenominators,
                           names::kDenominatorsKeep, names::kApply})
    if (program == name)
      return true;
  return false;
}

using SlicesByProgram = std::map<std::string, std::vector<Slice>>;

/// A measured command. makeProfile() has checked the fields.
static Slice sliceOf(const Json &event, const Json &meta,
                     SlicesByProgram &programs) {
  const std::string program = event.find("cat")->asString();
  const int64_t number = event.find("args")->find("command")->asInt();
  std::vector<Slice> &slices = programs[program];
  if (slices.empty())
    slices = slicesOf(meta, program);
  Slice slice = slices[size_t(number)];
  const Json *stream = event.find("tid");
  slice.stream = stream && stream->isInt() ? stream->asInt() : 0;
  slice.beginUs = event.find("ts")->asDouble();
  slice.us = event.find("dur")->asDouble();
  return slice;
}

static bool isMeasured(const Json &event) {
  const Json *process = event.find("pid");
  return event.find("ph")->asString() == "X" &&
         !(process && process->isInt() && process->asInt() != 0) &&
         isOfStep(event.find("cat")->asString());
}

/// The events of the last step whose update is in the trace: those after the
/// update before it.
static std::vector<const Json *> lastStep(const Json::Array &events) {
  std::vector<const Json *> step, last;
  bool isUpdated = false;
  for (const Json &event : events) {
    if (!isMeasured(event))
      continue;
    const bool isUpdate = event.find("cat")->asString() == names::kApply;
    if (isUpdated && !isUpdate) {
      last = std::move(step);
      step.clear();
    }
    isUpdated = isUpdate;
    step.push_back(&event);
  }
  return isUpdated ? step : last;
}

static void measureStep(ReportedProgram &facts, const Json &trace) {
  SlicesByProgram programs;
  for (const Json *event : lastStep(trace.find("traceEvents")->asArray()))
    facts.measured.push_back(sliceOf(*event, facts.meta, programs));
  double firstUs = facts.measured.empty() ? 0 : facts.measured[0].beginUs;
  for (const Slice &slice : facts.measured)
    firstUs = std::min(firstUs, slice.beginUs);
  for (Slice &slice : facts.measured)
    slice.beginUs -= firstUs;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Status checkModel(const Json &meta, const std::string &path,
                         const std::string &fingerprint) {
  const Json *found = meta.find("fingerprint");
  if (fingerprint.empty() || !found || !found->isString() ||
      found->asString() == fingerprint)
    return Status::success();
  const Json *name = meta.find("name");
  return inputError("expects a program of the run's model, but got one of " +
                    inQuotes(name && name->isString() ? name->asString() : ""))
      .at(path);
}

static Status readTrace(ReportedProgram &facts, const std::string &digest,
                        const std::string &path) {
  auto profile = makeProfile(facts.meta, digest, path);
  if (!profile)
    return profile.takeError();
  facts.profile = std::move(*profile);
  auto trace = readJsonFile(path);
  if (!trace)
    return trace.takeError();
  measureStep(facts, *trace);
  return Status::success();
}

Expected<ReportedProgram> weft::readProgram(const ReportSources &sources,
                                            const std::string &fingerprint) {
  auto file = readProgramFile(sources.program);
  if (!file)
    return file.takeError();
  auto meta = parseJson(file->metadata, sources.program);
  if (!meta)
    return meta.takeError();
  ReportedProgram facts;
  facts.meta = std::move(*meta);
  if (Status s = checkModel(facts.meta, sources.program, fingerprint); !s)
    return s.takeError();
  auto sharding = expandSharding(facts.meta);
  if (!sharding)
    return Error(sharding.takeError()).at(sources.program);
  facts.sharding = std::move(*sharding);
  estimateStep(facts);
  if (sources.trace.empty())
    return facts;
  if (Status s = readTrace(facts, digest128(file->metadata), sources.trace); !s)
    return s.takeError();
  return facts;
}
