"""Small talk: greetings, thanks, farewells, and what else is said without asking for anything, for which nothing is recalled
(CTX-6)."""

from cloister.domain.recall.small_talk.recognise import is_small_talk

__all__ = ["is_small_talk"]
