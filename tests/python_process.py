"""Python in a process of its own, for what a program would do from its start."""

from __future__ import annotations

import os
import subprocess
import sys

from patience import PATIENCE


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code; `environment` is added to the variables."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
