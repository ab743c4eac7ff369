"""Draw the rooms of both packages in layers, from the contracts in `pyproject.toml`: ``python assets/rooms.py``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "assets" / "docs" / "rooms.svg"
_TITLES = {"chordless": "app/chordless: the application", "kernels_ti": "kernels_ti: the compute library"}
_LEFT = {"chordless": 20, "kernels_ti": 520}
_WIDTH, _TOP, _STEP, _HEIGHT, _GAP = 440, 56, 44, 34, 8
_STYLE = """\
    text { font: 15px sans-serif; fill: #1b1b1b; }
    .title { font-weight: bold; }
    .room { font: 12px monospace; text-anchor: middle; }
    .chordless { fill: #dcebf9; stroke: #7aa5cc; }
    .kernels_ti { fill: #e4f3df; stroke: #8abf78; }"""


def layers_of(package: str) -> list[list[str]]:
    """Return the rooms of a package, the uppermost layer first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (found,) = (each["layers"] for each in contracts if each.get("containers") == [package])
    return [re.split(r" [|:] ", layer) for layer in found]


def drawing() -> str:
    """Return the picture as SVG."""
    body, most = [], 0
    for package, title in _TITLES.items():
        layers = layers_of(package)
        most = max(most, len(layers))
        body.append(f'  <text x="{_LEFT[package]}" y="30" class="title">{title}</text>')
        for number, rooms in enumerate(layers):
            body += _layer(package, rooms, _TOP + _STEP * number)
    height = _TOP + _STEP * most + 40
    note = "A room may import from the rooms below it, and the application from kernels_ti. Nothing imports upward."
    body.append(f'  <text x="20" y="{height - 20}">{note}</text>')
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 980 {height}" role="img" '
        'aria-label="The rooms of both packages in layers">'
    )
    ground = '  <rect width="100%" height="100%" fill="#ffffff"/>'
    return "\n".join([head, "  <style>", _STYLE, "  </style>", ground, *body, "</svg>", ""])


def _layer(package: str, rooms: list[str], y: int) -> list[str]:
    """Draw one layer: a box for each room, as wide as its name needs."""
    room = _WIDTH - _GAP * (len(rooms) - 1)
    letters = sum(len(name) + 3 for name in rooms)
    x, lines = float(_LEFT[package]), []
    for name in rooms:
        width = room * (len(name) + 3) / letters
        box = f'x="{x:.0f}" y="{y}" width="{width:.0f}" height="{_HEIGHT}" rx="5"'
        lines.append(f'  <rect {box} class="{package}"/>')
        lines.append(f'  <text x="{x + width / 2:.0f}" y="{y + 22}" class="room">{name}</text>')
        x += width + _GAP
    return lines


if __name__ == "__main__":
    PICTURE.write_text(drawing(), encoding="utf-8")
