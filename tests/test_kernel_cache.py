"""Where compiled kernels are kept, what happens when they are damaged, and folders of users without a home."""

import errno
import inspect
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from patience import PATIENCE
from program import ENVIRONMENT, chordless

from kernels_ti import Device, folders, taichi_door
from kernels_ti.device import cuda, kernel_cache
from kernels_ti.device import device as devices
from kernels_ti.device.device import cuda_is_here
from kernels_ti.taichi_door.libraries import library

OWN_WAY = (
    "HOME",
    "XDG_CACHE_HOME",
    *map(library().variable, ("OFFLINE_CACHE", "OFFLINE_CACHE_FILE_PATH")),
)
BELOW = library().cache  # the folder of kernels, in ours
KERNELS, LIST = {"taichi": ("*.tic", "*.tcb"), "quadrants": ("*.qdc", "*.qdb")}[library().package]
START = "from kernels_ti.device.device import open_device; open_device('cpu'); print('started')"
WITHOUT_SELF_TEST = f"import sys; sys.modules['kernels_ti.device.selftest'] = None; {START}"


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Return an environment without a home, whose temporary folder is that of the test."""
    kept = {name: value for name, value in ENVIRONMENT.items() if name not in OWN_WAY}
    return {**kept, "TMPDIR": str(folder), **more}


def start(folder: Path, here: Path, code: str = START, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=here,
        env=environment(folder, **more),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("homes", [{}, {"HOME": "", "XDG_CACHE_HOME": "relative"}], ids=["none", "empty"])
def test_a_device_starts_without_a_home(homes: dict[str, str], here: Path, temporary: Path) -> None:
    done = start(temporary, here, **homes)
    assert (done.returncode, done.stdout, done.stderr) == (0, "started\n", "")
    assert list(here.iterdir()) == []
    (private,) = temporary.iterdir()
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert list(private.rglob(KERNELS)) != []


@pytest.mark.slow
def test_a_damaged_cache_is_taken_away_with_one_line(here: Path, temporary: Path, tmp_path: Path) -> None:
    own = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert start(temporary, here, **own).stderr == ""
    folder = tmp_path / "cache" / "chordless" / BELOW
    assert [path.name for path in (tmp_path / "cache" / "chordless").iterdir()] == [library().package]
    metadata = next(folder.rglob(LIST))
    content = bytearray(metadata.read_bytes())
    content[len(content) // 2] ^= 4
    metadata.write_bytes(content)
    damaged = start(temporary, here, **own)
    assert (damaged.returncode, damaged.stdout) == (0, "started\n")
    assert damaged.stderr == (
        f"chordless: the compiled kernels in {folder} are damaged or incomplete: they are compiled again\n"
    )
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def test_hardware_that_passed_the_self_test_passes_it_again_once_the_kernels_are_gone(
    arch: str, here: Path, temporary: Path, tmp_path: Path
) -> None:
    if arch == "cuda" and not cuda_is_here():
        pytest.skip("needs a CUDA device")
    own = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    code, without = (text.replace("'cpu'", repr(arch)) for text in (START, WITHOUT_SELF_TEST))
    assert start(temporary, here, code, **own).stdout == "started\n"
    assert start(temporary, here, without, **own).stdout == "started\n"
    (tmp_path / "cache" / "chordless" / BELOW / "checksums.json").unlink()
    assert "kernels_ti.device.selftest" in start(temporary, here, without, **own).stderr


def test_without_the_version_of_a_driver_no_pass_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "MODULE_VERSION", tmp_path / "none")
    assert cuda.driver_version() is None


def test_the_engine_runs_without_a_home_and_the_command_line_passes_its_warning_on(here: Path, temporary: Path) -> None:
    private = temporary / f"chordless-{os.getuid()}"
    folder = private / ".cache" / "chordless" / BELOW
    folder.mkdir(parents=True)
    private.chmod(0o700)
    (folder / "ticache.tcb").write_bytes(b"nothing that Taichi wrote")
    done = chordless("count", "petersen", "--arch", "cpu", env=environment(temporary), cwd=here)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        f"chordless: the compiled kernels in {folder} are damaged or incomplete: they are compiled again"
    ]
    assert list(here.iterdir()) == []


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of kernels of this process, with a file in it that is listed."""
    for name in OWN_WAY:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = Path(kernel_cache.settings()["offline_cache_file_path"])
    with kernel_cache.writing():
        (folder / "a.tic").write_bytes(b"one")
    return folder


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "a.tic").write_bytes(b"two"),
        lambda folder: (folder / "a.tic").unlink(),
        lambda folder: (folder / "b.tic").write_bytes(b""),
        lambda folder: (folder / "checksums.json").write_bytes(b'{"a.tic": '),
        lambda folder: (folder / "checksums.json").unlink(),
    ],
    ids=["changed", "missing", "added", "list damaged", "list missing"],
)
def test_what_differs_from_the_list_is_taken_away(damage, cache, capfd) -> None:
    kernel_cache.settings()
    assert (cache / "a.tic").read_bytes() == b"one"
    assert capfd.readouterr().err == ""
    damage(cache)
    kernel_cache.settings()
    assert [path.name for path in cache.iterdir()] == ["chordless.lock"]
    assert "damaged or incomplete" in capfd.readouterr().err


