"""Knowledge-seeking turns from a knowledge base in the form of DSTC9 Track 1."""

from dialmill.perturbers.insertion.knowledge.base import WHOLE_DOMAIN, Entity, KnowledgeBase, KnowledgeError, entity_label, load
from dialmill.perturbers.insertion.knowledge.perturber import AMBIGUOUS, ANSWER, SEEKING, Knowledge, own_base

__all__ = [
    "AMBIGUOUS",
    "ANSWER",
    "SEEKING",
    "WHOLE_DOMAIN",
    "Entity",
    "Knowledge",
    "KnowledgeBase",
    "KnowledgeError",
    "entity_label",
    "load",
    "own_base",
]
