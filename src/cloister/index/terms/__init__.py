"""Tokenising: text → words → terms, in several languages."""

from cloister.index.terms.encoding import BYTES, LANGUAGE_TERMS, VERSION, encode, term, term_list, terms_of
from cloister.index.terms.languages import OTHERS, STOP_WORDS, Language
from cloister.index.terms.queries import QueryWords, read_query
from cloister.index.terms.tokens import name_words, without_marks, words

__all__ = [
    "BYTES",
    "LANGUAGE_TERMS",
    "OTHERS",
    "STOP_WORDS",
    "VERSION",
    "Language",
    "QueryWords",
    "encode",
    "name_words",
    "read_query",
    "term",
    "term_list",
    "terms_of",
    "without_marks",
    "words",
]
