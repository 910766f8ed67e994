import pytest

from kb.facts import extract_facts

START = """
$ vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 8
(APIServer pid=1) INFO 08-11 12:00:00 [utils.py:1]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.27.1
(APIServer pid=1) INFO 08-11 12:00:00 [utils.py:2] non-default args: {'model': 'moonshotai/Kimi-K3'}
(APIServer pid=1) INFO 08-11 12:00:05 [model.py:1] Resolved architecture: KimiK3ForConditionalGeneration
(EngineCore_DP0 pid=2) INFO 08-11 12:00:10 [core.py:1] Initializing a V1 LLM engine (v0.27.1) with config: model='m'
(Worker_TP0 pid=3) INFO 08-11 12:00:20 [pynccl.py:1] vLLM is using nccl==2.30.7
(Worker_TP0 pid=3) INFO 08-11 12:01:00 [r.py:1] Starting to load model moonshotai/Kimi-K3...
(Worker_TP0 pid=3) Loading safetensors checkpoint shards:   3% Completed | 3/96 [00:05<02:33,  1.65s/it]
(Worker_TP0 pid=3) INFO 08-11 12:07:00 [r.py:2] Model loading took 196.42 GiB memory and 411.201344 seconds
(Worker_TP0 pid=3) INFO 08-11 12:08:00 [w.py:1] Available KV cache memory: 41.27 GiB
(Worker_TP0 pid=3) Capturing CUDA graphs (mixed prefill-decode, PIECEWISE):   0%|          | 0/51 [00:00<?, ?it/s]
(EngineCore_DP0 pid=2) INFO 08-11 12:09:00 [core.py:2] init engine (profile, create kv cache, warmup model) took 120 s
(APIServer pid=1) INFO:     Application startup complete.
(APIServer pid=1) INFO:     127.0.0.1:1 - "POST /v1/chat/completions HTTP/1.1" 200 OK
(APIServer pid=1) INFO 08-11 12:10:00 [loggers.py:1] Engine 000: Avg prompt throughput: 1.0 tokens/s
(Worker_TP0 pid=3) ERROR 08-11 12:11:00 [x.py:1] torch.OutOfMemoryError: CUDA out of memory
"""

STAGES = [
    None,
    None,
    "import",
    "import",
    "import",
    "engine_start",
    "engine_start",
    "weights",
    "weights",
    "profiling",
    "kv_cache",
    "graph_capture",
    "graph_capture",
    "ready",
    "first_request",
    "serving",
]


def test_stage_before_each_line_of_a_healthy_start(lines, facts):
    found = facts(START)
    assert [found.stage_at(line) for line in lines(START)] == STAGES
    assert found.stage == "serving"
    assert found.get("stage").line == 15


def test_stage_is_shared_by_the_processes_of_a_server(lines, facts):
    text = START.strip().split("\n")[:9]
    text.append("(Worker_TP5 pid=9) ERROR 08-11 12:07:01 [x.py:1] torch.OutOfMemoryError: CUDA out of memory")
    found = facts("\n".join(text))
    assert found.stage_at(lines("\n".join(text))[-1]) == "profiling"


def test_new_start_begins_anew(lines, facts):
    text = START + "\n".join(START.strip().split("\n")[:5]) + "\nValueError: boom"
    found = facts(text)
    assert found.stage_at(lines(text)[-1]) == "engine_start"
    assert found.stage == "engine_start"


@pytest.mark.parametrize("mark", [1, 2, 3])
def test_start_is_seen_by_its_command_its_banner_or_its_arguments(lines, facts, mark):
    text = START + START.strip().split("\n")[mark - 1]
    text += "\nValueError: boom"
    assert facts(text).stage_at(lines(text)[-1]) == (None if mark == 1 else "import")


def test_engine_that_comes_back_under_another_pid_is_a_new_start(lines, facts):
    text = START + START.strip().split("\n")[4].replace("pid=2", "pid=77") + "\nValueError: boom"
    assert facts(text).stage_at(lines(text)[-1]) == "engine_start"


def test_engines_of_data_parallel_ranks_are_one_start(lines, facts):
    rows = START.strip().split("\n")
    text = "\n".join([*rows[:9], rows[4].replace("DP0 pid=2", "DP1 pid=20"), "ValueError: boom"])
    assert facts(text).stage_at(lines(text)[-1]) == "profiling"


def test_paste_without_a_mark_has_no_stage(lines, facts):
    text = "(Worker_TP0 pid=3) ERROR 08-11 12:11:00 [x.py:1] torch.OutOfMemoryError: CUDA out of memory"
    found = facts(text)
    assert found.stage is None
    assert found.stage_at(lines(text)[0]) is None
    assert found.get("stage") is None


