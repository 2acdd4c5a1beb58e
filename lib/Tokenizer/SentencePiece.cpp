//===- SentencePiece.cpp - The file tokenizer.model -----------------------===//

#include "Parts.h"

#include "weft/Base/Results.h"

#include <sentencepiece_processor.h>

namespace weft {

namespace {

class SentencePieceEncoder : public WholeEncoder {
public:
  Status load(std::string_view bytes);
  void describe(Tokenizer::Parts &parts, std::vector<AddedToken> &controls);

  Status encode(std::string_view text,
                std::vector<int32_t> &ids) const override {
    std::vector<int> found;
    if (auto status = processor.Encode(text, &found); !status.ok())
      return inputError("SentencePiece cannot encode the text: ",
                        status.ToString());
    ids.insert(ids.end(), found.begin(), found.end());
    return Status::success();
  }
  Expected<std::string> decode(const std::vector<int32_t> &ids) const override {
    std::string text;
    if (auto status = processor.Decode(ids, &text); !status.ok())
      return inputError("SentencePiece cannot decode the tokens: ",
                        status.ToString());
    return text;
  }

private:
  sentencepiece::SentencePieceProcessor processor;
};

} // namespace

Status SentencePieceEncoder::load(std::string_view bytes) {
  const auto status = processor.LoadFromSerializedProto(bytes);
  if (!status.ok())
    return inputError("expects a model of SentencePiece, but got other bytes");
  if (processor.GetPieceSize() == 0)
    return inputError("expects a model of SentencePiece, but got an empty "
                      "one");
  return Status::success();
}

static std::optional<int32_t> roleOf(int id) {
  return id < 0 ? std::nullopt : std::optional<int32_t>(id);
}

void SentencePieceEncoder::describe(Tokenizer::Parts &parts,
                                    std::vector<AddedToken> &controls) {
  for (int id = 0; id < processor.GetPieceSize(); ++id) {
    // The library has refused pieces that come twice.
    (void)parts.vocabulary->add(processor.IdToPiece(id), id);
    if (!processor.IsControl(id))
      continue;
    AddedToken token;
    token.content = processor.IdToPiece(id);
    token.id = id;
    token.isSpecial = true;
    controls.push_back(std::move(token));
  }
  parts.specialIds = {roleOf(processor.bos_id()), roleOf(processor.eos_id()),
                      roleOf(processor.unk_id()), roleOf(processor.pad_id())};
}

Expected<Tokenizer> Tokenizer::parseSentencePiece(std::string_view bytes,
                                                  const std::string &file) {
  auto encoder = std::make_unique<SentencePieceEncoder>();
  if (Status status = encoder->load(bytes); !status)
    return status.takeError().at(file);
  auto parts = std::make_unique<Parts>();
  std::vector<AddedToken> controls;
  encoder->describe(*parts, controls);
  if (Status status = addTokens(*parts, controls); !status)
    return status.takeError().at(file);
  parts->modelName = "SentencePiece";
  parts->whole = std::move(encoder);
  return Tokenizer(std::move(parts));
}

} // namespace weft
