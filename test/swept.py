"""A lit format that removes what tests wrote once they pass."""

import glob
import os
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
    """

    def execute(self, test, lit_config):
        result = super().execute(test, lit_config)
        code = result[0] if isinstance(result, tuple) else result.code
        if not code.isFailure and lit_config.params.get("keep", "0") == "0":
            _, base = lit.TestRunner.getTempPaths(test)
            for path in glob.glob(glob.escape(base + ".tmp") + "*"):
                remove(path)
        return result
