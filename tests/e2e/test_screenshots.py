"""A conversation in each language as a browser shows it; the pictures are for people to look at.

They are kept in the directory of K3TRIAGE_SCREENSHOTS, else in one of pytest's; the test prints where.
"""

import os
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlencode

import pytest
from PIL import Image

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
    image = Image.open(picture).convert("RGB")
    assert image.size == _SIZE
    width, height = _SIZE
    colours = image.getcolors(maxcolors=width * height) or []
    written = sum(len(set(image.crop((0, y, width, y + 1)).tobytes())) > 8 for y in range(height))
    assert len(colours) > 100
    assert written > height / 4, "most of the picture is empty"
    with capsys.disabled():
        print(f"\nscreenshot: {picture}")
