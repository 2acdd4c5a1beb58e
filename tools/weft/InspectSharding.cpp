//===- InspectSharding.cpp - The shards of each rank ----------------------===//

#include "InspectViews.h"

#include "ViewTable.h"

#include "weft/Base/CountText.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"
#include "weft/Formats/JsonFields.h"

#include <algorithm>
#include <cstdio>

using namespace weft;

//===----------------------------------------------------------------------===//
// Reading the metadata
//===----------------------------------------------------------------------===//

/// Limit on the ranks of a mesh.
static constexpr int64_t kMaxRanks = 100000;
/// Limit on the entries of a list. Later entries follow from the bucket's
/// `slices`.
static constexpr int64_t kMostListed = 1024;
/// Times kMaxRanks it is far below 2^63.
static constexpr int64_t kMostElements = int64_t(1) << 44;

namespace {
struct ByteKind {
  const char *kind;  // of a state of a bucket
  const char *field; // of the memory report
  const char *text;
  bool isPart = true; // of the whole; else a rank has it beside its part
};
} // namespace

static const ByteKind kKinds[] = {
    {"param", "parameters", "parameters"},
    {"gradient", "gradients", "gradients"},
    {"optimizer", "optimizer_state", "optimizer state"},
    {"scaler", "scaler_state", "loss-scale state"},
    {"working", "working_copies", "working copies"},
    {"gathered", "gathered", "gathered in a step", /*isPart=*/false},
    {"accumulator", "accumulators", "accumulators"},
};

namespace {
struct Bucket {
  Json json = Json::object();
  int64_t elements = 0, used = 0;
  int64_t slices = 1; // of the parameters
};

/// Reads the sharding fields of the metadata and derives the other fields.
class ShardingReader {
public:
  explicit ShardingReader(const JsonCursor &root) : root(root) {}

  Expected<Json> read();

private:
  Status readMesh();
  Status readBucket(const JsonCursor &entry);
  Status readState(const JsonCursor &entry, Bucket &bucket);
  Status readParameter(const JsonCursor &entry);
  Json rangesOf(const Bucket &bucket) const;
  Json ranksOf(const Bucket &bucket, int64_t begin, int64_t end) const;
  Json bytes() const;

  const JsonCursor &root;
  std::string mesh; // "dp:4"
  int64_t ranks = 1;
  std::vector<Bucket> buckets;
  Json parameters = Json::array();
  /// By kind of state: bytes that other ranks hold of sharded states.
  uint64_t elsewhere[std::size(kKinds)] = {};
};
} // namespace

Status ShardingReader::readMesh() {
  return readElements(root, "mesh", [&](const JsonCursor &entry) -> Status {
    auto axis = entry.getString("axis");
    if (!axis)
      return axis.takeError();
    auto size = entry.getInt("ranks", /*least=*/1, kMaxRanks / ranks);
    if (!size)
      return size.takeError();
    ranks *= *size;
    mesh += (mesh.empty() ? "" : ",") + *axis + ":" + std::to_string(*size);
    return Status::success();
  });
}

Status ShardingReader::readState(const JsonCursor &entry, Bucket &bucket) {
  auto slot = entry.getString("slot"), kind = entry.getString("kind");
  if (!slot || !kind)
    return (slot ? kind : slot).takeError();
  auto slices = entry.getInt("slices", /*least=*/1, ranks);
  if (!slices)
    return slices.takeError();
  auto held = entry.getInt("bytes", /*least=*/0, kMostElements);
  if (!held)
    return held.takeError();
  if (bucket.elements % *slices != 0 || ranks % *slices != 0)
    return entry.error("expects shards that divide " + std::to_string(ranks) +
                       " ranks and " + std::to_string(bucket.elements) +
                       " elements, but got " + std::to_string(*slices));
  if (slot->empty())
    bucket.slices = *slices;
  for (size_t i = 0; i != std::size(kKinds); ++i)
    if (*kind == kKinds[i].kind)
      elsewhere[i] += uint64_t(*held) * uint64_t(*slices - 1);
  return Status::success();
}

