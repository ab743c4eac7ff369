"""Modules that are imported when they are first used."""

import sys

from kernels_ti.taichi_door.quick import imported_later


def test_a_module_is_imported_when_it_is_used_and_then_is_the_real_one(tmp_path, monkeypatch):
    (tmp_path / "rarely_used.py").write_text("answer = 42\n")
    monkeypatch.syspath_prepend(tmp_path)
    with imported_later("rarely_used", "json"):
        import json

        import rarely_used
    assert "rarely_used" not in sys.modules
    assert json.loads("[1]") == [1]
    assert rarely_used.answer == 42
    assert sys.modules["rarely_used"].answer == 42
    monkeypatch.delitem(sys.modules, "rarely_used")
    with imported_later("rarely_used"):
        import rarely_used

        assert not hasattr(rarely_used, "__warningregistry__")
        assert rarely_used.answer == 42, "inside the block as well"
    assert sys.modules["rarely_used"].answer == 42
    monkeypatch.delitem(sys.modules, "rarely_used")


def test_a_module_of_a_package_is_found_there_by_another_import_meanwhile(tmp_path, monkeypatch):
    (tmp_path / "rare_package").mkdir()
    (tmp_path / "rare_package" / "__init__.py").touch()
    (tmp_path / "rare_package" / "inner.py").write_text("answer = 42\n")
    monkeypatch.syspath_prepend(tmp_path)
    with imported_later("rare_package.inner"):
        import rare_package.inner
    assert "rare_package.inner" not in sys.modules
    assert rare_package.inner.answer == 42
    assert rare_package.inner is sys.modules["rare_package.inner"]
    for name in ("rare_package", "rare_package.inner"):
        monkeypatch.delitem(sys.modules, name)
