//===- BpeModel.cpp - Byte-pair encoding ----------------------------------===//

#include "BpeModel.h"

#include "ByteLevel.h"
#include "Unicode.h"

#include <algorithm>

namespace weft {

static constexpr char32_t kSpaceMark = 0x2581;
static constexpr std::string_view kSpaceMarkText = "\xE2\x96\x81";
/// Longer words are merged with a queue, in n log n steps.
static constexpr size_t kMostShort = 48;

std::string byteToken(unsigned char byte) {
  const char *digits = "0123456789ABCDEF";
  return std::string("<0x") + digits[byte >> 4] + digits[byte & 15] + ">";
}

static int hexDigit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                : -1;
}

int byteOfToken(std::string_view token) {
  if (token.size() != 6 || token.substr(0, 3) != "<0x" || token[5] != '>')
    return -1;
  const int high = hexDigit(token[3]), low = hexDigit(token[4]);
  return high < 0 || low < 0 ? -1 : 16 * high + low;
}

//===----------------------------------------------------------------------===//
// MergeTable
//===----------------------------------------------------------------------===//

void MergeTable::reserve(size_t wanted) {
  size_t size = 64;
  while (size < 2 * wanted)
    size *= 2;
  if (size <= slots.size())
    return;
  std::vector<Slot> old(size);
  old.swap(slots);
  const size_t mask = size - 1;
  for (const Slot &slot : old) {
    if (slot.merge.rank == kNoRank)
      continue;
    size_t at = hashPair(slot.pair) & mask;
    while (slots[at].merge.rank != kNoRank)
      at = (at + 1) & mask;
    slots[at] = slot;
  }
}

