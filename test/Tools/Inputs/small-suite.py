import lit.formats

config.name = "small"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".test"]
