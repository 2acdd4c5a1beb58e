//===- BpeModel.h - Byte-pair encoding --------------------------*- C++ -*-===//
//
// Private to lib/Tokenizer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_BPEMODEL_H
#define WEFT_LIB_TOKENIZER_BPEMODEL_H

#include "Parts.h"

#include <array>
#include <memory>

namespace weft {

/// Pairs of neighbours and the token that replaces them.
class MergeTable {
public:
  struct Merge {
    uint32_t rank = kNoRank; // lower ones go first
    int32_t id = 0;
  };
  static constexpr uint32_t kNoRank = 0xFFFFFFFF;

  void reserve(size_t count);
  /// A pair that comes again takes the later rank.
  void add(int32_t left, int32_t right, uint32_t rank, int32_t id);
  Merge find(int32_t left, int32_t right) const {
    if (slots.empty())
      return {};
    const uint64_t pair = pairOf(left, right);
    const size_t mask = slots.size() - 1;
    for (size_t at = hashPair(pair) & mask;; at = (at + 1) & mask)
      if (slots[at].pair == pair || slots[at].merge.rank == kNoRank)
        return slots[at].merge;
  }

private:
  struct Slot {
    uint64_t pair = 0;
    Merge merge;
  };
  static uint64_t pairOf(int32_t left, int32_t right) {
    return uint64_t(uint32_t(left)) << 32 | uint32_t(right);
  }

  std::vector<Slot> slots;
  size_t count = 0;
};

struct BpeOptions {
  int32_t unknown = Vocabulary::kNone;
  std::string continuingPrefix, wordSuffix;
  bool fusesUnknown = false, hasByteFallback = false, ignoresMerges = false;
  /// A symbol is a byte, and the vocabulary's texts spell bytes as characters
  /// (ByteLevel.h); otherwise it is a character.
  bool isByteLevel = false;
};

class BpeModel : public Model {
public:
  BpeModel(std::shared_ptr<const Vocabulary> vocabulary, MergeTable merges,
           BpeOptions options);

  Status encode(std::string_view piece, Scratch &scratch,
                std::vector<int32_t> &ids) const override;

private:
  void encodeWord(std::string_view word, Scratch &scratch,
                  std::vector<int32_t> &ids) const;
  void makeByteSymbols(std::string_view word, Scratch &scratch) const;
  void makeCharacterSymbols(std::string_view word, Scratch &scratch) const;
  bool addFallback(std::string_view text, std::vector<int32_t> &word) const;
  void addUnknown(std::string_view text, bool &wasUnknown,
                  Scratch &scratch) const;
  void mergeShort(Scratch &scratch) const;
  void mergeLong(Scratch &scratch) const;
  void pushPair(Scratch &scratch, int32_t left) const;
  int32_t findCharacter(std::string_view text) const;
  void fillTables();
  size_t safeLength(std::string_view piece) const;

  std::shared_ptr<const Vocabulary> vocabulary;
  /// Byte strings of the tokens, for ignoresMerges of a byte-level model.
  Vocabulary rawWords;
  MergeTable merges;
  BpeOptions options;
  /// Ids of the tokens that stand for bytes, if text falls back to them.
  std::array<int32_t, 256> byteIds{};
  /// Ids of characters below U+10000, or of bytes.
  std::vector<int32_t> characterIds;
  /// Characters behind which a token has U+2581, as bits.
  std::vector<bool> joinsSpace;
  bool splitsAtSpaces = false;
};

/// Makes a byte-level model of the vocabulary, with its decoder.
void setByteLevelModel(Tokenizer::Parts &parts, MergeTable merges,
                       BpeOptions options);

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_BPEMODEL_H