void MergeTable::add(int32_t left, int32_t right, uint32_t rank, int32_t id) {
  reserve(count + 1);
  const uint64_t pair = pairOf(left, right);
  const size_t mask = slots.size() - 1;
  size_t at = hashPair(pair) & mask;
  while (slots[at].merge.rank != kNoRank && slots[at].pair != pair)
    at = (at + 1) & mask;
  count += slots[at].merge.rank == kNoRank;
  slots[at] = {pair, {rank, id}};
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

BpeModel::BpeModel(std::shared_ptr<const Vocabulary> words, MergeTable table,
                   BpeOptions given)
    : vocabulary(std::move(words)), merges(std::move(table)),
      options(std::move(given)) {
  fillTables();
}

void BpeModel::fillTables() {
  for (int byte = 0; byte < 256; ++byte)
    byteIds[size_t(byte)] =
        vocabulary->find(byteToken(static_cast<unsigned char>(byte)));
  if (options.isByteLevel) {
    characterIds.resize(256);
    for (int byte = 0; byte < 256; ++byte)
      characterIds[size_t(byte)] =
          vocabulary->find(spellBytes(std::string(1, char(byte))));
    for (int32_t id = 0; options.ignoresMerges && id < vocabulary->size(); ++id)
      if (vocabulary->has(id))
        if (auto raw = bytesSpelt(vocabulary->text(id)))
          (void)rawWords.add(*raw, id); // spellings and bytes are one to one
    return;
  }
  characterIds.assign(0x10000, Vocabulary::kNone);
  joinsSpace.resize(0x110000);
  for (int32_t id = 0; id < vocabulary->size(); ++id) {
    if (!vocabulary->has(id))
      continue;
    const std::string_view text = vocabulary->text(id);
    char32_t last = 0;
    for (size_t at = 0; at < text.size();) {
      const size_t begin = at;
      const char32_t c = decodeNext(text, at);
      if (begin == 0 && at == text.size() && c < 0x10000)
        characterIds[c] = id;
      if (begin > 0 && c == kSpaceMark)
        joinsSpace[last] = true;
      last = c;
    }
  }
  splitsAtSpaces = options.continuingPrefix.empty() &&
                   options.wordSuffix.empty() && !options.ignoresMerges &&
                   characterIds[kSpaceMark] != Vocabulary::kNone;
}

int32_t BpeModel::findCharacter(std::string_view text) const {
  size_t at = 0;
  const char32_t c = decodeNext(text, at);
  return c < 0x10000 ? characterIds[c] : vocabulary->find(text);
}

/// The length of the first part of a piece that no token leaves: behind it
/// stands U+2581, which follows its last character in no token. Merges never
/// join the two, so both sides can be encoded on their own.
size_t BpeModel::safeLength(std::string_view piece) const {
  if (!splitsAtSpaces)
    return piece.size();
  for (size_t at = 1; (at = piece.find(kSpaceMarkText, at)) != piece.npos;
       at += kSpaceMarkText.size()) {
    size_t last = previousStart(piece, at);
    const std::string_view before = piece.substr(last, at - last);
    if (findCharacter(before) == Vocabulary::kNone)
      continue; // bytes or unknown text, which may belong to other tokens
    if (!joinsSpace[decodeNext(piece, last)])
      return at;
  }
  return piece.size();
}

//===----------------------------------------------------------------------===//
// Symbols of a word
//===----------------------------------------------------------------------===//

bool BpeModel::addFallback(std::string_view text,
                           std::vector<int32_t> &word) const {
  const size_t before = word.size();
  for (char c : text) {
    word.push_back(byteIds[static_cast<unsigned char>(c)]);
    if (word.back() == Vocabulary::kNone) {
      word.resize(before);
      return false;
    }
  }
  return true;
}

/// `wasUnknown`: unknown text precedes, for a model that fuses it.
void BpeModel::addUnknown(std::string_view text, bool &wasUnknown,
                          Scratch &scratch) const {
  if (options.hasByteFallback && addFallback(text, scratch.word))
    return;
  if (options.unknown == Vocabulary::kNone) {
    ++scratch.unencodable;
    return;
  }
  if (!wasUnknown || !options.fusesUnknown)
    scratch.word.push_back(options.unknown);
  wasUnknown = true;
}

void BpeModel::makeByteSymbols(std::string_view word, Scratch &scratch) const {
  bool wasUnknown = false;
  for (char c : word) {
    const int32_t id = characterIds[static_cast<unsigned char>(c)];
    if (id == Vocabulary::kNone) {
      addUnknown(spellBytes(std::string_view(&c, 1)), wasUnknown, scratch);
      continue;
    }
    wasUnknown = false;
    scratch.word.push_back(id);
  }
}

void BpeModel::makeCharacterSymbols(std::string_view word,
                                    Scratch &scratch) const {
  const bool isDecorated =
      !options.continuingPrefix.empty() || !options.wordSuffix.empty();
  bool wasUnknown = false;
  std::string decorated;
  for (size_t at = 0; at < word.size();) {
    const size_t length = sequenceLength(word[at]);
    std::string_view text = word.substr(at, length);
    int32_t id;
    if (isDecorated) {
      decorated = at > 0 ? options.continuingPrefix : "";
      decorated += text;
      if (at + length == word.size())
        decorated += options.wordSuffix;
      text = decorated;
      id = vocabulary->find(text);
    } else {
      id = findCharacter(text);
    }
    at += length;
    if (id == Vocabulary::kNone) {
      addUnknown(text, wasUnknown, scratch);
      continue;
    }
    wasUnknown = false;
    scratch.word.push_back(id);
  }
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

/// Merges the leftmost pair of the lowest rank until none is left.
void BpeModel::mergeShort(Scratch &scratch) const {
  std::vector<int32_t> &word = scratch.word, &merged = scratch.merged;
  std::vector<uint32_t> &ranks = scratch.ranks;
  size_t count = word.size();
  ranks.assign(count, MergeTable::kNoRank);
  merged.resize(count);
  auto look = [&](size_t at) {
    const MergeTable::Merge merge = at + 1 < count
                                        ? merges.find(word[at], word[at + 1])
                                        : MergeTable::Merge();
    ranks[at] = merge.rank;
    merged[at] = merge.id;
  };
  for (size_t at = 0; at + 1 < count; ++at)
    look(at);
  while (count > 1) {
    size_t best = 0;
    for (size_t at = 1; at + 1 < count; ++at)
      if (ranks[at] < ranks[best])
        best = at;
    if (ranks[best] == MergeTable::kNoRank)
      break;
    word[best] = merged[best];
    const size_t moved = count - best - 2;
    std::memmove(&word[best + 1], &word[best + 1] + 1, moved * 4);
    std::memmove(&ranks[best + 1], &ranks[best + 1] + 1, moved * 4);
    std::memmove(&merged[best + 1], &merged[best + 1] + 1, moved * 4);
    --count;
    look(best);
    if (best > 0)
      look(best - 1);
  }
  word.resize(count);
}

void BpeModel::pushPair(Scratch &scratch, int32_t left) const {
  const Symbol &symbol = scratch.symbols[size_t(left)];
  if (left < 0 || symbol.next < 0)
    return;
  const MergeTable::Merge merge =
      merges.find(symbol.id, scratch.symbols[size_t(symbol.next)].id);
  if (merge.rank == MergeTable::kNoRank)
    return;
  scratch.queue.push_back(uint64_t(merge.rank) << 32 | uint32_t(left));
  std::push_heap(scratch.queue.begin(), scratch.queue.end(), std::greater<>());
}

/// The same as mergeShort(), with pairs in a queue by rank and position.
void BpeModel::mergeLong(Scratch &scratch) const {
  std::vector<Symbol> &symbols = scratch.symbols;
  const int32_t count = int32_t(scratch.word.size());
  symbols.resize(size_t(count));
  scratch.queue.clear();
  for (int32_t i = 0; i < count; ++i)
    symbols[size_t(i)] = {scratch.word[size_t(i)], i - 1,
                          i + 1 < count ? i + 1 : -1};
  for (int32_t i = 0; i + 1 < count; ++i)
    pushPair(scratch, i);
  while (!scratch.queue.empty()) {
    const uint64_t top = scratch.queue.front();
    std::pop_heap(scratch.queue.begin(), scratch.queue.end(), std::greater<>());
    scratch.queue.pop_back();
    const int32_t left = int32_t(uint32_t(top));
    Symbol &symbol = symbols[size_t(left)];
    if (symbol.id == Vocabulary::kNone || symbol.next < 0)
      continue;
    Symbol &right = symbols[size_t(symbol.next)];
    const MergeTable::Merge merge = merges.find(symbol.id, right.id);
    if (merge.rank != uint32_t(top >> 32))
      continue; // the pair has changed since
    symbol.id = merge.id;
    right.id = Vocabulary::kNone;
    symbol.next = right.next;
    if (symbol.next >= 0)
      symbols[size_t(symbol.next)].previous = left;
    if (symbol.previous >= 0)
      pushPair(scratch, symbol.previous);
    pushPair(scratch, left);
  }
  scratch.word.clear();
  for (int32_t at = 0; at >= 0; at = symbols[size_t(at)].next)
    scratch.word.push_back(symbols[size_t(at)].id);
}

void BpeModel::encodeWord(std::string_view word, Scratch &scratch,
                          std::vector<int32_t> &ids) const {
  const uint64_t hash = hashText(word);
  if (scratch.cache.find(word, hash, ids))
    return;
  if (options.ignoresMerges) {
    const Vocabulary &words = options.isByteLevel ? rawWords : *vocabulary;
    if (const int32_t id = words.find(word); id != Vocabulary::kNone) {
      ids.push_back(id);
      scratch.cache.keep(word, hash, &id, 1);
      return;
    }
  }
  const int64_t unencodable = scratch.unencodable;
  scratch.word.clear();
  if (options.isByteLevel)
    makeByteSymbols(word, scratch);
  else
    makeCharacterSymbols(word, scratch);
  if (scratch.word.size() > kMostShort)
    mergeLong(scratch);
  else if (scratch.word.size() > 1)
    mergeShort(scratch);
  ids.insert(ids.end(), scratch.word.begin(), scratch.word.end());
  if (unencodable == scratch.unencodable)
    scratch.cache.keep(word, hash, scratch.word.data(), scratch.word.size());
}

Status BpeModel::encode(std::string_view piece, Scratch &scratch,
                        std::vector<int32_t> &ids) const {
  while (!piece.empty()) {
    const size_t length = safeLength(piece);
    encodeWord(piece.substr(0, length), scratch, ids);
    piece.remove_prefix(length);
  }
  return Status::success();
}

void setByteLevelModel(Tokenizer::Parts &parts, MergeTable merges,
                       BpeOptions options) {
  options.isByteLevel = true;
  parts.model = std::make_unique<BpeModel>(
      std::make_shared<const Vocabulary>(*parts.vocabulary), std::move(merges),
      std::move(options));
  parts.decoders.push_back(std::make_shared<ByteLevelDecoder>());
  parts.decodesBytes = true;
}

} // namespace weft
