//===- Results.h - Errors made of parts, and assigned values ----*- C++ -*-===//

#ifndef WEFT_BASE_RESULTS_H
#define WEFT_BASE_RESULTS_H

#include "weft/Base/Error.h"

#include <iterator>
#include <optional>
#include <type_traits>

namespace weft {

/// Appends a text or a number, as std::to_string() writes it.
template <typename Part> void appendPart(std::string &text, const Part &part) {
  static_assert(!std::is_same_v<Part, bool> && !std::is_same_v<Part, char>,
                "expects a text or a number");
  if constexpr (std::is_arithmetic_v<Part> || std::is_enum_v<Part>)
    text += std::to_string(part);
  else
    text += std::string_view(part);
}

/// The parts, one after the other.
template <typename... Parts> std::string concat(const Parts &...parts) {
  std::string text;
  (appendPart(text, parts), ...);
  return text;
}

/// The texts of a list with a separator between them.
template <typename List>
std::string joined(const List &texts, std::string_view separator = ", ") {
  std::string all;
  for (const auto &text : texts)
    all += concat(&text == &*std::begin(texts) ? "" : separator, text);
  return all;
}

/// Errors whose messages are such texts, by exit code.
template <typename... Parts> Error internalError(const Parts &...parts) {
  return Error(ExitCode::Internal, concat(parts...));
}
template <typename... Parts> Error deviceError(const Parts &...parts) {
  return Error(ExitCode::Device, concat(parts...));
}
template <typename... Parts> Error communicationError(const Parts &...parts) {
  return Error(ExitCode::Communication, concat(parts...));
}
template <typename... Parts> Error numericsError(const Parts &...parts) {
  return Error(ExitCode::Numerics, concat(parts...));
}
template <typename... Parts> Error memoryError(const Parts &...parts) {
  return Error(ExitCode::DoesNotFit, concat(parts...));
}
template <typename First, typename Second, typename... Rest>
Error inputError(const First &first, const Second &second,
                 const Rest &...rest) {
  return inputError(concat(first, second, rest...));
}
template <typename First, typename Second, typename... Rest>
Error usageError(const First &first, const Second &second,
                 const Rest &...rest) {
  return usageError(concat(first, second, rest...));
}
template <typename First, typename Second, typename... Rest>
Error checkpointError(const First &first, const Second &second,
                      const Rest &...rest) {
  return checkpointError(concat(first, second, rest...));
}
template <typename First, typename Second, typename... Rest>
Error storageError(const First &first, const Second &second,
                   const Rest &...rest) {
  return storageError(concat(first, second, rest...));
}

/// Moves a value to `target`, unless there is an error in its place.
template <typename T, typename Target>
Status assign(Expected<T> result, Target &target) {
  if (!result)
    return result.takeError();
  target = std::move(*result);
  return Status::success();
}
template <typename T>
Status assign(Expected<T> result, std::optional<T> &target) {
  if (!result)
    return result.takeError();
  target.emplace(std::move(*result));
  return Status::success();
}

} // namespace weft

#endif // WEFT_BASE_RESULTS_H
