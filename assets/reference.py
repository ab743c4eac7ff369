"""Render the documentation as a folder of web pages: ``python assets/reference.py FOLDER`` (needs the extra docs).

The pages are those of `assets/docs`, with the API reference, which is made from docstrings, and the tutorial, which is
made from `assets/tutorial.py`. A link that leads nowhere is an error.
"""

import ast
import re
import sys
from pathlib import Path
from typing import Any

ASSETS = Path(__file__).resolve().parent
CONFIGURATION = ASSETS / "site" / "mkdocs.yml"


def page_of_program(program: str) -> str:
    """Return a program as a page: its docstring and its comments are text, the rest is code between."""
    page = [f"# Tutorial\n\n{ast.get_docstring(ast.parse(program))}"]
    for part in re.split(r"^((?:#.*\n)+)", program.partition('"""\n')[2], flags=re.MULTILINE):
        if not part.startswith("#"):
            page.append(f"```python\n{part.strip()}\n```" if part.strip() else "")
            continue
        text = " ".join(line.lstrip("# ") for line in part.splitlines())
        page.append(re.sub(r"^(\d+\. [^.]+)\. ", r"## \1\n\n", text))
    return "\n\n".join(page)


def on_files(files: Any, config: Any) -> None:
    """Add the tutorial, and put the pages on the top floor of the site: mkdocs calls this before it reads them."""
    from mkdocs.structure.files import File

    tutorial = page_of_program((ASSETS / "tutorial.py").read_text(encoding="utf-8"))
    files.append(File.generated(config, "docs/tutorial.md", content=tutorial))
    for file in files.documentation_pages():
        file.dest_uri = file.dest_uri.removeprefix("docs/")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Let links to the program of the tutorial lead to its page."""
    return markdown.replace("(../tutorial.py", "(tutorial.md")


def on_page_content(html: str, **_: Any) -> str:
    """Keep code in a line of text together with the punctuation around it, which begins and ends no line alone."""
    return re.sub(r"[(\[]*<code>[^<\n]*</code>[)\].,;:]*", r'<span class="whole">\g<0></span>', html)


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
