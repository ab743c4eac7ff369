"""Draw the pictures of the dashboard: ``python assets/pictures.py [NAME...]`` writes ``assets/screens/*.png``.

For each screen there are three: ``NAME.png`` for the README and the documentation, and one for each size of a terminal
that the dashboard is designed for, ``NAME-80x24.png`` and ``NAME-160x50.png``. The name ``wave`` makes ``wave.gif``, a
replay of the paper's expansion that moves.
The runs in them were recorded (``tests/tui/recorded``); the listing alone is made anew, by one thread, so that its
cycles come in the same order each time. Needs ``rsvg-convert`` (Debian: librsvg2-bin), the font DejaVu Sans Mono
(fonts-dejavu-core) and Pillow.
"""

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from tui.scenes import Home, home_folder, picture_of, pictures_of_a_wave, words_of  # noqa: E402

FOLDER = ROOT / "assets" / "screens"
# As large as what they show, and as few columns as that takes: a page of the README is narrow.
SIZES = {
    "new": (100, 25),
    "run": (120, 40),
    "cycles": (100, 30),
    "runs": (100, 18),
    "compare": (120, 36),
    "batch": (100, 30),
    "help": (100, 36),
}
TERMINALS = ((80, 24), (160, 50))
WAVE, _WAVE_SIZE = "wave", (120, 40)
_FRAMES, _MILLISECONDS_OF_A_FRAME, _MILLISECONDS_OF_THE_LAST = 24, 400, 4000
# With it, the characters of DejaVu Sans Mono are as wide as Textual's cells; rsvg-convert does not stretch text.
_FONT_PIXELS = 12.2 / (1233 / 2048)
_COLOURS = 255
_COLOURS_OF_A_MOVING_PICTURE = 64


def main(names: list[str]) -> None:
    """Write these pictures, or all."""
    known = (*SIZES, WAVE)
    unknown = set(names) - set(known)
    if unknown:
        sys.exit(f"no picture is called {min(unknown)}; there are {', '.join(known)}")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, home_folder(Path(folder) / "ada") as home:
        for name in names or known:
            if name == WAVE:
                path = FOLDER / f"{WAVE}.gif"
                path.write_bytes(moving(pictures_of_a_wave(_WAVE_SIZE, home, _FRAMES)))
                print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")
                continue
            if name == "cycles":
                list_cycles(home)
            sizes = {name: SIZES[name]} | {f"{name}-{width}x{height}": (width, height) for width, height in TERMINALS}
            for file, size in sizes.items():
                path = FOLDER / f"{file}.png"
                path.write_bytes(rasterized(picture_of(name, size, home)))
                print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


def list_cycles(home: Home) -> None:
    """Put the cycles of Grid 7x10 where the recorded run has listed them."""
    made = home.path / "listing"
    command = ["list", "grid:7x10", "-o", f"{made}/", "--arch", "cpu", "--threads", "1", "--quiet"]
    # The list of runs shows no folder that is taken apart here.
    environment = os.environ | {"XDG_DATA_HOME": str(home.path / "data")}
    subprocess.run([sys.executable, "-m", "chordless", *command], cwd=ROOT, env=environment, check=True)
    for name in ("cycles", "checkpoint"):
        shutil.move(made / name, home.listing / name)


def moving(svgs: list[str]) -> bytes:
    """Return pictures of Textual's as one GIF that shows them in turn, for ever."""
    drawn = [Image.open(io.BytesIO(rasterized(svg))).convert("RGBA").convert("RGB") for svg in svgs]
    # One palette for all, so that what stands still is stored once.
    palette = drawn[-1].quantize(_COLOURS_OF_A_MOVING_PICTURE)
    frames = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in drawn]
    times = [_MILLISECONDS_OF_A_FRAME] * (len(frames) - 1) + [_MILLISECONDS_OF_THE_LAST]
    written = io.BytesIO()
    ways = {"duration": times, "loop": 0, "optimize": True}
    # By the words a test sees that the screen has changed since.
    ways["comment"] = words_of(svgs[-1])
    frames[0].save(written, "GIF", save_all=True, append_images=frames[1:], **ways)
    return written.getvalue()


def rasterized(svg: str) -> bytes:
    """Return a picture of Textual's as PNG, as a browser would draw it."""
    # Of the three dots few would guess that they are the buttons of a window.
    svg = re.sub(r"<circle [^>]*/>", "", svg)
    # rsvg-convert drops leading blanks that it is not told to keep.
    svg = svg.replace("<text ", '<text xml:space="preserve" ').replace("&#160;", " ")
    svg = svg.replace("font-size: 20px", f"font-size: {_FONT_PIXELS:.3f}px")
    svg = svg.replace("Fira Code, monospace", "DejaVu Sans Mono").replace("arial", "DejaVu Sans")
    drawn = subprocess.run(["rsvg-convert"], input=svg.encode(), stdout=subprocess.PIPE, check=True).stdout
    image = Image.open(io.BytesIO(drawn))
    plain = image.convert("RGB")
    # The commonest colours stay what they are, be it only those of thin curves; what is between them is blurred edges.
    commonest = sorted(plain.getcolors(plain.width * plain.height), reverse=True)[:_COLOURS]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for _, colour in commonest for part in colour])
    smaller = plain.quantize(palette=palette, dither=Image.Dither.NONE)
    # The corners are round.
    smaller.paste(_COLOURS, mask=image.getchannel("A").point(lambda alpha: 255 * (alpha < 128)))
    written = io.BytesIO()
    smaller.save(written, "PNG", optimize=True, transparency=_COLOURS)
    return written.getvalue()


if __name__ == "__main__":
    main(sys.argv[1:])
