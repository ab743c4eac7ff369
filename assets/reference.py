"""Render the documentation as a folder of web pages: ``python assets/reference.py FOLDER`` (needs the extra docs).

The pages are those of `assets/docs`, with the API reference, which is made from docstrings. A link that leads nowhere
is an error.
"""

import sys
from pathlib import Path
from typing import Any

CONFIGURATION = Path(__file__).resolve().parent / "site" / "mkdocs.yml"


def on_files(files: Any, **_: Any) -> None:
    """Put the pages on the top floor of the site, as mkdocs calls its hooks before it reads them."""
    for file in files.documentation_pages():
        file.dest_uri = file.dest_uri.removeprefix("docs/")


def main(folder: Path) -> None:
    """Write the site.

    Raises
    ------
    SystemExit
        If mkdocs is not installed, or warns of anything: a link that leads nowhere, a page that the configuration does
        not name.
    """
    try:
        from mkdocs.__main__ import build_command
    except ImportError:
        sys.exit("the documentation needs mkdocs: pip install 'chordless[docs]'")
    build_command(["--config-file", str(CONFIGURATION), "--site-dir", str(folder.resolve()), "--strict"])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python assets/reference.py FOLDER")
    main(Path(sys.argv[1]))
