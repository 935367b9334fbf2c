"""Messages that say the same again, that only ask the question again, or that do not know its answer (CTX-7)."""

from cloister.services.recall.repetition.asked_again import AskedWords, is_question
from cloister.services.recall.repetition.said import Said

__all__ = ["AskedWords", "Said", "is_question"]
