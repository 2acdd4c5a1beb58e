//===- OpenLibraryTest.cpp - Search paths of libraries --------------------===//

#include "weft/Runtime/Devices/OpenLibrary.h"

#include "../Base/TestSupport.h"

#include <cstdlib>
#include <sys/stat.h>

using namespace weft;

namespace {

/// An environment variable for the length of a test.
class Variable {
public:
  Variable(const char *name, const std::string &value) : name(name) {
    if (const char *old = std::getenv(name))
      before = old, wasSet = true;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { wasSet ? ::setenv(name, before.c_str(), 1) : ::unsetenv(name); }

private:
  const char *name;
  std::string before;
  bool wasSet = false;
};

bool contains(const std::vector<std::string> &places, const std::string &one) {
  for (const std::string &place : places)
    if (place == one)
      return true;
  return false;
}

} // namespace

TEST(OpenLibrary, FindsWhatTheLoaderFinds) {
  Expected<OpenLibrary> library = OpenLibrary::open({"libm.so.6", "libc", {}});
  ASSERT_TRUE(library.ok());
  EXPECT_TRUE(endsWith(library->path(), "/libm.so.6")) << library->path();
  Expected<void *> floor = library->find("floor");
  ASSERT_TRUE(floor.ok());
  EXPECT_EQ(reinterpret_cast<double (*)(double)>(*floor)(3.5), 3.0);
}

TEST(OpenLibrary, NamesAMissingEntryPoint) {
  Expected<OpenLibrary> library = OpenLibrary::open({"libm.so.6", "libc", {}});
  ASSERT_TRUE(library.ok());
  Expected<void *> none = library->find("weft_none");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code(), ExitCode::Device);
  EXPECT_EQ(none.error().message(), "expects the entry point weft_none in " +
                                        library->path() +
                                        ", but there is none");
}

TEST(OpenLibrary, LooksIntoEveryPlace) {
  Expected<OpenLibrary> libm = OpenLibrary::open({"libm.so.6", "libc", {}});
  ASSERT_TRUE(libm.ok());
  TempDir folder;
  std::filesystem::create_directories(folder.file("a/python3.9/lib"));
  std::filesystem::copy_file(libm->path(),
                             folder.file("a/python3.9/lib/libweft-m.so"));
  Expected<OpenLibrary> library =
      OpenLibrary::open({"libweft-m.so",
                         "weft",
                         {folder.file("none"), folder.file("a/python3*/*")}});
  ASSERT_TRUE(library.ok()) << library.error().message();
  EXPECT_EQ(library->path(), folder.file("a/python3.9/lib/libweft-m.so"));
}

TEST(OpenLibrary, NamesEveryPlaceWhereThereIsNone) {
  TempDir folder;
  folder.write("libweft-none.so", "no library");
  Expected<OpenLibrary> library =
      OpenLibrary::open({"libweft-none.so", "weft", {"/none", folder.path()}});
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code(), ExitCode::Device);
  const std::string &text = library.error().message();
  EXPECT_EQ(text.find("expects the library libweft-none.so, but found none by "
                      "the loader ("),
            0u)
      << text;
  // The error of a file that exists follows its folder.
  EXPECT_NE(text.find(", in /none, in " + folder.path() + " ("),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("file too short"), std::string::npos) << text;
  EXPECT_EQ(library.error().hintText(),
            "install weft, or name the folder of libweft-none.so in "
            "LD_LIBRARY_PATH");
}

TEST(OpenLibrary, TakesAnOlderVersionIfNoPlaceHasTheNewOne) {
  Expected<OpenLibrary> libm = OpenLibrary::open({"libm.so.6", "libc", {}});
  ASSERT_TRUE(libm.ok());
  TempDir folder;
  for (const char *name : {"a", "b"})
    std::filesystem::create_directories(folder.file(name));
  std::filesystem::copy_file(libm->path(), folder.file("a/libweft-m.so.12"));
  const LibraryName name = {"libweft-m.so.13",
                            "weft",
                            {folder.file("a"), folder.file("b")},
                            "libweft-m.so.12"};
  Expected<OpenLibrary> older = OpenLibrary::open(name);
  ASSERT_TRUE(older.ok()) << older.error().message();
  EXPECT_EQ(older->path(), folder.file("a/libweft-m.so.12"));
  EXPECT_TRUE(findLibraries({name}).ok());
  std::filesystem::copy_file(libm->path(), folder.file("b/libweft-m.so.13"));
  Expected<OpenLibrary> newer = OpenLibrary::open(name);
  ASSERT_TRUE(newer.ok()) << newer.error().message();
  EXPECT_EQ(newer->path(), folder.file("b/libweft-m.so.13"));
  std::filesystem::remove_all(folder.file("a"));
  std::filesystem::remove_all(folder.file("b"));
  Expected<OpenLibrary> none = OpenLibrary::open(name);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message().find(
                "expects the library libweft-m.so.13 or libweft-m.so.12, but "
                "found none by the loader ("),
            0u)
      << none.error().message();
}

