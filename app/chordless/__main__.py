"""The program ``chordless``, also as ``python -m chordless``: Ctrl-C ends it in a line while its modules are loaded."""

import sys


def main() -> int:
    """Run the program, and return its exit code."""
    try:
        from chordless.cli import main as run

        return run()
    except KeyboardInterrupt:
        sys.stderr.write("chordless: error: interrupted\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