def test_a_list_that_a_full_disk_cuts_short_is_gone(cache, monkeypatch) -> None:
    before = {path.name for path in cache.iterdir()}
    listed = (cache / "checksums.json").read_bytes()

    def cut_short(path: Path, text: str, encoding: str) -> None:
        path.write_bytes(text.encode(encoding)[:5])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", cut_short)
    with kernel_cache.writing():
        (cache / "b.tic").write_bytes(b"two")
    assert {path.name for path in cache.iterdir()} == {"b.tic", *before}
    assert (cache / "checksums.json").read_bytes() == listed


def test_the_cache_tells_which_kernels_it_holds_thoroughly_compiled(cache, monkeypatch) -> None:
    """Only what was kept beside the kernels counts, until the kernels are taken away."""
    kind = "a kind of kernel"
    monkeypatch.setattr(kernel_cache, "_held", set())
    monkeypatch.setattr(kernel_cache, "_noted", set())
    kernel_cache.note(kind)
    assert not kernel_cache.holds(kind)
    with kernel_cache.writing():
        pass
    kernel_cache.settings()
    assert kernel_cache.holds(kind)
    for content in (b"damaged [", b"5"):
        monkeypatch.setattr(kernel_cache, "_held", set())
        (cache / "kinds.json").write_bytes(content)
        kernel_cache.settings()
        assert not kernel_cache.holds(kind)
    (cache / "a.tic").unlink()
    kernel_cache.settings()
    assert not (cache / "kinds.json").exists()


@pytest.mark.parametrize("name", ["chordless.lock", "checksums.json", "kinds.json", "a.tic"])
@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_stands_where_a_file_belongs_is_left_and_no_kernels_are_kept(name, make, cache) -> None:
    """A pipe is not opened, which would wait for a writer for ever."""
    (cache / name).unlink(missing_ok=True)
    make(cache / name)
    expected = kernel_cache.NOT_USED
    if name == "a.tic" and make is os.mkdir:  # the fork of Taichi has folders below its own
        expected = {"offline_cache_file_path": str(cache)}
    assert kernel_cache.settings() == expected
    with kernel_cache.writing():
        pass
    assert not (cache / name).is_file()


def test_a_pipe_in_the_place_of_the_list_of_kernels_is_not_waited_for(here, temporary) -> None:
    kernels = temporary / "cache" / "chordless" / BELOW
    kernels.mkdir(parents=True)
    os.mkfifo(kernels / LIST.replace("*", "ticache"))
    assert start(temporary, here, XDG_CACHE_HOME=str(temporary / "cache")).stdout == "started\n"