TEST(OpenLibrary, TakesNoStub) {
  Expected<OpenLibrary> libm = OpenLibrary::open({"libm.so.6", "libc", {}});
  ASSERT_TRUE(libm.ok());
  TempDir folder;
  const std::string stubs = folder.file("lib/stubs"),
                    links = folder.file("links"), name = "libweft-m.so";
  for (const std::string &place : {stubs, links})
    std::filesystem::create_directories(place);
  std::filesystem::copy_file(libm->path(), stubs + "/libm.so");
  std::filesystem::create_symlink(stubs + "/libm.so", links + "/" + name);
  Expected<OpenLibrary> none = OpenLibrary::open({name, "weft", {links}});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code(), ExitCode::Device);
  EXPECT_NE(
      none.error().message().find(", in " + links + " (" + links + "/" + name +
                                  " is for linking alone and does nothing)"),
      std::string::npos)
      << none.error().message();
  EXPECT_NE(none.error().hintText().find("; take the folder of " + links + "/" +
                                         name + " out of LD_LIBRARY_PATH"),
            std::string::npos)
      << none.error().hintText();
  // A library in a later folder is found; a folder's path may contain "stubs".
  std::filesystem::create_directories(folder.file("stubs/real"));
  std::filesystem::copy_file(libm->path(), folder.file("stubs/real/" + name));
  Expected<OpenLibrary> found =
      OpenLibrary::open({name, "weft", {links, folder.file("stubs/real")}});
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(found->path(), folder.file("stubs/real/" + name));
}

TEST(FindLibraries, ListsAllThatAreMissing) {
  EXPECT_TRUE(findLibraries({{"libm.so.6", "libc", {}}}).ok());
  const LibraryName first = {"libweft-a.so", "weft", {"/first"}},
                    there = {"libm.so.6", "libc", {}},
                    second = {"libweft-b.so", "weft", {"/second"}},
                    third = {"libweft-c.so", "weft 2", {"/third"}};
  Status one = findLibraries({there, second});
  ASSERT_FALSE(one.ok());
  EXPECT_EQ(one.error().message().find("expects the library libweft-b.so, but "
                                       "found none by the loader ("),
            0u)
      << one.error().message();
  Status all = findLibraries({first, there, second, third});
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.error().code(), ExitCode::Device);
  const std::string &text = all.error().message();
  EXPECT_EQ(text.find("expects the libraries libweft-a.so, libweft-b.so, "
                      "libweft-c.so, but found none of: libweft-a.so by the "
                      "loader ("),
            0u)
      << text;
  for (const char *part :
       {"), in /first; libweft-b.so by the loader (",
        "), in /second; libweft-c.so by the loader (", "), in /third"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(all.error().hintText(),
            "install weft and weft 2, or name the folders of the libraries in "
            "LD_LIBRARY_PATH");
}

TEST(CudaLibraryPlaces, ComeFromTheEnvironment) {
  TempDir folder;
  std::filesystem::create_directories(folder.file("bin"));
  folder.write("bin/python3", "#!/bin/sh\n");
  ::chmod(folder.file("bin/python3").c_str(), 0755);
  Variable path("PATH", "/none:" + folder.file("bin"));
  Variable chosen("WEFT_CUDA_HOME", "/chosen");
  Variable cuda("CUDA_HOME", "/c*da");
  Variable home("HOME", "/home/someone");
  Variable environment("VIRTUAL_ENV", "/environment");
  std::vector<std::string> places = cudaLibraryPlaces();
  ASSERT_GE(places.size(), 4u);
  EXPECT_EQ(places[0], "/chosen/lib64");
  EXPECT_EQ(places[1], "/chosen/lib");
  EXPECT_EQ(places[2], "/c\\*da/lib64");
  const std::string wheels = "/lib/python3*/*-packages/nvidia/*/lib";
  for (const std::string &python :
       {std::string("/environment"), folder.path(),
        std::string("/home/someone/.local"), std::string("/usr")})
    EXPECT_TRUE(contains(places, python + wheels)) << python;
}

TEST(CudaLibraryPlaces, StandOnce) {
  Variable chosen("WEFT_CUDA_HOME", "/usr/local/cuda");
  Variable cuda("CUDA_HOME", "/usr/local/cuda");
  int count = 0;
  for (const std::string &place : cudaLibraryPlaces())
    count += place == "/usr/local/cuda/lib64";
  EXPECT_EQ(count, 1);
}
