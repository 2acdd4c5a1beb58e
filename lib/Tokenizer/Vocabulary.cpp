//===- Vocabulary.cpp - Tokens and their numbers --------------------------===//

#include "Vocabulary.h"

#include "Hashing.h"

#include "weft/Base/Results.h"

namespace weft {

int32_t Vocabulary::find(std::string_view wanted) const {
  if (slots.empty())
    return kNone;
  const size_t mask = slots.size() - 1;
  for (size_t slot = hashText(wanted) & mask;; slot = (slot + 1) & mask) {
    const int32_t id = slots[slot];
    if (id == kNone || text(id) == wanted)
      return id;
  }
}

void Vocabulary::grow() {
  slots.assign(slots.empty() ? 64 : 2 * slots.size(), kNone);
  const size_t mask = slots.size() - 1;
  for (int32_t id = 0; id < size(); ++id) {
    if (!has(id))
      continue;
    size_t slot = hashText(text(id)) & mask;
    while (slots[slot] != kNone)
      slot = (slot + 1) & mask;
    slots[slot] = id;
  }
}

Status Vocabulary::add(std::string_view added, int64_t id) {
  if (id < 0 || id >= kMostTokens)
    return inputError("expects token numbers from 0 to ", kMostTokens - 1,
                      ", but got ", id, " for ", inQuotes(added));
  if (has(id))
    return inputError("expects one token for each number, but got ",
                      inQuotes(text(int32_t(id))), " and ", inQuotes(added),
                      " for ", id);
  if (const int32_t other = find(added); other != kNone)
    return inputError("expects one number for each token, but got ", other,
                      " and ", id, " for ", inQuotes(added));
  if (id >= size())
    entries.resize(size_t(id) + 1);
  entries[size_t(id)] = {bytes.size(), uint32_t(added.size()), true};
  bytes += added;
  ++present;
  if (2 * size_t(present) > slots.size()) {
    grow();
    return Status::success();
  }
  const size_t mask = slots.size() - 1;
  size_t slot = hashText(added) & mask;
  while (slots[slot] != kNone)
    slot = (slot + 1) & mask;
  slots[slot] = int32_t(id);
  return Status::success();
}

Status Vocabulary::checkHoles() const {
  for (int64_t id = 0; id < size(); ++id)
    if (!has(id))
      return inputError("expects a token for each number from 0 to ",
                        size() - 1, ", but got none for ", id);
  return Status::success();
}

} // namespace weft
