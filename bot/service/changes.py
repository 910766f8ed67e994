"""What a new report says that the last one did not."""

from __future__ import annotations

from kb.report import Report


def what_changed(old: Report | None, new: Report) -> list[str]:
    """Keys below `slack.changed` of the catalogue, the weightiest first; empty where the answer stands."""
    if old is None:
        return []
    changes = []
    if old.outcome != new.outcome:
        changes.append("outcome")
    if old.layer != new.layer:
        changes.append("layer")
    before = [item.entry for item in old.diagnoses]
    after = [item.entry for item in new.diagnoses]
    if before[:1] != after[:1]:
        changes.append("cause")
    elif before and old.diagnoses[0].confidence != new.diagnoses[0].confidence:
        changes.append("confidence")
    if set(before[1:]) != set(after[1:]) and "cause" not in changes:
        changes.append("alternatives")
    if old.root_exception != new.root_exception and "cause" not in changes:
        changes.append("first_failure")
    if [item.command for item in old.missing_evidence] != [item.command for item in new.missing_evidence]:
        changes.append("missing")
    if {k: v.value for k, v in old.facts.items()} != {k: v.value for k, v in new.facts.items()}:
        changes.append("facts")
    return changes