Status ShardingReader::readBucket(const JsonCursor &entry) {
  Bucket bucket;
  auto name = entry.getString("name");
  if (!name)
    return name.takeError();
  auto elements = entry.getInt("elements", /*least=*/1, kMostElements);
  if (!elements)
    return elements.takeError();
  bucket.elements = *elements;
  Json states = Json::array();
  Status status =
      readElements(entry, "states", [&](const JsonCursor &state) -> Status {
        if (Status s = readState(state, bucket); !s)
          return s;
        states.push(state.value());
        return Status::success();
      });
  if (!status)
    return status;
  bucket.json.set("name", *name);
  bucket.json.set("elements", bucket.elements);
  bucket.json.set("slices", bucket.slices);
  bucket.json.set("ranges", rangesOf(bucket));
  bucket.json.set("states", std::move(states));
  buckets.push_back(std::move(bucket));
  return Status::success();
}

Status ShardingReader::readParameter(const JsonCursor &entry) {
  auto name = entry.getString("name");
  if (!name)
    return name.takeError();
  auto index = entry.getInt("bucket", /*least=*/0, int64_t(buckets.size()) - 1);
  if (!index)
    return index.takeError();
  Bucket &bucket = buckets[*index];
  auto begin = entry.getInt("begin", /*least=*/0, bucket.elements);
  if (!begin)
    return begin.takeError();
  auto end = entry.getInt("end", *begin, bucket.elements);
  if (!end)
    return end.takeError();
  bucket.used += *end - *begin;
  Json &parameter = parameters.push(Json::object());
  parameter.set("name", *name);
  parameter.set("bucket", *bucket.json.find("name"));
  parameter.set("begin", *begin);
  parameter.set("end", *end);
  parameter.set("whole", bucket.slices == 1);
  parameter.set("ranks", ranksOf(bucket, *begin, *end));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Derived fields
//===----------------------------------------------------------------------===//

/// The ranges of the first ranks. Ranks are numbered with the last axis
/// fastest, and shards follow that axis.
Json ShardingReader::rangesOf(const Bucket &bucket) const {
  const int64_t slice = bucket.elements / bucket.slices;
  Json ranges = Json::array();
  for (int64_t rank = 0; rank < std::min(ranks, kMostListed); ++rank) {
    const int64_t number = rank % bucket.slices;
    ranges.push(Json::arrayOf(
        std::vector<int64_t>{number * slice, (number + 1) * slice}));
  }
  return ranges;
}

/// The first and the last rank whose shards overlap [begin, end), for each of
/// the first replicas.
Json ShardingReader::ranksOf(const Bucket &bucket, int64_t begin,
                             int64_t end) const {
  const int64_t slice = bucket.elements / bucket.slices;
  const int64_t most = bucket.slices - 1;
  const int64_t first = std::min(begin / slice, most);
  const int64_t last = std::min(std::max(begin, end - 1) / slice, most);
  Json list = Json::array();
  if (first == 0 && last == most) {
    list.push(Json::arrayOf(std::vector<int64_t>{0, ranks - 1}));
    return list;
  }
  const int64_t listed = std::min(ranks / bucket.slices, kMostListed);
  for (int64_t replica = 0; replica < listed; ++replica) {
    const int64_t rank = replica * bucket.slices;
    list.push(Json::arrayOf(std::vector<int64_t>{rank + first, rank + last}));
  }
  return list;
}

/// By field of the memory report: the bytes of a rank and of the whole state.
Json ShardingReader::bytes() const {
  Json list = Json::object();
  auto memory = root.find("memory");
  for (size_t i = 0; i != std::size(kKinds); ++i) {
    auto held = memory ? memory->find(kKinds[i].field) : std::nullopt;
    if (!held || !held->value().isInt())
      continue;
    Json entry = Json::object();
    entry.set("held", held->value());
    const uint64_t whole = uint64_t(held->value().asInt()) + elsewhere[i];
    entry.set("whole", kKinds[i].isPart ? int64_t(whole) : 0);
    list.set(kKinds[i].field, std::move(entry));
  }
  return list;
}

Expected<Json> ShardingReader::read() {
  auto sharding = root.find("sharding");
  if (!sharding)
    return Json();
  auto zero = sharding->getInt("zero", 0, 3);
  if (!zero)
    return zero.takeError();
  if (Status s = readMesh(); !s)
    return s.takeError();
  if (Status s =
          readElements(*sharding, "buckets",
                       [&](const JsonCursor &e) { return readBucket(e); });
      !s)
    return s.takeError();
  if (Status s =
          readElements(root, "parameters",
                       [&](const JsonCursor &e) { return readParameter(e); });
      !s)
    return s.takeError();
  Json list = Json::array();
  for (Bucket &bucket : buckets) {
    bucket.json.set("padding", bucket.elements - bucket.used);
    list.push(std::move(bucket.json));
  }
  Json result = Json::object();
  result.set("mesh", mesh);
  result.set("ranks", ranks);
  result.set("zero", *zero);
  result.set("bytes", bytes());
  result.set("buckets", std::move(list));
  result.set("parameters", std::move(parameters));
  return result;
}

Expected<Json> weft::expandSharding(const Json &metadata) {
  JsonCursor root(metadata, "section .weft.meta");
  Expected<Json> sharding = ShardingReader(root).read();
  if (!sharding)
    return inputError(sharding.error().where());
  return sharding;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static long long numberOf(const Json &object, const char *field) {
  return object.find(field)->asInt();
}

static std::string nameOf(const Json &object, const char *field) {
  const Json *name = object.find(field);
  return name && name->isString() ? escaped(name->asString(), "\n") : "";
}

static void printBytes(const Json &sharding) {
  std::printf("states: bytes of a rank, of all shards\n");
  for (const ByteKind &kind : kKinds)
    if (const Json *bytes = sharding.find("bytes")->find(kind.field);
        bytes && numberOf(*bytes, "held") != 0) {
      Json row = *bytes;
      row.set("text", kind.text);
      printText(tableLine(kind.isPart ? "  {=text:-18} {=held:12B} {=whole:12B}"
                                      : "  {=text:-18} {=held:12B} {=:12?}",
                          row));
    }
}

/// Entries that text shows of a list.
static constexpr size_t kMostShown = 8;

/// "rank 0: 0 to 128, rank 1: 128 to 256"; of many ranks the first ones.
static std::string rangesText(const Json &bucket) {
  if (numberOf(bucket, "slices") == 1)
    return "replicated on every rank";
  const Json::Array &ranges = bucket.find("ranges")->asArray();
  std::string text;
  for (size_t rank = 0; rank < ranges.size() && rank < kMostShown; ++rank)
    text += (rank ? ", " : "") + ("rank " + std::to_string(rank)) + ": " +
            ranges[rank].asArray()[0].compact() + " to " +
            ranges[rank].asArray()[1].compact();
  return ranges.size() > kMostShown ? text + ", ..." : text;
}

/// "exp_avg f32 in 4 slices"
static std::string stateText(const Json &state) {
  std::string slot = nameOf(state, "slot");
  std::string text =
      (slot.empty() ? "parameters" : slot) + " " + nameOf(state, "dtype");
  const long long slices = numberOf(state, "slices");
  return slices == 1 ? text : text + " in " + countText(slices, "shard");
}

static void printBuckets(const Json &sharding) {
  std::printf("buckets: elements, padding, shards\n");
  for (Json bucket : sharding.find("buckets")->asArray()) {
    std::string states;
    for (const Json &state : bucket.find("states")->asArray())
      states += (states.empty() ? "" : ", ") + stateText(state);
    bucket.set("held", rangesText(bucket) + "\n    " + states);
    printText(tableLine("  {=name:-28} {=elements:12} {=padding:9}  {=held}",
                        bucket));
  }
}

/// "ranks 0 to 2", "rank 1"; of many replicas the first ones.
static std::string ranksText(const Json &parameter) {
  if (parameter.find("whole")->asBool())
    return "every rank";
  const Json::Array &pairs = parameter.find("ranks")->asArray();
  std::string text;
  for (size_t i = 0; i < pairs.size() && i < kMostShown; ++i) {
    const std::string first = pairs[i].asArray()[0].compact();
    const std::string last = pairs[i].asArray()[1].compact();
    text += text.empty() ? "" : ", ";
    text += first == last ? "rank " + first : "ranks " + first + " to " + last;
  }
  return pairs.size() > kMostShown ? text + ", ..." : text;
}

void weft::printSharding(const Json &sharding) {
  if (sharding.isNull()) {
    std::printf("one rank: no sharding\n");
    return;
  }
  printText(tableLine("mesh {=mesh}, " +
                          countText(numberOf(sharding, "ranks"), "rank") +
                          ", ZeRO stage {=zero}",
                      sharding));
  printBytes(sharding);
  printBuckets(sharding);
  std::printf("parameters: bucket and elements, ranks\n");
  for (Json parameter : sharding.find("parameters")->asArray()) {
    parameter.set("holders", ranksText(parameter));
    parameter.set("place", nameOf(parameter, "bucket") + " " +
                               parameter.find("begin")->compact() + " to " +
                               parameter.find("end")->compact());
    printText(tableLine("  {=name:-48} {=place:-36} {=holders}", parameter));
  }
}
