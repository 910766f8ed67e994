"""Paths: stdin, files, directories; what cannot be opened; names; progress."""

from __future__ import annotations

import io
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

from bot.bundles import UNIT, Limits, input_size, open_paths
from bot.errors import BotError, BundleError
from kb.evidence import NotRead, Source
from tests.bot.hostile import listed, tar_of, zip_of

LOG = b"INFO 08-21 10:11:12 [core.py:123] hello\n" * 100


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, data: bytes = LOG) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def opened(*paths: Path | Literal["-"], stdin: bytes = b"") -> list[tuple[Any, ...]]:
    return listed(open_paths(paths, Limits(), io.BytesIO(stdin)))


def test_stdin_when_text_then_one_source_named_stdin() -> None:
    assert opened("-", stdin=LOG) == [("stdin", LOG)]


def test_stdin_when_empty_then_an_empty_source() -> None:
    assert opened("-") == [("stdin", b"")]


def test_stdin_when_closed_then_told() -> None:
    stdin = io.BytesIO(LOG)
    stdin.close()
    assert listed(open_paths(["-"], Limits(), stdin)) == [("stdin", "unreadable", "I/O operation on closed file.")]


def test_file_when_given_then_named_as_given() -> None:
    assert opened(write("logs/server.log")) == [("logs/server.log", LOG)]


def test_file_when_given_twice_then_two_names() -> None:
    path = write("a.log")
    assert [item[0] for item in opened(path, path, path)] == ["a.log", "a.log (2)", "a.log (3)"]


def test_directory_when_nested_then_all_files_in_order() -> None:
    for name in ("run/b.log", "run/a/z.log", "run/a/deep/er/y.log", "run/c.log", "run/.hidden"):
        write(name)
    names = [item[0] for item in opened(Path("run"))]
    assert names == ["run/.hidden", "run/a/deep/er/y.log", "run/a/z.log", "run/b.log", "run/c.log"]


def test_directory_when_very_deep_then_read() -> None:
    path = Path("d")
    for _ in range(300):
        path /= "d"
    write(str(path / "a.log"))
    ((name, data),) = opened(Path("d"))
    assert name.endswith("/d/d/a.log")
    assert data == LOG


def test_directory_when_it_holds_bundles_then_they_are_opened() -> None:
    write("run/a.zip", zip_of({"in.log": LOG}))
    write("run/b.log")
    assert opened(Path("run")) == [("run/a.zip/in.log", LOG), ("run/b.log", LOG)]


def test_directory_when_empty_then_nothing() -> None:
    Path("run").mkdir()
    assert opened(Path("run")) == []


def test_link_when_in_a_directory_then_not_followed() -> None:
    write("secret")
    Path("run").mkdir()
    Path("run/link.log").symlink_to("../secret")
    Path("run/loop").symlink_to(".")
    assert opened(Path("run")) == [("run/link.log", "link", ""), ("run/loop", "link", "")]


def test_link_when_given_then_followed() -> None:
    write("run/a.log")
    Path("file").symlink_to("run/a.log")
    Path("directory").symlink_to("run")
    assert opened(Path("file"), Path("directory")) == [("file", LOG), ("directory/a.log", LOG)]


def test_fifo_and_socket_when_in_a_directory_then_not_opened() -> None:
    Path("run").mkdir()
    os.mkfifo("run/fifo")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind("run/socket")
        assert opened(Path("run")) == [("run/fifo", "special", ""), ("run/socket", "special", "")]


def test_fifo_when_given_then_not_opened() -> None:
    os.mkfifo("fifo")
    assert opened(Path("fifo")) == [("fifo", "special", "")]


def test_device_when_given_then_not_opened() -> None:
    assert opened(Path("/dev/zero")) == [("/dev/zero", "special", "")]


