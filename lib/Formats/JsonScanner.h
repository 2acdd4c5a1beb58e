//===- JsonScanner.h - JSON whose end may be cut off ------------*- C++ -*-===//
//
// Private to lib/Formats.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_FORMATS_JSONSCANNER_H
#define WEFT_LIB_FORMATS_JSONSCANNER_H

#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Reads JSON values whose end may be cut off. parseJson() does not tell text
/// that is cut from text that is wrong.
class JsonScanner {
public:
  enum class Result { Whole, Cut, Wrong };

  explicit JsonScanner(std::string_view text) : text(text) {}

  /// One value; an object or an array at the front.
  Result scanValue();
  /// Skips space; whether nothing is left.
  bool isAtEnd();

  /// Names of the outermost objects' members that are strings.
  std::vector<std::string> fields;
  /// Whether these objects have members of other kinds too.
  bool hasOtherMembers = false;

private:
  bool has(char c) const { return at < text.size() && text[at] == c; }
  Result scanString(std::string *content = nullptr);
  Result scanWord();
  Result scanKey();
  Result scanInner();
  Result close();

  std::string_view text;
  size_t at = 0;
  std::string open; // brackets around `at`
};

} // namespace weft

#endif // WEFT_LIB_FORMATS_JSONSCANNER_H