@pytest.mark.parametrize("name", ["checksums.json", "kinds.json"])
def test_a_list_that_is_nested_too_deep_is_damaged(name, cache) -> None:
    (cache / name).write_bytes(b"[" * 200_000)
    assert kernel_cache.settings() == {"offline_cache_file_path": str(cache)}


def test_a_start_that_fails_is_tried_once_more_with_an_empty_cache(cache, monkeypatch, capfd) -> None:
    failures = [ValueError("what is this?")]

    def begin(arch: str, workers: int | None) -> Device:
        if failures:
            raise failures.pop()
        return Device(arch, arch, None, workers)

    monkeypatch.setattr(devices, "_started", {})
    monkeypatch.setattr(devices, "_start", begin)
    monkeypatch.setattr(taichi_door, "stop", lambda: None)
    monkeypatch.setattr(taichi_door, "is_taken", lambda: False)
    assert devices._open("cpu", 99).threads == 99
    assert capfd.readouterr().err.startswith("chordless: the device did not start with the compiled kernels in ")
    assert not (cache / "a.tic").exists()
    failures.append(ValueError("again"))
    devices._started.clear()
    with pytest.raises(ValueError, match="again"):  # there is no cache that could be to blame
        devices._open("cpu", 98)


@pytest.mark.parametrize("named", [None, "", "relative", "/nonexistent/home"])
def test_without_a_home_folders_are_private_ones_among_the_temporary(named, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", named) if named is not None else monkeypatch.delenv("HOME")
    folders.private_folder.cache_clear()
    found = folders.base_folder("XDG_DATA_HOME", ".local/share")
    assert found == tmp_path / f"chordless-{os.getuid()}" / ".local/share"
    assert folders.home() is None
    monkeypatch.setenv("XDG_DATA_HOME", "/absolute")
    assert folders.base_folder("XDG_DATA_HOME", ".local/share") == Path("/absolute")
    monkeypatch.setenv("XDG_DATA_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folders.base_folder("XDG_DATA_HOME", ".local/share") == tmp_path / ".local/share"
    folders.private_folder.cache_clear()


def test_a_private_folder_that_others_could_have_filled_is_not_used(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    taken = tmp_path / f"chordless-{os.getuid()}"
    taken.mkdir(mode=0o755)
    taken.chmod(0o777)
    folders.private_folder.cache_clear()
    private = folders.private_folder()
    folders.private_folder.cache_clear()
    assert private != taken
    assert stat.S_IMODE(private.stat().st_mode) == 0o700


def test_a_file_is_read_once_for_its_checksum_unless_it_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path.name) or read_bytes(path))
    for name in ("a.tic", "b.tic"):
        (tmp_path / name).write_bytes(b"one")
    before = kernel_cache._checksums(tmp_path)
    assert kernel_cache._checksums(tmp_path) == before
    assert read == ["a.tic", "b.tic"]
    (tmp_path / "b.tic").write_bytes(b"another")
    after = kernel_cache._checksums(tmp_path)
    assert read == ["a.tic", "b.tic", "b.tic"]
    assert [after[name] == before[name] for name in ("a.tic", "b.tic")] == [True, False]


def test_a_folder_is_made_however_many_are_above_it(tmp_path) -> None:
    """Python lets no function call itself for each of them."""
    folder = tmp_path / "/".join("f" * 300)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 150)
    try:
        folders.make_folder(folder, 0o700)
    finally:
        sys.setrecursionlimit(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folders.make_folder(folder)
    (folder / "file").write_bytes(b"")
    with pytest.raises(FileExistsError):
        folders.make_folder(folder / "file")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems make no folder of such a name")
def test_kernels_are_not_kept_in_a_folder_whose_name_is_not_utf_8(tmp_path, monkeypatch) -> None:
    """The library below takes no such name, and would not start."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    folders.private_folder.cache_clear()
    home = taichi_door.cache_home()
    folders.private_folder.cache_clear()
    assert home == tmp_path / f"chordless-{os.getuid()}" / "chordless"
