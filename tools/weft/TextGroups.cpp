//===- TextGroups.cpp - Lists of files with globs and weights -------------===//

#include "Documents.h"

#include "weft/Base/Results.h"
#include "weft/Base/Text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <glob.h>

using namespace weft;

static bool existsAsNamed(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// Takes the weight behind the last colon, if there is one.
static Expected<double> takeWeight(std::string &name) {
  const size_t colon = name.rfind(':');
  if (colon == name.npos || existsAsNamed(name))
    return 0.0;
  const std::string text = name.substr(colon + 1);
  double weight = 0.0;
  const auto read =
      std::from_chars(text.data(), text.data() + text.size(), weight);
  if (text.empty() || read.ec != std::errc() ||
      read.ptr != text.data() + text.size() || !std::isfinite(weight) ||
      weight <= 0)
    return usageError("expects a weight above 0 behind the colon, but got ",
                      inQuotes(text))
        .at(name);
  name.resize(colon);
  return weight;
}

/// The files that a glob matches, in the order of their bytes.
static Expected<std::vector<std::string>> expand(const std::string &pattern) {
  if (existsAsNamed(pattern) || pattern.find_first_of("*?[") == pattern.npos)
    return std::vector<std::string>{pattern};
  glob_t found = {};
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0)
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  std::sort(files.begin(), files.end());
  if (files.empty())
    return inputError("expects a pattern of files, but none matches")
        .at(pattern);
  return files;
}

static Expected<TextGroup> parseGroup(const std::string &spelling) {
  TextGroup group;
  group.spelling = spelling;
  std::string name = spelling;
  if (Status s = assign(takeWeight(name), group.weight); !s)
    return s.takeError();
  if (name.empty())
    return usageError("expects a file, but got an empty name");
  if (Status s = assign(expand(name), group.files); !s)
    return s.takeError();
  return group;
}

Expected<std::vector<TextGroup>>
weft::parseTextGroups(const std::vector<std::string> &texts) {
  std::vector<TextGroup> groups;
  for (std::string rest : texts)
    do {
      const size_t end = existsAsNamed(rest)
                             ? rest.size()
                             : std::min(rest.find(','), rest.size());
      Expected<TextGroup> group = parseGroup(rest.substr(0, end));
      if (!group)
        return group.takeError();
      groups.push_back(std::move(*group));
      rest.erase(0, end + 1);
    } while (!rest.empty());
  for (const TextGroup &group : groups)
    if ((group.weight > 0) != (groups.front().weight > 0))
      return usageError("expects a weight for each file or for none, but ",
                        inQuotes(group.spelling), " differs from ",
                        inQuotes(groups.front().spelling));
  return groups;
}

std::vector<FileUse> weft::filesOf(const std::vector<TextGroup> &groups,
                                   const std::string &role) {
  std::vector<FileUse> uses;
  for (const TextGroup &group : groups)
    for (const std::string &file : group.files)
      uses.push_back({role, file});
  return uses;
}
