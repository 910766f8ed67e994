import pytest

WARM = """
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="tiny"} 0.0
# HELP vllm:kv_cache_usage_perc KV-cache usage. 1 means 100 percent usage.
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="tiny"} 0.25
# HELP vllm:prefix_cache_queries_total Prefix cache queries, in terms of number of queried tokens.
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{engine="0",model_name="tiny"} 18351.0
vllm:prefix_cache_queries_created{engine="0",model_name="tiny"} 1.7959548526251156e+09
vllm:prefix_cache_hits_total{engine="0",model_name="tiny"} 15488.0
vllm:num_preemptions_total{engine="0",model_name="tiny"} 0.0
vllm:request_success_total{engine="0",finished_reason="stop",model_name="tiny"} 15.0
"""
WARM += (
    'vllm:cache_config_info{block_size="128",cache_dtype="auto",enable_prefix_caching="True",engine="0",'
    'gpu_memory_utilization="0.92",mamba_cache_mode="align",num_gpu_blocks="16384"} 1.0\n'
)


def test_page_of_one_engine(values):
    assert values(WARM) == {
        "kv_cache_usage": 25.0,
        "prefix_cache_queries": 18351.0,
        "prefix_cache_hits": 15488.0,
        "prefix_cache_hit_rate": 84.4,
        "preemptions": 0.0,
        "block_size": 128,
        "kv_cache_dtype": "auto",
        "prefix_caching": True,
        "gpu_memory_utilization": 0.92,
        "mamba_cache_mode": "align",
    }


def test_counters_are_summed_over_engines(values):
    text = """
vllm:prefix_cache_queries_total{engine="0"} 100.0
vllm:prefix_cache_queries_total{engine="1"} 300.0
vllm:prefix_cache_hits_total{engine="0"} 100.0
vllm:prefix_cache_hits_total{engine="1"} 0.0
vllm:kv_cache_usage_perc{engine="0"} 0.1
vllm:kv_cache_usage_perc{engine="1"} 0.97
vllm:nixl_num_failed_transfers_total{engine="0"} 2.0
vllm:nixl_num_failed_transfers_total{engine="1"} 1.0
vllm:nixl_num_kv_expired_reqs_total{engine="0"} 4.0
vllm:corrupted_requests_total{engine="0"} 1.0
"""
    assert values(text) == {
        "prefix_cache_queries": 400.0,
        "prefix_cache_hits": 100.0,
        "prefix_cache_hit_rate": 25.0,
        "kv_cache_usage": 97.0,
        "nixl_failed_transfers": 3.0,
        "nixl_expired_requests": 4.0,
        "corrupted_requests": 1.0,
    }


def test_second_page_wins_over_the_first(values):
    later = WARM.replace("18351.0", "20000.0").replace("15488.0", "15500.0")
    found = values(WARM + "$ curl -s localhost:8000/metrics\n" + later)
    assert (found["prefix_cache_queries"], found["prefix_cache_hits"]) == (20000.0, 15500.0)
    joined = values(WARM + later.lstrip())
    assert joined["prefix_cache_queries"] == 20000.0


def test_acceptance_length_of_speculation(value):
    text = "vllm:spec_decode_num_drafts_total 100.0\nvllm:spec_decode_num_accepted_tokens_total 250.0"
    assert value(text, "spec_acceptance_length") == 3.5


def test_cache_that_was_never_asked_has_no_hit_rate(value):
    text = 'vllm:prefix_cache_queries_total{engine="0"} 0.0\nvllm:prefix_cache_hits_total{engine="0"} 0.0'
    assert value(text, "prefix_cache_hit_rate") is None


@pytest.mark.parametrize("cut", range(60, 230, 7))
def test_page_that_is_cut_anywhere_never_fails(values, cut):
    values(WARM[-cut:])
    values(WARM[:-cut])


def test_dcgm_exporter(values):
    labels = (
        'UUID="GPU-0",device="nvidia{i}",modelName="NVIDIA B300 SXM6 AC",Hostname="gpu-a",'
        'DCGM_FI_DRIVER_VERSION="575.57.08"'
    )
    text = "\n".join(
        f'{name}{{gpu="{i}",{labels.replace("{i}", str(i))}}} {amount}'
        for name, amounts in (
            ("DCGM_FI_DEV_FB_FREE", (270000, 1024)),
            ("DCGM_FI_DEV_FB_USED", (5040, 274016)),
            ("DCGM_FI_DEV_XID_ERRORS", (0, 79)),
        )
        for i, amount in enumerate(amounts)
    )
    assert values(text) == {
        "driver_version": "575.57.08",
        "gpu_model": "B300",
        "gpu_arch": "blackwell_ultra",
        "gpu_count": 2,
        "gpu_memory_gib": 268.594,
        "gpu_memory_used_gib": 267.594,
        "xid": 79,
        "platform": "cuda",
    }


def test_name_of_a_metric_in_a_sentence_states_nothing(values):
    assert values("Look at vllm:prefix_cache_hits_total and vllm:kv_cache_usage_perc first.") == {}


@pytest.mark.parametrize("told", ["+Inf", "-Inf", "NaN", "1e999", "1e300", "-1e300", "9" * 5000])
@pytest.mark.parametrize(
    "series",
    [
        'DCGM_FI_DEV_XID_ERRORS{gpu="0",Hostname="n1"}',
        'DCGM_FI_DEV_FB_USED{gpu="0",Hostname="n1"}',
        'vllm:kv_cache_usage_perc{engine="0"}',
        'vllm:prefix_cache_queries_total{engine="0"}',
        'vllm:prefix_cache_hits_total{engine="0"}',
        'vllm:num_preemptions_total{engine="0"}',
        'vllm:spec_decode_num_drafts_total{engine="0"}',
        'vllm:cache_config_info{block_size="128"}',
    ],
)
def test_value_that_no_measure_has_is_passed_over_and_the_rest_is_read(values, series, told):
    text = f"""
{series} {told}
DCGM_FI_DEV_XID_ERRORS{{gpu="1",Hostname="n1"}} 79
vllm:corrupted_requests_total{{engine="0"}} 2.0
"""
    found = values(text)
    assert found["corrupted_requests"] == 2.0
    assert found.get("xid", 79) == 79
