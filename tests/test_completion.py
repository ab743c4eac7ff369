"""``chordless completion``: what the shells make of the scripts."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from chordless.commands.completion import SHELLS
from patience import PATIENCE
from program import chordless


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """A file with the script for each shell."""
    folder = tmp_path_factory.mktemp("completion")
    for shell in SHELLS:
        done = chordless("completion", shell)
        assert (done.returncode, done.stderr) == (0, "")
        (folder / shell).write_text(done.stdout)
    return folder


def run(shell, code, folder):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"needs {shell}")
    flags = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run([program, *flags, "-c", code], capture_output=True, text=True, cwd=folder, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.split("\n")[:-1]


def completed(shell, words, scripts):
    """Return what `shell` offers for the last of the words."""
    if shell == "fish":
        lines = run("fish", f'source {scripts / "fish"}; complete -C "{" ".join(words)}"', scripts)
        return sorted(line.split("\t")[0] for line in lines)
    code = (
        f'eval "$(<{scripts / "bash"})"; set -- $(complete -p chordless); function=${{@: -2:1}}; '
        f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; COMP_TYPE=9; "
        f'COMPREPLY=(); "$function" chordless "{words[-1]}" "{words[-2]}"; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    return sorted(run("bash", code, scripts))


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_the_shell_completes_commands_options_values_and_files(shell, scripts):
    (scripts / "graph_of_roads.txt").touch()
    assert completed(shell, ["chordless", "cou"], scripts) == ["count"]
    assert completed(shell, ["chordless", "count", "--min"], scripts) == ["--min-length"]
    assert completed(shell, ["chordless", "count", "--arch", "vul"], scripts) == ["vulkan"]
    assert completed(shell, ["chordless", "count", "graph_of"], scripts) == ["graph_of_roads.txt"]
    assert completed(shell, ["chordless", "bench", "ta"], scripts) == ["table1"]
    for words in (["plot"], ["report"], ["replay"]):
        assert completed(shell, ["chordless", *words, "graph_of"], scripts) == ["graph_of_roads.txt"]
    assert completed(shell, ["chordless", "count", "--format", "graph"], scripts) == ["graph6", "graphml"]
    assert completed(shell, ["chordless", "batch", "--graph-format", "sd"], scripts) == ["sdf"]


def test_a_command_is_described_by_a_whole_line(scripts):
    lines = run("fish", f'source {scripts / "fish"}; complete -C "chordless bench "', scripts)
    assert "table1\tthe paper's Table 1, measured here" in lines


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_right_for_its_shell(shell, scripts):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"needs {shell}")
    done = subprocess.run([program, "-n", scripts / shell], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")


def test_zsh_knows_which_function_completes(scripts):
    code = f'autoload -U compinit; compinit -D -u; eval "$(<{scripts / "zsh"})"; print $_comps[chordless]'
    assert run("zsh", code, scripts)[-1].startswith("_")


def test_a_shell_that_is_not_known_is_refused():
    done = chordless("completion", "tcsh")
    assert done.returncode == 2
    assert "bash, zsh, fish" in done.stderr.replace("'", "")