def test_pipe_when_the_shell_made_it_then_read() -> None:
    reading, writing = os.pipe()
    os.write(writing, LOG)
    os.close(writing)
    path = Path(f"/dev/fd/{reading}")
    try:
        assert input_size([path]) is None
        assert opened(path) == [(str(path), LOG)]
    finally:
        os.close(reading)


def test_file_when_not_permitted_then_told_and_the_rest_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    write("run/a.log")
    write("run/b.log")
    monkeypatch.setattr(os, "open", refusing(os.open, "run/a.log", PermissionError(13, "Permission denied")))
    assert opened(Path("run")) == [("run/a.log", "permission", ""), ("run/b.log", LOG)]


def test_directory_when_not_permitted_then_told(monkeypatch: pytest.MonkeyPatch) -> None:
    write("run/closed/a.log")
    monkeypatch.setattr(os, "scandir", refusing(os.scandir, "run/closed", PermissionError(13, "Permission denied")))
    assert opened(Path("run")) == [("run/closed", "permission", "")]


def test_file_when_it_vanishes_before_it_is_read_then_told() -> None:
    write("run/a.log")
    write("run/b.log")
    items = open_paths([Path("run")], Limits())
    first = next(items)
    Path("run/b.log").unlink()
    assert isinstance(first, Source)
    assert list(items) == [NotRead("run/b.log", "vanished")]


def test_file_when_it_becomes_a_link_then_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    write("run/a.log")
    write("secret", b"key")
    monkeypatch.setattr("bot.bundles._files._is_directory", swapping("run/a.log", "secret"))
    (found,) = opened(Path("run"))
    assert found[:2] == ("run/a.log", "special")


def test_file_when_reading_fails_then_what_was_read_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.log", LOG * 1000)
    read, calls = os.read, []

    def failing(descriptor: int, size: int) -> bytes:
        calls.append(size)
        if len(calls) > 2:
            raise OSError(5, "Input/output error")
        return read(descriptor, size)

    monkeypatch.setattr(os, "read", failing)
    monkeypatch.setattr("bot.bundles._archives._CHUNK", 256 << 10)
    (name, data), fault = opened(Path("a.log"))
    assert (name, data) == ("a.log", (LOG * 1000)[: 512 << 10])
    assert fault == ("a.log", "unreadable", "Input/output error")


def test_path_when_it_does_not_exist_then_error_before_anything_is_read() -> None:
    path = write("a.log")
    with pytest.raises(BundleError) as caught:
        open_paths([path, Path("no/such.log")], Limits())
    assert isinstance(caught.value, BotError)
    assert str(caught.value) == (
        "there is no file or directory 'no/such.log'; check the path, or give - to read standard input"
    )


@pytest.mark.parametrize("name", ["a.log/below", "x" * 5000, "nul\0byte", "broken"])
def test_path_when_it_cannot_exist_then_error(name: str) -> None:
    write("a.log")
    Path("broken").symlink_to("nowhere")
    with pytest.raises(BundleError):
        open_paths([Path(name)], Limits())


def test_name_when_it_holds_control_and_bidi_characters_then_without_them() -> None:
    name = "a\x1b[31m\u202egol.exe\n\u200b.log"
    assert opened(write(name)) == [("a[31mgol.exe.log", LOG)]


def test_name_when_it_is_no_utf8_then_escaped() -> None:
    name = os.fsdecode("журнал.log".encode("koi8-r"))
    assert opened(write(name)) == [("\\xd6\\xd5\\xd2\\xce\\xc1\\xcc.log", LOG)]


def test_name_when_too_long_then_300_characters_with_its_end() -> None:
    member = "d" * 200 + "/" + "e" * 200 + "/server.log"
    ((shown, data),) = opened(write("a.tar", tar_of({member: LOG})))
    assert data == LOG
    assert len(shown) == 300
    assert shown.startswith("a.tar/ddd")
    assert "…" in shown
    assert shown.endswith("/server.log")


