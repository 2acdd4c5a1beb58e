//===- ByteTokenizer.cpp - A token for each byte --------------------------===//

#include "Parts.h"

namespace weft {

namespace {

class ByteEncoder : public WholeEncoder {
public:
  Status encode(std::string_view text,
                std::vector<int32_t> &ids) const override {
    for (const char c : text)
      ids.push_back(int32_t(static_cast<unsigned char>(c)));
    return Status::success();
  }
  Expected<std::string> decode(const std::vector<int32_t> &ids) const override {
    return std::string(ids.begin(), ids.end());
  }
};

} // namespace

Tokenizer Tokenizer::ofBytes() {
  auto parts = std::make_unique<Parts>();
  parts->modelName = "bytes";
  parts->takesAnyBytes = true;
  for (int byte = 0; byte < 256; ++byte)
    // No text comes twice.
    (void)parts->vocabulary->add(std::string(1, char(byte)), byte);
  parts->whole = std::make_unique<ByteEncoder>();
  return Tokenizer(std::move(parts));
}

Expected<Tokenizer> Tokenizer::find(const std::string &name) {
  return name == kByteTokenizer ? ofBytes() : load(name);
}

} // namespace weft
