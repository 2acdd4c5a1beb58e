// A plug-in of MLIR without passes; -DVERSION=N is its interface's version.
struct Info {
  unsigned version;
  const char *name, *pluginVersion;
  void (*registerPasses)(void);
};

static void registerPasses(void) {}

struct Info mlirGetPassPluginInfo(void) {
  struct Info info = {VERSION, "test", "1", registerPasses};
  return info;
}
