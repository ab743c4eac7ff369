"""How Taichi imports and reads sources in this program: faster than on its own, with the same results."""

import inspect
import subprocess
import sys

import numpy as np
import pytest

from kernels_ti import open_device
from kernels_ti.taichi_door import ti
from kernels_ti.taichi_door.quick import frames_have_no_modules

pytestmark = pytest.mark.owner

array = ti.types.ndarray


def of_the_library(function):
    function.__module__ = open_device.__module__
    return function


@ti.func
@of_the_library
def ends_in_brackets(
    a, b,
):  # fmt: skip
    # A line that a search for the end by empty lines would stop at.

    return (
        a
        + b
    )  # fmt: skip
    # A comment below the last statement.


@ti.kernel
@of_the_library
def sums(values: array(ti.i32, 1)):
    for i in values:
        if i % 2 == 0:
            values[i] = ends_in_brackets(values[i], 10)


@ti.func
def fibonacci(n: ti.template()):
    found = 1
    if ti.static(n > 1):
        found = fibonacci(n - 1) + fibonacci(n - 2)
    return found


@ti.kernel
def tenth_fibonacci() -> ti.i32:
    return fibonacci(10)


@ti.data_oriented
class Scale:
    def __init__(self, factor):
        self.factor = factor

    @ti.kernel
    def apply(self, values: array(ti.i32, 1)):
        for i in values:
            values[i] *= self.factor


def test_sources_are_read_to_their_end():
    open_device("cpu")
    values = np.arange(4, dtype=np.int32)
    sums(values)
    assert values.tolist() == [10, 1, 12, 3]


def test_functions_of_others_may_call_themselves():
    open_device("cpu")
    assert tenth_fibonacci() == 89


def test_a_script_can_have_kernels_of_its_own(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import kernels_ti\nkernels_ti.open_device('cpu')\nimport taichi as ti\n\n"
        "@ti.kernel\ndef seven() -> ti.i32:\n    return 7\n\nprint(seven())\n"
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.returncode) == ("7\n", 0), ended.stderr


def test_kernels_of_classes_are_known_as_methods():
    open_device("cpu")

    @ti.data_oriented
    class Shift(Scale):
        @ti.kernel
        def shift(self, values: array(ti.i32, 1)):
            for i in values:
                values[i] += self.factor

    values = np.arange(3, dtype=np.int32)
    Scale(3).apply(values)
    Shift(1).shift(values)
    assert values.tolist() == [1, 4, 7]


def test_a_source_in_no_file_is_refused_by_taichi():
    open_device("cpu")
    names = {"ti": ti, "array": array}
    exec("@ti.kernel\ndef unknown(values: array(ti.i32, 1)):\n    for i in values:\n        values[i] = 1\n", names)
    with pytest.raises(OSError, match="source"):
        names["unknown"](np.zeros(1, np.int32))


def test_only_frames_have_no_modules():
    before = inspect.getmodule
    with frames_have_no_modules():
        assert inspect.getmodule(sys._getframe()) is None
        assert inspect.getmodule(Scale) is sys.modules[__name__]
        (line,) = inspect.getframeinfo(sys._getframe()).code_context
    assert line.strip().startswith("(line,) = inspect")
    assert inspect.getmodule is before
    assert inspect.getmodule(sys._getframe()) is sys.modules[__name__]