def test_traceback_of_an_api_server_is_no_import_error(facts):
    text = """
Traceback (most recent call last):
  File "/usr/local/bin/vllm", line 6, in <module>
    sys.exit(main())
  File "/usr/local/lib/python3.12/dist-packages/vllm/entrypoints/cli/main.py", line 120, in main
    args.dispatch_function(args)
RuntimeError: Engine core initialization failed. See root cause above.
"""
    assert facts(text).stage is None


def test_traceback_of_the_command_that_imports_is_one(lines, facts):
    text = """
Traceback (most recent call last):
  File "/usr/local/bin/vllm", line 6, in <module>
    sys.exit(main())
  File "/usr/local/lib/python3.12/dist-packages/vllm/entrypoints/cli/main.py", line 43, in main
    import vllm.entrypoints.cli.benchmark.main
  File "/usr/local/lib/python3.12/dist-packages/vllm/entrypoints/cli/benchmark/main.py", line 12, in <module>
    from vllm.entrypoints.serve.utils.api_utils import VLLM_SUBCMD_PARSER_EPILOG
RuntimeError: operator torchvision::nms does not exist
"""
    found = facts(text)
    assert found.stage_at(lines(text)[-1]) == "import"
    assert found.stage == "import"


def test_hosts_that_each_start_a_server_have_stages_of_their_own(lines, facts):
    rows = START.strip().split("\n")[1:]
    text = "\n".join(
        [
            *(f"[pod/k3-0/vllm] {row}" for row in rows[:13]),
            *(f"[pod/k3-1/vllm] {row}" for row in rows[:5]),
            "[pod/k3-0/vllm] ValueError: on 0",
            "[pod/k3-1/vllm] ValueError: on 1",
        ]
    )
    found = facts(text)
    zero, one = lines(text)[-2:]
    assert (found.stage_at(zero), found.stage_at(one)) == ("first_request", "engine_start")
    assert found.stage == "first_request"


def test_remote_workers_share_the_stages_of_the_server(lines, facts):
    text = START.replace("(Worker_TP0 pid=3) ERROR", "(RayWorkerWrapper pid=9, ip=10.0.0.2) ERROR")
    last = lines(text)[-1]
    assert last.host == "10.0.0.2"
    assert facts(text).stage_at(last) == "serving"


@pytest.mark.parametrize(
    ("rows", "stage"),
    [
        (['127.0.0.1:1 - "POST /v1/chat/completions HTTP/1.1" 500 Internal Server Error'], "serving"),
        (['127.0.0.1:1 - "GET /health HTTP/1.1" 200 OK'], "ready"),
        (['127.0.0.1:1 - "POST /v1/completions HTTP/1.1" 200 OK'], "serving"),
        (['127.0.0.1:1 - "POST /v1/completions HTTP/1.1" 200 OK'] * 2, "serving"),
        (["usage: vllm [-h] [-v]"], "import"),
        (["CPU KV cache size: 524,288 tokens, Maximum concurrency for 8,192 tokens per request: 64.00x"], "kv_cache"),
        (["Launching Rust frontend: vllm-rs"], None),
        (["CUDA graph memory profiling is enabled (default since v0.21.0)."], None),
    ],
)
def test_marks(facts, rows, stage):
    assert facts("\n".join(rows)).stage == stage


def test_older_run_in_another_file_is_not_the_last_start(lines):
    old = lines(START, "old.log")
    new = lines("\n".join(START.replace("08-11", "08-12").strip().split("\n")[1:8]), "new.log")
    assert extract_facts(old + new).stage == "weights"
    assert extract_facts(new + old).stage == "weights"


def test_first_request_when_the_start_is_not_in_the_log_then_not_taken_for_the_first(facts):
    request = '127.0.0.1:1 - "POST /v1/completions HTTP/1.1" 200 OK'
    dump = "(EngineCore pid=7) ERROR 11-29 12:00:00 [dump_input.py:72] Dumping input data for V1 LLM engine (v0.33.0)"
    assert facts(f"Application startup complete.\n{request}").stage == "first_request"
    assert facts(request).stage == "serving"
    assert facts(dump).stage == "serving"


def test_failed_request_when_the_start_is_in_the_log_then_the_server_was_ready(facts):
    assert facts('Application startup complete.\n1:1 - "POST /v1/completions HTTP/1.1" 500').stage == "ready"
