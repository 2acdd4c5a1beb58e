//===- OpenLibrary.cpp - Libraries opened by name -------------------------===//

#include "weft/Runtime/Devices/OpenLibrary.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <unistd.h>

using namespace weft;

/// Files called `name` in the folders that a place stands for.
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

/// What kept the loader from a file that is there.
static std::string lastLoaderError() {
  const char *text = ::dlerror();
  return text ? text : "no reason";
}

Expected<OpenLibrary>
OpenLibrary::open(const std::string &name,
                  const std::vector<std::string> &places) {
  if (void *handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))
    return OpenLibrary(handle, pathOf(handle, name));
  std::string looked = "by the loader (" + lastLoaderError() + ")";
  for (const std::string &place : places) {
    looked += ", in " + place;
    for (const std::string &file : findFiles(place, name)) {
      if (void *handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL))
        return OpenLibrary(handle, pathOf(handle, file));
      looked += " (" + lastLoaderError() + ")";
    }
  }
  return Error(ExitCode::Device,
               "expects the library " + name + ", but found none " + looked)
      .hint("install it, or name its folder in LD_LIBRARY_PATH");
}

Expected<void *> OpenLibrary::find(const char *symbol) const {
  if (void *address = ::dlsym(handle, symbol))
    return address;
  return Error(ExitCode::Device, "expects the entry point " +
                                     std::string(symbol) + " in " + file +
                                     ", but there is none");
}

//===----------------------------------------------------------------------===//
// Where CUDA's libraries lie
//===----------------------------------------------------------------------===//

/// A path in which no character stands for others.
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
