"""The words of a query, and the terms under which each may be stored: a pool may have texts in several languages.

A message is stored under the stems of its own language, and a short one often under those of English. So a word of a query is
looked up under its stem in each language of the pool, and in English.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from cloister.index.terms.encoding import term
from cloister.index.terms.languages import STOP_WORDS, Language, certain_language_of
from cloister.index.terms.tokens import words


@dataclass(frozen=True, kw_only=True, slots=True)
class QueryWords:
    """The distinct words of a query in order; by word the terms of each that is not a stop word, that of its own language first;
    and the words that some language of the pool has as stop words, where the language of the query is not certain."""

    words: Sequence[str]
    terms: Mapping[str, Sequence[int]]
    doubtful: Collection[str]
    language: Language
    certain: bool

    @property
    def is_english(self) -> bool:
        """Whether the query is certainly in English."""
        return self.certain and self.language is Language.ENGLISH

    @property
    def ambiguous(self) -> bool:
        """Whether it depends on the pool which terms are asked for."""
        return bool(self.doubtful) or any(len(stems) > 1 for stems in self.terms.values())

    def distinct(self) -> Iterable[int]:
        return dict.fromkeys(stem for stems in self.terms.values() for stem in stems)

    def limited_to(self, known: Collection[int]) -> "QueryWords":
        """Only the terms that the pool knows; of a word without any its first, unless it is doubtful."""
        kept = {
            word: [stem for stem in stems if stem in known] or ([] if word in self.doubtful else [stems[0]])
            for word, stems in self.terms.items()
        }
        return replace(self, terms={word: stems for word, stems in kept.items() if stems}, doubtful=())


def read_query(text: str, spoken: Sequence[Language]) -> QueryWords:
    """Split a query; `spoken` are the languages of the pool besides English."""
    found = list(dict.fromkeys(words(text)))
    own = certain_language_of(text, spoken)
    language = own or Language.ENGLISH
    if language is Language.ENGLISH and not spoken:
        only = {word: (stem,) for word in found if (stem := term(word))}
        return QueryWords(words=found, terms=only, doubtful=(), language=language, certain=own is not None)
    languages = list(dict.fromkeys([language, *spoken, Language.ENGLISH]))
    stop_words = frozenset[str]() if own is None else STOP_WORDS[own]
    stems = {word: _stems(word, languages) for word in found if word not in stop_words}
    kept = {word: among for word, among in stems.items() if among}
    doubtful = [word for word in kept if own is None and any(word in STOP_WORDS[each] for each in languages)]
    return QueryWords(words=found, terms=kept, doubtful=doubtful, language=language, certain=own is not None)


def _stems(word: str, languages: Sequence[Language]) -> Sequence[int]:
    return [found for found in dict.fromkeys(term(word, language) for language in languages) if found]
