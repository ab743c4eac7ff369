"""``python -m chordless`` is the command ``chordless``."""

import sys

from chordless.cli import main

sys.exit(main())
