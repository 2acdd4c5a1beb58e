//===- HideLibraries.cpp - A machine that lacks some libraries ------------===//
//
// For LD_PRELOAD: dlopen finds no library of the file names that WEFT_HIDE
// lists with commas, wherever they are.
//
//===----------------------------------------------------------------------===//

#include <cstdlib>
#include <dlfcn.h>
#include <string>

static bool isHidden(const std::string &path) {
  const char *list = std::getenv("WEFT_HIDE");
  const std::string name = path.substr(path.rfind('/') + 1);
  return ("," + std::string(list ? list : "") + ",").find("," + name + ",") !=
         std::string::npos;
}

extern "C" void *dlopen(const char *path, int flags) {
  using Open = void *(*)(const char *, int);
  static const auto open = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
  if (path && isHidden(path))
    return open(("/hidden/" + std::string(path)).c_str(), flags);
  return open(path, flags);
}
