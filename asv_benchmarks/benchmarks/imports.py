"""The cost of an import, compared with NumPy's."""

import subprocess
import sys


class Import:
    """Import in a new process."""

    params = ["numpy", "lodcore"]
    param_names = ["module"]
    repeat = (5, 10, 5.0)
    rounds = 1

    def timeraw_import(self, module):
        return f"import {module}"

    def track_memory(self, module):
        """Resident bytes after the import."""
        code = f"import {module}; print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
        printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
        return int(printed) * 1024

    track_memory.unit = "bytes"
