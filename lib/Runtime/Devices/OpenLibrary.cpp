//===- OpenLibrary.cpp - Libraries opened by name -------------------------===//

#include "weft/Runtime/Devices/OpenLibrary.h"

#include "weft/Base/Text.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <unistd.h>

using namespace weft;

/// Files called `name` in the folders that match a place.
static std::vector<std::string> findFiles(const std::string &place,
                                          const std::string &name) {
  glob_t found = {};
  std::vector<std::string> files;
  if (::glob((place + "/" + name).c_str(), 0, nullptr, &found) == 0)
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return files;
}

static std::string pathOf(void *handle, const std::string &name) {
  link_map *map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map->l_name[0])
    return name;
  return map->l_name;
}

/// The reason why the loader failed to open an existing file.
static std::string lastLoaderError() {
  const char *text = ::dlerror();
  return text ? text : "no reason";
}

/// Whether a file, after resolving links, is in a folder `stubs`: a toolkit has
/// libraries there that programs can be linked with and that cannot run.
static bool isStub(const std::string &path) {
  char *real = ::realpath(path.c_str(), nullptr);
  const std::string file = real ? real : path;
  std::free(real);
  return endsWith(file.substr(0, file.rfind('/') + 1), "/stubs/");
}

namespace {
/// The result of a search for a library.
struct Search {
  void *handle = nullptr; // null: there is none
  std::string file;
  std::string places; // that have none: "by the loader (WHY), in /lib"
  std::string remedy; // for hints, in addition to installing it

  /// Opens a name or a path with the loader. On failure it appends the reason
  /// to `places`.
  bool open(const std::string &name);
};
} // namespace

bool Search::open(const std::string &name) {
  handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    places += " (" + lastLoaderError() + ")";
    return false;
  }
  file = pathOf(handle, name);
  if (!isStub(file))
    return true;
  ::dlclose(handle);
  handle = nullptr;
  places += " (" + file + " is for linking alone and does nothing)";
  remedy = "; take the folder of " + file + " out of LD_LIBRARY_PATH";
  return false;
}

static Search searchFor(const std::string &name,
                        const std::vector<std::string> &places) {
  Search search;
  search.places = "by the loader";
  if (search.open(name))
    return search;
  for (const std::string &place : places) {
    search.places += ", in " + place;
    for (const std::string &file : findFiles(place, name))
      if (search.open(file))
        return search;
  }
  return search;
}

/// If both are missing, places and remedies tell about the newer file.
static Search searchFor(const LibraryName &name) {
  Search search = searchFor(name.file, name.places);
  if (search.handle || name.older.empty())
    return search;
  Search older = searchFor(name.older, name.places);
  return older.handle ? older : search;
}

static Error missing(const LibraryName &name, const Search &search) {
  return deviceError("expects the library ", name.describe(),
                     ", but found none ", search.places)
      .hint("install " + name.part + ", or name the folder of " + name.file +
            " in LD_LIBRARY_PATH" + search.remedy);
}

Expected<OpenLibrary> OpenLibrary::open(const LibraryName &name) {
  Search search = searchFor(name);
  if (!search.handle)
    return missing(name, search);
  return OpenLibrary(search.handle, std::move(search.file));
}

/// Adds an entry to a list, once.
static void addTo(std::string &list, const std::string &entry,
                  const char *separator) {
  const std::string bounded = separator + list + separator;
  if (bounded.find(separator + entry + separator) == std::string::npos)
    list += (list.empty() ? "" : separator) + entry;
}

Status weft::findLibraries(const std::vector<LibraryName> &names) {
  int count = 0;
  std::string files, parts, places, remedies;
  Status one;
  for (const LibraryName &name : names) {
    const Search search = searchFor(name);
    if (search.handle)
      continue;
    if (++count == 1)
      one = missing(name, search);
    addTo(files, name.describe(), ", ");
    addTo(parts, name.part, " and ");
    places += (count == 1 ? "" : "; ") + name.file + " " + search.places;
    remedies += search.remedy;
  }
  if (count < 2)
    return one;
  return deviceError("expects the libraries ", files,
                     ", but found none of: ", places)
      .hint("install " + parts +
            ", or name the folders of the libraries in LD_LIBRARY_PATH" +
            remedies);
}

Expected<void *> OpenLibrary::find(const char *symbol) const {
  if (void *address = ::dlsym(handle, symbol))
    return address;
  return deviceError("expects the entry point ", symbol, " in ", file,
                     ", but there is none");
}

//===----------------------------------------------------------------------===//
// Folders of CUDA's libraries
//===----------------------------------------------------------------------===//

/// Escapes the wildcards of a path.
static std::string literal(const std::string &path) {
  std::string text;
  for (char c : path) {
    if (c == '*' || c == '?' || c == '[' || c == '\\')
      text += '\\';
    text += c;
  }
  return text;
}

static std::string folderIn(const char *variable) {
  const char *text = std::getenv(variable);
  return text ? literal(text) : "";
}

/// The folder that holds bin/python3, where PATH has one: the links of a
/// virtual environment lead to another Python, whose packages are not its own.
static std::string pythonOnPath() {
  const char *text = std::getenv("PATH");
  std::string path = text ? text : "";
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find(':', begin), path.size());
    std::string folder = path.substr(begin, end - begin);
    if (!folder.empty() && ::access((folder + "/python3").c_str(), X_OK) == 0)
      return literal(folder.substr(0, folder.rfind('/')));
    begin = end + 1;
  }
  return "";
}

std::vector<std::string> weft::cudaLibraryPlaces() {
  std::vector<std::string> places;
  auto add = [&](const std::string &folder, const char *below) {
    if (folder.empty())
      return;
    std::string place = folder + below;
    for (const std::string &other : places)
      if (other == place)
        return;
    places.push_back(place);
  };
  for (const std::string &home :
       {folderIn("WEFT_CUDA_HOME"), folderIn("CUDA_HOME"),
        std::string("/usr/local/cuda")}) {
    add(home, "/lib64");
    add(home, "/lib");
  }
  const std::string home = folderIn("HOME");
  for (const std::string &python :
       {folderIn("VIRTUAL_ENV"), folderIn("CONDA_PREFIX"), pythonOnPath(),
        home.empty() ? "" : home + "/.local", std::string("/usr/local"),
        std::string("/usr")})
    add(python, "/lib/python3*/*-packages/nvidia/*/lib");
  return places;
}

Error weft::failedCall(const std::string &entry, const std::string &got,
                       bool isOutOfMemory) {
  const std::string message =
      "expects " + entry + " to succeed, but got " + got;
  if (!isOutOfMemory)
    return deviceError(message);
  return memoryError(message).hint(
      "other processes may use memory of the device (nvidia-smi lists them); a "
      "smaller --batch or --seq needs less");
}
