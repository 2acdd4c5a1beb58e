"""A lit format that removes the files of tests that pass, and lets a test skip itself."""

import glob
import os
import re
import shutil

import lit.formats
import lit.Test
import lit.TestRunner


def remove(path):
    """Removes a file or a folder, as far as it can be removed."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
        return
    try:
        os.remove(path)
    except OSError:
        pass


class SweptShTest(lit.formats.ShTest):
    """A ShTest; what one that does not fail wrote to %t and %t.NAME is removed.

    All tests together write 9 GB. `-Dkeep=1` keeps all.

    A test that finds out while it runs that this machine lacks something, such
    as the network, writes a line `weft-skip: REASON` and fails: it is
    unsupported then.
    """

    def execute(self, test, lit_config):
        result = super().execute(test, lit_config)
        if isinstance(result, tuple):
            result = lit.Test.Result(*result)
        reason = re.search(r"^(?:# \| )?weft-skip: (.+)$", result.output or "", re.M)
        if result.code.isFailure and reason:
            result = lit.Test.Result(lit.Test.UNSUPPORTED, reason[1])
        code = result.code
        if not code.isFailure and lit_config.params.get("keep", "0") == "0":
            _, base = lit.TestRunner.getTempPaths(test)
            for path in glob.glob(glob.escape(base + ".tmp") + "*"):
                remove(path)
        return result
