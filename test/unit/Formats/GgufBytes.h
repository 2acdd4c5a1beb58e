//===- GgufBytes.h - GGUF files of any contents for tests -------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_FORMATS_GGUFBYTES_H
#define WEFT_TEST_UNIT_FORMATS_GGUFBYTES_H

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// Puts a file together, right or wrong.
class GgufBytes {
public:
  template <typename T> static std::string raw(T value) {
    return std::string(reinterpret_cast<const char *>(&value), sizeof value);
  }
  static std::string text(const std::string &text) {
    return raw<uint64_t>(text.size()) + text;
  }
  /// Elements of an array behind their type and number.
  static std::string array(uint32_t type, uint64_t count,
                           const std::string &elements) {
    return raw(type) + raw(count) + elements;
  }

  GgufBytes &value(const std::string &key, uint32_t type,
                   const std::string &bytes) {
    values += text(key) + raw(type) + bytes;
    ++valueCount;
    return *this;
  }
  GgufBytes &integer(const std::string &key, uint32_t number) {
    return value(key, 4, raw(number));
  }
  GgufBytes &number(const std::string &key, float number) {
    return value(key, 6, raw(number));
  }
  GgufBytes &string(const std::string &key, const std::string &contents) {
    return value(key, 8, text(contents));
  }
  GgufBytes &booleans(const std::string &key, const std::vector<bool> &flags) {
    std::string elements;
    for (bool flag : flags)
      elements += char(flag);
    return value(key, 9, array(7, flags.size(), elements));
  }
  /// Describes a tensor; `sizes` with the innermost dimension first.
  GgufBytes &tensor(const std::string &name, uint32_t type,
                    const std::vector<uint64_t> &sizes, uint64_t offset) {
    infos += text(name) + raw<uint32_t>(uint32_t(sizes.size()));
    for (uint64_t size : sizes)
      infos += raw(size);
    infos += raw(type) + raw(offset);
    ++tensorCount;
    return *this;
  }
  /// Describes a tensor behind the others and adds its bytes.
  GgufBytes &filled(const std::string &name, uint32_t type,
                    const std::vector<uint64_t> &sizes,
                    const std::string &bytes) {
    tensor(name, type, sizes, data.size());
    data += bytes;
    data.append((32 - data.size() % 32) % 32, '\0');
    return *this;
  }

  std::string bytes(uint32_t version = 3) const {
    std::string all = "GGUF" + raw(version) + raw(tensorCount) +
                      raw(valueCount) + values + infos;
    all.append((32 - all.size() % 32) % 32, '\0');
    return all + data;
  }

  std::string values, infos, data;
  uint64_t valueCount = 0, tensorCount = 0;
};

} // namespace weft

#endif // WEFT_TEST_UNIT_FORMATS_GGUFBYTES_H