def test_paste_when_a_person_may_have_written_it_then_set() -> None:
    members = {"a.log": LOG, "notes.TXT": LOG, "readme.md": LOG, "b.txt.gz": b"", "c.json": LOG}
    paths: list[Path | Literal["-"]] = ["-", write("a.log"), write("run/b.log").parent, write("z.zip", zip_of(members))]
    items = open_paths(paths, Limits(), io.BytesIO(LOG))
    assert {item.name: item.paste for item in items if isinstance(item, Source)} == {
        "stdin": True,
        "a.log": True,
        "run/b.log": True,
        "z.zip/a.log": False,
        "z.zip/notes.TXT": True,
        "z.zip/readme.md": True,
        "z.zip/b.txt.gz": True,
        "z.zip/c.json": False,
    }


def test_source_when_its_time_is_over_then_it_yields_nothing_more() -> None:
    items = open_paths([write("a.log"), write("b.log")], Limits())
    first, second = next(items), next(items)
    assert isinstance(first, Source)
    assert isinstance(second, Source)
    assert list(first.chunks) == []
    assert list(second.chunks) == [LOG]


def test_items_when_left_in_the_middle_then_the_file_is_closed() -> None:
    before = len(os.listdir("/dev/fd"))
    items = open_paths([write("a.zip", zip_of({"a.log": LOG, "b.log": LOG}))], Limits())
    first = next(items)
    items.close()  # type: ignore[attr-defined]
    assert isinstance(first, Source)
    assert list(first.chunks) == []
    assert len(os.listdir("/dev/fd")) == before


@pytest.mark.parametrize("read", [True, False])
def test_progress_when_done_then_it_adds_up_to_the_input_size(read: bool) -> None:
    paths = [
        write("a.log", LOG * 2000),
        write("run/b.tar", tar_of({"x.log": LOG * 900, "y.log": LOG})).parent,
        write("c.zip", zip_of({"x.log": LOG, "y.log": LOG})),
        write("d.zip", zip_of({"x.log": LOG})[:-30]),
        write("e.7z", b"7z\xbc\xaf\x27\x1c" + bytes(5000)),
    ]
    steps: list[int] = []
    listed(open_paths(paths, Limits(), progress=steps.append), read=read)
    assert min(steps) > 0
    assert sum(steps) == input_size(paths)


def test_progress_when_stdin_then_what_was_read() -> None:
    steps: list[int] = []
    listed(open_paths(["-"], Limits(), io.BytesIO(LOG), progress=steps.append))
    assert sum(steps) == len(LOG)


def test_input_size_when_stdin_is_among_the_paths_then_unknown() -> None:
    path = write("a.log")
    assert input_size([path]) == len(LOG)
    assert input_size([path, "-"]) is None


def test_input_size_when_links_and_missing_files_then_only_what_is_read() -> None:
    write("run/a.log")
    Path("run/link").symlink_to("a.log")
    assert input_size([Path("run"), Path("nowhere")]) == len(LOG)


def test_plain_file_when_large_then_in_large_pieces() -> None:
    data = LOG * 1000
    pieces: list[bytes] = []
    for item in open_paths([write("big.log", data)], Limits()):
        assert isinstance(item, Source)
        pieces += item.chunks
    assert b"".join(pieces) == data
    assert min(map(len, pieces[:-1])) >= UNIT


def test_import_when_the_command_starts_then_no_codec_is_loaded() -> None:
    code = "import sys, bot.bundles; print(sorted({'isal', 'zstandard'} & set(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert run.stdout == "[]\n"


def refusing(call: Callable[..., object], path: str, error: OSError) -> Callable[..., object]:
    def refuse(given: object, *rest: object, **more: object) -> object:
        if given == path:
            raise error
        return call(given, *rest, **more)

    return refuse


def swapping(path: str, target: str) -> Callable[[str], bool]:
    """Stands for the moment between looking at a file and opening it."""

    def swap(given: str) -> bool:
        if given == path:
            os.unlink(path)
            os.symlink(os.path.abspath(target), path)
        return False

    return swap
