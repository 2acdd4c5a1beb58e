//===- JsonFields.h - Lists and tables that may be absent -------*- C++ -*-===//

#ifndef WEFT_FORMATS_JSONFIELDS_H
#define WEFT_FORMATS_JSONFIELDS_H

#include "weft/Formats/Json.h"

namespace weft {

/// Hands each element of the array `name` to `read`; there may be no such
/// field.
template <typename Read>
Status readElements(const JsonCursor &root, const char *name, Read read) {
  auto field = root.find(name);
  if (!field)
    return Status::success();
  auto size = field->arraySize();
  if (!size)
    return size.takeError();
  for (size_t i = 0; i < *size; ++i)
    if (Status s = read(field->element(i)); !s)
      return s;
  return Status::success();
}

/// The same for an object: the name of each member, and its value.
template <typename Read>
Status readMembers(const JsonCursor &root, const char *name, Read read) {
  auto field = root.find(name);
  if (!field)
    return Status::success();
  auto size = field->objectSize();
  if (!size)
    return size.takeError();
  for (size_t i = 0; i < *size; ++i)
    if (Status s = read(field->value().asObject()[i].name, field->member(i));
        !s)
      return s;
  return Status::success();
}

} // namespace weft

#endif // WEFT_FORMATS_JSONFIELDS_H
