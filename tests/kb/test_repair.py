"""Repair of a paste: what chats, mail, trackers and screenshots do to a log, and whose words are whose."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.prose import is_prose
from kb.repair import Paste, repair

RECORD = "(EngineCore_DP0 pid=7) ERROR 08-11 12:00:00 [core.py:708] EngineCore failed to start."
ERROR = "RuntimeError: CUDA error: an illegal memory access was encountered"


def paste(text: str) -> Paste:
    return repair(list(enumerate(text.split("\n"), 1)))


def lines(text: str) -> list[tuple[int, str]]:
    return paste(text).lines


def texts(text: str) -> list[str]:
    return [line for _, line in lines(text)]


# Characters


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ("&lt;function loads at 0x7f&gt; &amp; &quot;x&quot; &#39;y&#39;", "<function loads at 0x7f> & \"x\" 'y'"),
        ("&amp;lt;eos&amp;gt;", "<eos>"),
        ("a&nbsp;b", "a b"),
        ("http://x/?a=1&copy=2&reg=3", "http://x/?a=1&copy=2&reg=3"),
        ("“model” ‘x’ „y“", '"model" \'x\' "y"'),
        ("vllm serve x —tensor-parallel-size 8 –port 1", "vllm serve x --tensor-parallel-size 8 --port 1"),
        ("a — b, 1–2 and x—y", "a — b, 1–2 and x—y"),
        ("co\u200bre\u2060.py\ufeff", "core.py"),
        ("soft\u00adhyphen no\u2011break", "softhyphen no-break"),
        (
            "[<http://core.py:708|core.py:708>] see <https://docs.vllm.ai/en/latest/>",
            "[core.py:708] see https://docs.vllm.ai/en/latest/",
        ),
        ("<mailto:a@b.c|a@b.c> and <tel:1234567890|1234567890>", "a@b.c and 1234567890"),
        ("<s> and <|im_end|> and a < b > c", "<s> and <|im_end|> and a < b > c"),
        (f"`{RECORD}`", RECORD),
        ("`x` is code and `y` too", "`x` is code and `y` too"),
    ],
)
def test_characters_when_a_chat_changed_them_then_as_they_were(given_, expected):
    assert texts(given_) == [expected]


# Quotes


def test_quote_marks_when_in_front_of_a_run_then_gone():
    assert lines(f'> {RECORD}\n>   File "x.py", line 3, in f\n>{ERROR}\nplain') == [
        (1, RECORD),
        (2, '  File "x.py", line 3, in f'),
        (3, ERROR),
        (4, "plain"),
    ]


def test_quote_marks_when_nested_then_all_gone():
    assert texts(f"> > > {RECORD}\n>> {ERROR}\n> done") == [RECORD, ERROR, "done"]


def test_quote_marks_when_escaped_then_gone():
    assert texts(f"&gt; {RECORD}\n&gt; {ERROR}") == [RECORD, ERROR]


@pytest.mark.parametrize("line", [">>> import vllm", "a > b", "-> x", "=> y", "    > indented code"])
def test_greater_sign_when_it_is_no_quote_then_kept(line):
    assert texts(f"one\n{line}\ntwo\nthree") == ["one", line, "two", "three"]


def test_quote_mark_when_of_a_single_line_then_gone():
    assert texts(f"why?\n> {RECORD}") == ["why?", RECORD]


# Code blocks


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("```", "```"),
        ("```bash", "```"),
        ("  ```text", "  ```"),
        ("~~~", "~~~"),
        ("{code}", "{code}"),
        ("{code:bash}", "{code}"),
        ("{code:title=log.txt|borderStyle=solid}", "{code}"),
        ("{noformat}", "{noformat}"),
        ("<pre>", "</pre>"),
        ('<pre class="log">', "</pre>"),
        ("[code]", "[/code]"),
        ("[quote=bob]", "[/quote]"),
    ],
)
def test_code_block_when_marked_then_marks_gone_and_numbers_kept(opening, closing):
    result = paste(f"our server dies, why?\n{opening}\n{RECORD}\nwe are inside\n{closing}\nthanks")
    assert result.lines == [(1, "our server dies, why?"), (3, RECORD), (4, "we are inside"), (6, "thanks")]
    assert result.prose_numbers == {1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"```{RECORD}\n{ERROR}```", [(1, RECORD), (2, ERROR)]),
        (f"```{RECORD}```", [(1, RECORD)]),
        (f"{{code}}{RECORD}{{code}}", [(1, RECORD)]),
        (f"{{noformat}}{RECORD}\n{ERROR}{{noformat}}", [(1, RECORD), (2, ERROR)]),
        (f"<pre><code>{RECORD}\n{ERROR}</code></pre>", [(1, RECORD), (2, ERROR)]),
        (f"<details><summary>log</summary>\n\n```\n{RECORD}\n```\n</details>", [(2, ""), (4, RECORD)]),
    ],
)
def test_code_block_when_its_marks_share_a_line_with_the_log_then_gone(text, expected):
    assert lines(text) == expected


def test_code_block_when_never_closed_then_the_rest_is_inside():
    result = paste(f"```\n{RECORD}\nwe see this line in the log\n")
    assert result.prose_numbers == frozenset()


@pytest.mark.parametrize(
    "line", ["{'code': 1}", "[code] is a word", "a ``` b", "<pre>x is cut", "use {code} here", "[1] quote"]
)
def test_line_when_it_only_holds_a_mark_then_kept(line):
    assert texts(f"{RECORD}\n{line}\n{ERROR}")[2] == ERROR


# Chats and mail


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("[10:32 PM] our server dies", "our server dies"),
        ("[2:13 AM] Jane Doe: our server dies", "our server dies"),
        ("[오후 2:13] x", "[오후 2:13] x"),
        ("[김철수] [오후 2:13] 서버가 죽어요", "서버가 죽어요"),
        ("Иван Петров, [11.08.2026 14:13]: сервер падает", "сервер падает"),
        ("[11.08.2026, 14:13] Иван: сервер падает", "сервер падает"),
        ("[8/11/2026, 2:13 PM] Jane Doe: our server dies", "our server dies"),
        ("Subject: RE: FW: K3 dies after the upgrade", "K3 dies after the upgrade"),
        ("제목: Re: 서버가 죽어요", "서버가 죽어요"),
        ("主题：回复 K3 起不来", "回复 K3 起不来"),
        ("Тема: Re: сервер падает", "сервер падает"),
    ],
)
def test_chat_prefix_when_in_front_of_words_then_gone(line, rest):
    assert texts(line) == [rest]


@pytest.mark.parametrize(
    "line",
    [
        "Jane Doe  10:32 PM",
        "  10:32 PM",
        "[10:32 PM]",
        "Jane Doe at 10:32 AM",
        "김철수 오후 2:13",
        "张三 2026/8/11 14:13:22",
        "3 replies",
        ":eyes: 2",
        "(edited)",
        "From: Jane Doe <jane@example.com>",
        "Sent: Tuesday, August 11, 2026 2:13 PM",
        "发件人: 张三",
        "보낸 사람: 김철수",
        "Кому: Иван Петров",
        "-----Original Message-----",
        "---------- Forwarded message ---------",
        "On Tue, Aug 11, 2026 at 2:13 PM Jane Doe <jane@example.com> wrote:",
        "Sent from my iPhone",
    ],
)
def test_decoration_when_of_a_chat_or_mail_then_it_is_nobodys_words(line):
    result = paste(f"{line}\nour server dies after the upgrade\n{RECORD}")
    assert result.prose == "our server dies after the upgrade"
    assert result.lines[-1] == (3, RECORD)


@pytest.mark.parametrize(
    "line",
    [
        "[10:32:15] ERROR x",
        "[12:00] x",
        "[00:01<00:01, 1.03s/it]",
        "From: x" * 80,
        "Date is wrong",
        "To use this, do that",
    ],
)
def test_line_when_it_only_resembles_a_chats_then_kept(line):
    assert texts(f"{RECORD}\n{line}") == [RECORD, line]


# Line numbers


@pytest.mark.parametrize(
    "form", ["{n:>4} {t}", "{n}: {t}", "{n}| {t}", "{n}\t{t}", "{n:>3}  {t}", "{n}│{t}", "{n:>6}\t{t}"]
)
def test_line_numbers_when_in_front_then_gone(form):
    log = [RECORD, "Traceback (most recent call last):", '  File "x.py", line 3, in f', "    raise x", ERROR] * 3
    numbered = "\n".join(form.format(n=n, t=text) for n, text in enumerate(log, 97))
    assert texts(numbered) == log


def test_line_numbers_when_the_screenshot_was_misread_then_gone_all_the_same():
    given_ = [(n, str(n)) for n in range(100, 112)]
    given_[1] = (101, "l0l")
    given_[4] = (104, "lO4")
    text = "\n".join(f"{shown} {RECORD}" for _, shown in given_)
    assert texts(text) == [RECORD] * 12


def test_line_numbers_when_on_lines_of_their_own_then_gone():
    text = "\n".join(f"{n}\n{RECORD} {n}" for n in range(1, 9))
    assert lines(text) == [(2 * n, f"{RECORD} {n}") for n in range(1, 9)]


def test_line_numbers_when_of_grep_then_gone():
    assert lines(f"120:{RECORD}\n121-  File\n--\n340:{RECORD}\n350:{RECORD}") == [
        (1, RECORD),
        (2, "  File"),
        (3, "--"),
        (4, RECORD),
        (5, RECORD),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "8 B300\n8 H200\n16 B200\n32 H100",
        "1 node\nsome text\nmore text\n2 nodes\nother text\nand more",
        "2026-08-11 12:00:00 x\n2026-08-11 12:00:01 y\n2026-08-11 12:00:02 z",
        "0: GPU\n0: GPU\n0: GPU\n0: GPU",
        "12 34 56\n13 99 01\n99 12 12\n14 0 0\n80 1 1",
    ],
)
def test_numbers_when_they_do_not_count_lines_then_kept(text):
    assert texts(text) == text.split("\n")


# JSON that repair has made whole again

STREAM = '"stream":"stderr","time":"2026-08-11T12:00:0'
DOCKER = [
    f'{{"log":"(Worker_TP0 pid=9) ERROR 08-11 12:00:00 [a.py:1] boom\\n",{STREAM}0Z"}}',
    f'{{"log":"ValueError: no room for all of the weights on this GPU\\n",{STREAM}1Z"}}',
]
UNPACKED = [
    "2026-08-11T12:00:00Z (Worker_TP0 pid=9) ERROR 08-11 12:00:00 [a.py:1] boom",
    "2026-08-11T12:00:01Z ValueError: no room for all of the weights on this GPU",
]


@pytest.mark.parametrize(
    "damage",
    [
        lambda n, line: f"> {line}",
        lambda n, line: line.replace('"', "&quot;"),
        lambda n, line: line.replace('"', "”"),
        lambda n, line: f"{n}:{line}",
        lambda n, line: line[:80] + "\n" + line[80:],
    ],
    ids=["quoted", "escaped", "typographic", "grep", "cut"],
)
def test_docker_lines_when_damaged_then_repaired_and_unpacked(damage):
    given_ = "\n".join(damage(n, line) for n, line in enumerate(DOCKER, 120))
    assert texts(given_) == UNPACKED


# Whose words


@pytest.mark.parametrize(
    "words",
    [
        "8x B300, after upgrade to 0.30 the cache never hits",
        "Our server dies on startup, any idea?",
        "log from our prod node, K3 just hangs",
        "the engine is stuck since yesterday",
        "K3가 켜지다가 죽어요",
        "启动就崩，怎么办",
        "Не стартует, помогите",
        "hangs while loading on 2 of 4 nodes",
        "We get this on every start:",
        "It worked with 0.28 and broken since 0.30",
    ],
)
def test_words_when_above_or_below_a_log_then_a_persons(words):
    assert paste(f"{words}\n\n{RECORD}\n{ERROR}").prose == words
    assert paste(f"{RECORD}\n{ERROR}\n\n{words}").prose == words


@pytest.mark.parametrize(
    "line",
    [
        "Triton is installed, but doesn't include CPU backend. Disabling Triton.",
        "Loading safetensors checkpoint shards: 100% Completed | 96/96 [00:10<00:00,  9.1it/s]",
        "Capturing CUDA graphs (mixed prefill-decode, PIECEWISE): 100%|####| 51/51 [00:04<00:00]",
        "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below is wrong.",
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
        "Do you wish to run the custom code? [y/N] ",
        "You can avoid this prompt in future by passing the argument `trust_remote_code=True`.",
        "The repository /models/Kimi-K3 contains custom code which must be executed to correctly load the model.",
        "Please make sure you specified the correct `repo_id` and `repo_type`.",
        "If you are trying to access a private or gated repo, make sure you are authenticated.",
        "Check your internet connection or see how to run the library in offline mode",
        "vllm 0.32.0 requires transformers<5.20,>=5.16.1, but you have transformers 5.24.0 which is incompatible.",
        "WARNING: this may take a while",
        "usage: vllm serve [model_tag] [options]",
        "  Normal   Pulled     41s (x4 over 2m)   kubelet            Container image already present on machine",
        "| NVIDIA-SMI 580.95.05              Driver Version: 580.95.05      CUDA Version: 13.0     |",
        "GPU 0: NVIDIA RTX PRO 6000 Blackwell Server Edition (UUID: GPU-33333333-00aa)",
        "$ vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 8",
        "root@node7:~# nvidia-smi",
        "terminate called after throwing an instance of 'c10::Error'",
        "Killed",
        "",
    ],
)
def test_line_when_of_a_program_then_not_a_persons(line):
    assert paste(f"{RECORD}\n{line}\n{ERROR}").prose == ""
    assert paste(f"{line}\n{RECORD}\n{ERROR}").prose == ""
    assert paste(f"{RECORD}\n{ERROR}\n{line}").prose == ""


def test_words_when_there_is_no_log_then_all_is_a_persons_even_what_was_retyped():
    text = "Коллеги, после запуска падает на NCCL, вот что видно:\nNCCL error: unhandled system error\nerrno 524 at reg"
    assert paste(text).prose_numbers == {1, 2, 3}


def test_commands_when_beside_words_without_a_log_then_not_a_persons():
    result = paste("our server dies, we start it so:\nvllm serve moonshotai/Kimi-K3 --tensor-parallel-size 8")
    assert result.prose_numbers == {1}


def test_odd_line_when_alone_in_a_long_log_then_not_a_persons():
    log = "\n".join([RECORD] * 300 + ["we are waiting for our workers"] + [RECORD] * 200)
    assert paste(log).prose == ""


def test_prose_when_joined_then_in_order_and_without_margins():
    assert (
        paste(f"  why does it die?\n{RECORD}\n\n  thanks for your help").prose
        == "why does it die?\nthanks for your help"
    )


@pytest.mark.parametrize("line", ["서버가 죽어요", "the cache never hits after the upgrade", "启动失败"])
def test_sentence_when_alone_then_prose(line):
    assert is_prose(line)


@pytest.mark.parametrize(
    "line", [RECORD, ERROR, "Traceback (most recent call last):", "docker: Error response from daemon: x"]
)
def test_line_when_of_a_log_then_not_prose(line):
    assert not is_prose(line)


@pytest.mark.parametrize(
    "words",
    [
        "We upgraded from 0.28 to 0.31 and VLLM_PREFIX_CACHE_RETENTION_INTERVAL=32768 seems to do nothing now",
        "copied the recipe env (VLLM_USE_RUST_FRONTEND=1) + our usual flags. 0.30.0, 8x GB300",
        "it hangs at startup with NCCL_DEBUG=1 set",
        "hangs with tp=8 pp=2 on b300",
    ],
)
def test_sentence_when_it_names_a_setting_with_its_value_then_still_a_persons(words):
    assert paste(words).prose == words
    assert paste(f"{words}\n\n{RECORD}\n{ERROR}").prose == words


@pytest.mark.parametrize(
    "line",
    ["Engine config: tp=8, pp=2, dp=1", "model='x', tensor_parallel_size=8, enable=False", "NCCL_DEBUG=1 TP=8 x"],
)
def test_line_when_it_lists_settings_then_not_a_persons(line):
    assert paste(f"{line}\n{RECORD}\n{ERROR}").prose == ""


# Stacked damage


def test_damage_when_stacked_then_undone_and_numbers_stay_those_of_the_paste():
    text = "\n".join(
        [
            "Jane Doe  10:32 PM",
            "K3 dies after the upgrade, any idea?",
            "&gt; ```",
            f"&gt; {RECORD.replace('core.py:708', '<http://core.py:708|core.py:708>')}",
            "&gt; Traceback (most recent call last):",
            "&gt;   File “x.py”, line 3, in f",
            "&gt; ```",
            "thanks!",
        ]
    )
    result = paste(text)
    assert result.lines[2:5] == [
        (4, RECORD),
        (5, "Traceback (most recent call last):"),
        (6, '  File "x.py", line 3, in f'),
    ]
    assert result.prose == "K3 dies after the upgrade, any idea?"


PIECES = st.sampled_from(
    [
        RECORD,
        ERROR,
        "> ",
        "```",
        "{code}",
        "1 x",
        "12: y",
        "[2:13 AM] Jane: x",
        "From: x",
        "K3가 죽어요",
        "we see this, why?",
        "",
        '  File "x.py", line 3, in f',
        "| a | b |",
        "&gt; &lt;",
        "<http://a|b>",
        "x" * 80,
        "word " * 30,
        "\ufeff“",
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=30).filter(lambda text: "\n" not in text)), max_size=25))
@settings(max_examples=250, deadline=None)
def test_any_paste_when_repaired_then_numbers_rise_and_are_those_given(given_):
    raw = list(enumerate(given_, 1))
    result = repair(raw)
    numbers = [number for number, _ in result.lines]
    assert numbers == sorted(numbers)
    assert set(numbers) <= {number for number, _ in raw}
    assert result.prose_numbers <= set(numbers)
    assert repair(raw) == result
