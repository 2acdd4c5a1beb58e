//===- GemmTuning.cpp - Algorithms that were measured ---------------------===//

#include "GemmTuning.h"

#include "weft/Base/InputFile.h"
#include "weft/Formats/Digest.h"
#include "weft/Formats/Json.h"

#include <algorithm>
#include <cstring>

using namespace weft;
using namespace weft::cuda;

/// The fields of a record in their order.
static constexpr const char *kFields[] = {"batch",
                                          "m",
                                          "n",
                                          "k",
                                          "trans_a",
                                          "trans_b",
                                          "lda",
                                          "ldb",
                                          "ldc",
                                          "batch_stride_a",
                                          "batch_stride_b",
                                          "batch_stride_c",
                                          "accumulate",
                                          "has_bias",
                                          "dtype",
                                          "dtype_c",
                                          "epilogue",
                                          "has_aux",
                                          "has_column_sum",
                                          "has_sum_a",
                                          "has_sum_b"};
static_assert(sizeof kFields / sizeof *kFields ==
              std::tuple_size_v<GemmFields>);

static constexpr const char *kFormat = "weft-tuning 2";

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The words of an algorithm, each as 16 hexadecimal digits.
static std::string algorithmText(const cublasLtMatmulAlgo_t &algorithm) {
  std::string text;
  for (uint64_t word : algorithm.data)
    for (int shift = 60; shift >= 0; shift -= 4)
      text += "0123456789abcdef"[word >> shift & 15];
  return text;
}

static Json productJson(const TunedProduct &product) {
  const auto &[fields, alignments, workspace] = product.key;
  Json record = Json::object();
  for (size_t i = 0; i < fields.size(); ++i)
    record.set(kFields[i], fields[i]);
  Json object = Json::object();
  object.set("record", std::move(record));
  object.set("alignments", Json::arrayOf(std::vector<int64_t>(
                               alignments.begin(), alignments.end())));
  object.set("workspace", workspace);
  object.set("algorithm", algorithmText(product.algorithm));
  object.set("microseconds", product.microseconds);
  object.set("first_microseconds", product.firstMicroseconds);
  object.set("algorithms", product.algorithms);
  return object;
}

