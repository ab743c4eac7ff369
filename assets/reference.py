"""Write the API reference as a folder of web pages: ``python assets/reference.py FOLDER`` (needs the extra docs)."""

import sys
from pathlib import Path

import kernels_ti

try:
    import pdoc
except ImportError:
    sys.exit("the API reference needs pdoc: pip install 'chordless[docs]'")

MODULES = (
    "kernels_ti",
    "kernels_ti.estimate.device_choice",
    "kernels_ti.cycles",
    "kernels_ti.estimate.estimate",
    "chordless.networkx_backend",
)


def main(folder: Path) -> None:
    """Write the pages."""
    for name in kernels_ti.__all__:  # each is loaded when it is first asked for, and pdoc does not ask
        setattr(kernels_ti, name, getattr(kernels_ti, name))
    pdoc.render.configure(docformat="numpy", footer_text="chordless")
    pdoc.pdoc(*MODULES, output_directory=folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python assets/reference.py FOLDER")
    main(Path(sys.argv[1]))
