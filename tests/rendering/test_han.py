from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from bot.rendering.han import Flowing


def printed(text: str, width: int) -> list[str]:
    console = Console(width=width, force_terminal=False)
    with console.capture() as captured:
        console.print(Flowing(Text(text)))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_chinese_when_longer_than_the_line_then_lines_are_filled() -> None:
    lines = printed("- " + "容器启动时没有挂载驱动" * 6, 40)
    assert [cell_len(line) for line in lines[:-1]] == [40] * (len(lines) - 1)
    assert "".join(lines) == "- " + "容器启动时没有挂载驱动" * 6


def test_chinese_when_broken_then_punctuation_and_latin_words_stay_where_they_belong() -> None:
    text = "先确认 NCCL_DMABUF_ENABLE=0 是否生效，（再重启）。" * 5
    for width in range(30, 60):
        lines = printed(text, width)
        assert all(cell_len(line) <= width for line in lines)
        assert [line for line in lines if line[0] in "，）。" or line[-1] in "（"] == []
        assert sum(line.count("NCCL_DMABUF_ENABLE=0") for line in lines) == 5


def test_other_text_when_printed_then_as_rich_prints_it() -> None:
    text = "드라이버가 너무 오래되었습니다 the driver is too old драйвер слишком старый " * 4
    console = Console(width=50, force_terminal=False)
    with console.capture() as captured:
        console.print(Text(text))
    assert printed(text, 50) == [line.rstrip() for line in captured.get().splitlines()]
