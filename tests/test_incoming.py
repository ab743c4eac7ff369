"""The bytes of graph files: pipes, devices, bombs, and the limits of memory and time."""

import gc
import gzip
import os
import re
import signal
import subprocess
import threading
import time
import tracemalloc

import pytest
from chordless.graphs.load import load_graph
from chordless.graphs.readers.incoming import Limits, read_bytes
from patience import PATIENCE
from program import ENVIRONMENT, REFERENCE, chordless, command, fails

from kernels_ti import GraphError
from kernels_ti.errors import ReadingStoppedError

LITTLE = Limits(memory=64 << 20)


def test_a_pipe_without_a_writer_is_given_up(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(GraphError, match=f"^{pipe}: nobody writes to this pipe; gave up after 50 ms$"):
        load_graph(str(pipe), limits=Limits(patience=0.05))


def test_a_writer_may_come_late_and_take_its_time(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write():
        time.sleep(0.1)
        with open(pipe, "wb") as stream:
            for piece in (b"1 2\n", b"2 ", b"3\n"):
                time.sleep(0.3)
                stream.write(piece)
                stream.flush()

    writer = threading.Thread(target=write)
    writer.start()
    assert load_graph(str(pipe), limits=Limits(patience=0.2)).graph.m == 2
    writer.join()


def test_a_compressed_pipe(tmp_path):
    read, write = os.pipe()
    os.write(write, gzip.compress(b"1 2\n"))
    os.close(write)
    assert load_graph(f"/dev/fd/{read}").graph.m == 1
    os.close(read)


def test_a_device_without_an_end():
    with pytest.raises(GraphError, match=r"^/dev/zero: this is a binary file \(it begins with NUL bytes\)"):
        load_graph("/dev/zero", limits=LITTLE)
    with pytest.raises(GraphError, match=r"^/dev/urandom: there is more to read than 8\.0 MiB.*memory sets another"):
        load_graph("/dev/urandom", limits=LITTLE)


def test_a_terminal_on_which_nobody_types():
    leader, follower = os.openpty()
    with pytest.raises(GraphError, match="nothing comes from this device; gave up after 50 ms"):
        load_graph(os.ttyname(follower), limits=Limits(patience=0.05))
    os.close(leader)
    os.close(follower)


def test_a_folder_is_closed_once(tmp_path, monkeypatch):
    closed = []
    monkeypatch.setattr(os, "close", lambda descriptor, close=os.close: (closed.append(descriptor), close(descriptor)))
    with pytest.raises(GraphError, match="folder"):
        load_graph(str(tmp_path))
    gc.collect()
    assert len(closed) == len(set(closed)) == 1


def test_a_gzip_bomb_is_not_unpacked(tmp_path):
    path = tmp_path / "bomb.txt.gz"
    path.write_bytes(gzip.compress(b"1 2\n" * (5 << 20)))
    assert path.stat().st_size < 1 << 17
    with pytest.raises(GraphError, match=r"bomb.txt.gz: there is more to read than 8\.0 MiB"):
        read_bytes(str(path), LITTLE)
    assert len(read_bytes(str(path))) == 20 << 20


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "# n=9999999 m=0\n"),
        ("a.col", "p edge 9999999 0\n"),
        ("a.net", "*Vertices 9999999"),
        ("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n9999999 9999999 0\n"),
    ],
)
def test_a_header_does_not_fill_the_memory(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(GraphError, match=r"declares 9,999,999 vertices, which take 2\.4 GiB: more than memory allows"):
        load_graph(str(path), limits=LITTLE)


def test_a_time_longer_than_the_system_takes_is_no_limit():
    assert load_graph("petersen", limits=Limits(seconds=1e300)).graph.n == 10


def test_reading_ends_with_its_time(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(ReadingStoppedError, match=f"^{pipe}: stopped by --timeout after 50 ms, while the graph was"):
        load_graph(str(pipe), limits=Limits(seconds=0.05))
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_program_leaves_a_silent_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert fails(chordless("count", pipe, "--timeout", "0.2", *REFERENCE), 4, "stopped by --timeout after 200 ms")
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(b"1 2\n" * (5 << 20)))
    assert fails(chordless("count", bomb, "--memory", "64M", *REFERENCE), 2, "there is more to read than 8.0 MiB")


@pytest.mark.parametrize(("number", "subcommand"), [(signal.SIGTERM, "count"), (signal.SIGINT, "first")])
def test_a_signal_ends_the_wait_for_a_pipe(tmp_path, number, subcommand):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen(command(subcommand, pipe), env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + PATIENCE
    writer = None
    while writer is None and time.monotonic() < deadline:
        try:
            # This fails as long as nobody has it open for reading.
            writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            time.sleep(0.05)
    assert writer is not None
    process.send_signal(number)
    said = process.communicate(timeout=PATIENCE)[1]
    os.close(writer)
    assert process.returncode == 128 + number, said
    assert ("interrupted" if number == signal.SIGINT else "ended by SIGTERM") in said


def reading_peak(path, **options):
    """Load a file, and return the most bytes that this took, beside what it gave."""
    tracemalloc.start()
    try:
        given = load_graph(str(path), **options)
    except GraphError as error:
        given = error
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, given


@pytest.mark.slow
@pytest.mark.parametrize("line", ["{} {}\n", "v{} v{}\n", "{};{};0,5\n", "{} -> {}\n"])
@pytest.mark.parametrize("ending", ["", "{}"])
def test_reading_takes_ten_bytes_a_byte_at_most(tmp_path, monkeypatch, line, ending):
    monkeypatch.setattr("chordless.graphs.readers.source._AT_ONCE", 1 << 14)
    monkeypatch.setattr("chordless.graphs.readers.large_list._AT_ONCE", 1 << 14)
    path = tmp_path / "a.txt"
    text = "".join(line.format(u, u + step) for step in range(1, 41) for u in range(100_000, 101_000))
    path.write_text(text + ending.format(text[: text.index("\n") + 1]))
    peak, given = reading_peak(path)
    # 2 MiB are those of pieces and of modules, however large the file.
    assert peak < 10 * len(text) + (2 << 20)
    assert ("is already in line 1" in str(given)) == bool(ending)


@pytest.mark.slow
@pytest.mark.parametrize("line", ["{} {}\n", "v{} v{}\n"])
def test_a_repeated_edge_is_noticed_before_the_rest_is_read(tmp_path, line):
    path = tmp_path / "a.txt"
    wrong = "of this list is nothing\n"
    rest = "".join(line.format(u, u + step) for step in range(1, 41) for u in range(10_000, 11_000))
    for first, message in (
        ("1 2\n2 1\n", "a.txt:2: edge 2 - 1 is already in line 1"),
        ("7 7\n", "a.txt:1: edge from 7"),
    ):
        path.write_text(first + rest + wrong)
        assert message in str(reading_peak(path)[1])
        assert message not in str(reading_peak(path, multigraph=True)[1])


def test_names_beyond_the_memory_are_one_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("".join(f"v{u} w{u}\n" for u in range(200_000)))
    with pytest.raises(GraphError, match=r"vertices take [0-9.]+ MiB: more than memory allows here"):
        load_graph(str(path), limits=LITTLE)


def test_an_adjacency_list_takes_little_more_than_its_graph(tmp_path):
    path = tmp_path / "star.adjlist"
    path.write_text(" ".join(map(str, range(300_000))))
    with pytest.raises(GraphError, match=r"edges of 300,000 vertices take [0-9.]+ MiB: more than memory allows"):
        load_graph(str(path), limits=LITTLE)
    assert reading_peak(path)[0] < 150 << 20


def test_what_unpacks_to_far_more_than_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr("chordless.graphs.readers.incoming._MOST_UNPACKED", 1 << 20)
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"1 2\n" * (1 << 20)))
    with pytest.raises(GraphError, match=r"a\.txt\.gz: this unpacks to more than 200 times its size; unpack it if"):
        load_graph(str(path))


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec", ["complete:5000", "gnp:5000,0.1,1", "grid:2000x2000", "cartesian:path:300+complete:90"]
)
def test_a_spec_beyond_the_memory_is_refused_before_it_is_made(spec):
    tracemalloc.start()
    with pytest.raises(GraphError, match=rf"^{re.escape(spec)}: [0-9,]+ edges take about .*: more than memory allows"):
        load_graph(spec, limits=Limits(memory=256 << 20))
    assert tracemalloc.get_traced_memory()[1] < 20 << 20
    tracemalloc.stop()
    assert fails(chordless("count", "complete:5000", "--memory", "256M", *REFERENCE), 2, "12,497,500 edges take about")
