"""One line of what was understood: release, machines, layout, and where it failed."""

from __future__ import annotations

from bot.catalogue import say
from kb.catalogue import message
from kb.report import Report


def understood(report: Report) -> str:
    """For instance `vLLM 0.27.1, 8x B300, TP8, CUDA 13.0, prefix cache off, stage of the failure: loading weights`.

    Empty where the report cites nothing either, as for a plain question.
    """
    language = report.language
    facts = report.facts
    parts: list[str] = []

    def value(name: str) -> str | None:
        return str(facts[name].value) if name in facts else None

    if version := value("vllm_version"):
        parts.append(f"vLLM {version}")
    model, count = value("gpu_model"), value("gpu_count")
    if model and count:
        parts.append(say(language, "understood.gpus", count=count, model=model))
    elif model:
        parts.append(model)
    for name, key in (("tp_size", "tp"), ("pp_size", "pp"), ("dp_size", "dp"), ("dcp_size", "dcp")):
        size = value(name)
        if size and (size != "1" or name == "tp_size"):
            parts.append(say(language, f"understood.{key}", n=size))
    if value("ep_enabled") == "True":
        parts.append(say(language, "understood.ep"))
    nodes = value("host_count") or value("nnodes")
    if nodes and nodes != "1":
        parts.append(say(language, "understood.nodes", n=nodes))
    if cuda := value("cuda_runtime") or value("torch_cuda"):
        parts.append(say(language, "understood.cuda", version=cuda))
    if driver := value("driver_version"):
        parts.append(say(language, "understood.driver", version=driver))
    if (dtype := value("kv_cache_dtype")) and dtype != "auto":
        parts.append(say(language, "understood.kv", dtype=dtype))
    if caching := value("prefix_caching"):
        parts.append(say(language, "understood.prefix_on" if caching == "True" else "understood.prefix_off"))
    if report.stage:
        stage = message(language, f"stage.{report.stage}")
        key = "failed_at" if report.outcome != "unrelated" else "came_to"
        parts.append(say(language, f"understood.{key}", stage=stage))
    if parts:
        return ", ".join(parts)
    cites = report.root_exception is not None or any(item.evidence for item in report.diagnoses)
    return say(language, "understood.nothing") if cites else ""
