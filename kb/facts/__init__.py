"""Typed facts read out of evidence: versions, hardware, launch options, numbers, and how far the server came."""

from kb.facts.extract import ANCHORS, Anchor, extract_facts
from kb.facts.model import Fact, Facts
from kb.facts.vocabulary import STAGES

__all__ = ["ANCHORS", "STAGES", "Anchor", "Fact", "Facts", "extract_facts"]
