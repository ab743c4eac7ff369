"""``python -m app`` is the command ``chordless``."""

import sys

from app.cli import main

sys.exit(main())
