"""A conversation in each language as a browser shows it; the pictures are for people to look at.

They are kept in the directory of K3TRIAGE_SCREENSHOTS, else in one of pytest's; the test prints where.
"""

import os
import shutil
import struct
import subprocess
import zlib
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.e2e.world import DMABUF, DRIVER, World, fenced

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_BROWSER = next((path for name in _NAMES if (path := shutil.which(name))), None)
_SIZE = (1280, 2700)
_PERSONS = {
    "en": ("emma", "the server does not start, please help us", "Could the driver be too old?"),
    "ko": ("minjun", "서버가 시작되지 않습니다, 확인 부탁드립니다", "드라이버가 너무 오래된 걸까요?"),
    "zh": ("wei", "服务启动失败，请帮忙看看原因", "会不会是驱动太旧了？"),
    "ru": ("olga", "сервер не запускается, помогите разобраться", "Может быть, драйвер слишком старый?"),
}

pytestmark = pytest.mark.skipif(
    _BROWSER is None, reason="no Chromium: apt-get install chromium fonts-noto-cjk (.ci/run does it where it is root)"
)


def _pixels(data: bytes) -> tuple[int, int, list[bytes]]:
    """(width, height, rows of RGB) of an 8-bit PNG without interlace, in RGB or RGBA."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, header = 8, b"", b""
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += length + 12
        if kind == b"IHDR":
            header = body
        elif kind == b"IDAT":
            packed += body
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", header)
    assert (depth, interlace) == (8, 0)
    step = {2: 3, 6: 4}[colour]
    raw = zlib.decompress(packed)
    stride = width * step + 1
    rows: list[bytes] = []
    above = bytes(stride - 1)
    for number in range(height):
        line = raw[number * stride : (number + 1) * stride]
        above = _unfiltered(line[0], line[1:], above, step)
        rows.append(above)
    return width, height, rows


def _unfiltered(kind: int, line: bytes, above: bytes, step: int) -> bytes:
    if kind == 0:
        return line
    if kind == 2:
        return bytes((one + up) & 255 for one, up in zip(line, above, strict=True))
    out = bytearray(line)
    for at, up in enumerate(above):
        left = out[at - step] if at >= step else 0
        corner = above[at - step] if at >= step else 0
        if kind == 1:
            guess = left
        elif kind == 3:
            guess = (left + up) // 2
        else:
            guess = _paeth(left, up, corner)
        out[at] = (out[at] + guess) & 255
    return bytes(out)


def _paeth(left: int, up: int, corner: int) -> int:
    at = left + up - corner
    return min((left, up, corner), key=lambda one: abs(at - one))


def _shoot(url: str, picture: Path, profile: Path) -> None:
    assert _BROWSER is not None
    command = [
        *(_BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"),
        *("--no-first-run", "--disable-extensions", "--disable-background-networking", "--no-proxy-server"),
        *(f"--user-data-dir={profile}", f"--window-size={_SIZE[0]},{_SIZE[1]}", "--virtual-time-budget=3000"),
        *(f"--screenshot={picture}", url),
    ]
    done = subprocess.run(command, capture_output=True, timeout=90, check=False)
    assert picture.exists(), done.stderr.decode(errors="replace")[-2_000:]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get("K3TRIAGE_SCREENSHOTS")
    path = Path(given) if given else tmp_path_factory.mktemp("screenshots")
    path.mkdir(parents=True, exist_ok=True)
    return path


@pytest.mark.parametrize("language", list(_PERSONS))
def test_conversation_when_shown_in_a_browser_then_it_can_be_read(
    pair: World, directory: Path, tmp_path: Path, language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, words, guess = _PERSONS[language]
    person = pair.workspace.person(name)
    message = person.post("general", f"{pair.mention} {words}\n{fenced(DMABUF[:3200])}")
    first = pair.answer(message)
    person.reply(message, guess)
    person.reply(message, fenced(DRIVER[:2800]))
    second = pair.answer_when(message, lambda shown: shown.ticks[0].value != first.ticks[0].value)
    person.tick(second.message, second.ticks[0].value)
    pair.answer_when(message, lambda shown: shown.ticks[0].ticked)
    pair.idle()
    where = urlencode({"as": person.id, "at": message.channel, "thread": message.ts})
    picture = directory / f"{language}.png"
    picture.unlink(missing_ok=True)
    _shoot(f"{pair.server.origin}/?{where}", picture, tmp_path)
    width, height, rows = _pixels(picture.read_bytes())
    assert (width, height) == _SIZE
    step = len(rows[0]) // width
    colours = {row[at : at + 3] for row in rows for at in range(0, len(row), step)}
    written = sum(len(set(row)) > 8 for row in rows)
    assert len(colours) > 100
    assert written > height / 4, "most of the picture is empty"
    with capsys.disabled():
        print(f"\nscreenshot: {picture}")