std::string weft::cuda::tuningText(const GemmMachine &machine,
                                   const std::vector<TunedProduct> &products) {
  Json file = Json::object();
  file.set("format", kFormat);
  file.set("device", machine.device);
  file.set("multiprocessors", std::to_string(machine.multiprocessors));
  file.set("cublaslt", machine.library);
  file.set("tf32", machine.tf32 ? "on" : "off");
  Json list = Json::array();
  for (const TunedProduct &product : products)
    list.push(productJson(product));
  file.set("products", std::move(list));
  return file.pretty();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Every member has one of the names.
template <typename Names>
static Status checkNames(const JsonCursor &at, const Names &names) {
  auto size = at.objectSize();
  if (!size)
    return size.takeError();
  for (size_t i = 0; i < *size; ++i) {
    const std::string &name = at.value().asObject()[i].name;
    if (std::find(std::begin(names), std::end(names), name) == std::end(names))
      return at.member(i).error("expects a field of a file of tuning, but got "
                                "one that it does not have");
  }
  return Status::success();
}

static Status readRecord(const JsonCursor &product, GemmFields &fields) {
  auto record = product.get("record");
  if (!record)
    return record.takeError();
  if (Status s = checkNames(*record, kFields); !s)
    return s;
  for (size_t i = 0; i < fields.size(); ++i)
    if (Status s = assign(record->getInt(kFields[i], 0), fields[i]); !s)
      return s;
  return Status::success();
}

static int digitOf(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                : -1;
}

static Status readAlgorithm(const JsonCursor &product,
                            cublasLtMatmulAlgo_t &algorithm) {
  auto field = product.get("algorithm");
  if (!field)
    return field.takeError();
  auto text = field->asString();
  if (!text)
    return text.takeError();
  constexpr size_t words = sizeof algorithm.data / sizeof *algorithm.data;
  const bool isHex = std::all_of(text->begin(), text->end(),
                                 [](char c) { return digitOf(c) >= 0; });
  if (text->size() != 16 * words || !isHex)
    return field->error("expects " + std::to_string(16 * words) +
                        " hexadecimal digits, but got " +
                        std::to_string(text->size()) + " characters");
  for (size_t i = 0; i < text->size(); ++i) {
    uint64_t &word = algorithm.data[i / 16];
    word = word << 4 | static_cast<uint64_t>(digitOf((*text)[i]));
  }
  return Status::success();
}

static Status readKey(const JsonCursor &product, GemmKey &key) {
  if (Status s = readRecord(product, std::get<0>(key)); !s)
    return s;
  auto alignments = product.getIntArray("alignments", 1);
  if (!alignments)
    return alignments.takeError();
  GemmAlignments &kept = std::get<1>(key);
  if (alignments->size() != kept.size())
    return product.get("alignments")
        ->error("expects " + std::to_string(kept.size()) +
                " numbers, but got " + std::to_string(alignments->size()));
  std::copy(alignments->begin(), alignments->end(), kept.begin());
  return assign(product.getInt("workspace", 0), std::get<2>(key));
}

/// A text at the head of a file, which is another for another machine; "" where
/// there is none to compare with.
static Status checkText(const JsonCursor &file, const char *name,
                        const std::string &here) {
  auto there = file.getString(name);
  if (!there)
    return there.takeError();
  if (here.empty() || *there == here)
    return Status::success();
  return file.get(name)->error("expects a file of tuning with " +
                               std::string(name) + " " + here +
                               ", but got one with " + *there);
}

static Status checkHead(const JsonCursor &file, const GemmMachine &machine) {
  static constexpr const char *names[] = {
      "format", "device", "multiprocessors", "cublaslt", "tf32", "products"};
  if (Status s = checkNames(file, names); !s)
    return s;
  const bool isThere = !machine.device.empty();
  for (const auto &[name, here] :
       {std::pair<const char *, std::string>("format", kFormat),
        {"device", machine.device},
        {"multiprocessors",
         isThere ? std::to_string(machine.multiprocessors) : ""},
        {"cublaslt", machine.library},
        {"tf32", machine.tf32 ? "on" : "off"}})
    if (Status s = checkText(file, name, here); !s)
      return s;
  return Status::success();
}

/// The whole file, which is small.
static Expected<std::string> readText(const std::string &path) {
  auto file = InputFile::open(path);
  if (!file)
    return file.takeError();
  constexpr int64_t most = int64_t(64) << 20;
  if ((*file)->size() > most)
    return inputError("expects a file of tuning of at most 64 MiB, but got ",
                      (*file)->size(), " bytes")
        .at(path);
  std::string text(static_cast<size_t>((*file)->size()), '\0');
  if (Status s = (*file)->read(0, (*file)->size(), text.data()); !s)
    return s.takeError();
  return text;
}

Expected<GemmTuning> GemmTuning::read(const std::string &path,
                                      const GemmMachine &machine) {
  auto text = readText(path);
  if (!text)
    return text.takeError();
  return parse(*text, path, machine);
}

Expected<GemmTuning> GemmTuning::parse(const std::string &text,
                                       const std::string &path,
                                       const GemmMachine &machine) {
  auto json = parseJson(text, path);
  if (!json)
    return json.takeError();
  JsonCursor file(*json, path);
  if (Status s = checkHead(file, machine); !s)
    return s.takeError();
  GemmTuning tuning;
  tuning.path = path;
  tuning.contentDigest = digest128(text);
  auto products = file.get("products");
  if (!products)
    return products.takeError();
  auto count = products->arraySize();
  if (!count)
    return count.takeError();
  for (size_t i = 0; i < *count; ++i)
    if (Status s = tuning.add(products->element(i)); !s)
      return s.takeError();
  return tuning;
}

/// Checks a measured time. Times are for human readers; no code uses them.
static Status checkTime(const JsonCursor &product, const char *name) {
  auto time = product.getDouble(name);
  if (!time)
    return time.takeError();
  if (*time >= 0)
    return Status::success();
  return product.get(name)->error("expects a time of at least 0, but got " +
                                  std::to_string(*time));
}

Status GemmTuning::add(const JsonCursor &product) {
  static constexpr const char *names[] = {
      "record",       "alignments",         "workspace", "algorithm",
      "microseconds", "first_microseconds", "algorithms"};
  if (Status s = checkNames(product, names); !s)
    return s;
  GemmKey key = {};
  if (Status s = readKey(product, key); !s)
    return s;
  Entry entry = {{}, product.value().line()};
  if (Status s = readAlgorithm(product, entry.algorithm); !s)
    return s;
  for (const char *name : {"microseconds", "first_microseconds"})
    if (Status s = checkTime(product, name); !s)
      return s;
  if (auto number = product.getInt("algorithms", 1); !number)
    return number.takeError();
  if (!entries.emplace(key, entry).second)
    return product.error("expects each product once, but got one again");
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Asking
//===----------------------------------------------------------------------===//

/// Another workspace of the same product is another entry.
Error GemmTuning::describeMissing(const GemmKey &key,
                                  const WeftGemmRecord &record) const {
  const auto &[fields, alignments, workspace] = key;
  for (const auto &[other, entry] : entries)
    if (std::get<0>(other) == fields && std::get<1>(other) == alignments)
      return inputError("expects a workspace of ", workspace, " bytes for ",
                        describeProduct(record), ", but got one of ",
                        std::get<2>(other))
          .at(path, entry.line);
  return inputError(
             "expects a file of tuning for this program, but got one without ",
             describeProduct(record))
      .at(path);
}

Error GemmTuning::place(Error error, const GemmKey &key) const {
  auto entry = entries.find(key);
  return error.at(path, entry == entries.end() ? 0 : entry->second.line)
      .hint("--tune FILE writes one");
}

Expected<const cublasLtMatmulAlgo_t *>
GemmTuning::find(const GemmKey &key, const WeftGemmRecord &record) {
  auto entry = entries.find(key);
  if (entry == entries.end())
    return describeMissing(key, record).hint("--tune FILE writes one");
  found.insert(key);
  return &entry->second.algorithm;
}

Status GemmTuning::checkAllFound() const {
  for (const auto &[key, entry] : entries) {
    if (found.count(key))
      continue;
    WeftGemmRecord record = {};
    std::memcpy(&record, std::get<0>(key).data(), sizeof std::get<0>(key));
    return inputError(
               "expects a file of tuning for this program, but got one with ",
               describeProduct(record), ", which it does not have")
        .at(path, entry.line)
        .hint("--tune FILE writes one");
  }
  return Status::success();
}
