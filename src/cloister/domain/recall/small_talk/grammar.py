"""Small grammars of phrases, which are matched with whole texts in one pass, without backtracking (ISO-13).

A rule is `NAME = alternatives`, and goes on in the lines that begin with a space. `a b` is one word after another, `a|b` either of
them, `[a]` may be missing, `(a)?` too, and `(a)*` may come any number of times. A word that is the name of a rule above stands
for it; others stand for themselves. In a grammar of characters a word is read character by character.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

NAME = "NAME"
"""Stands for a capitalised word that may be a name."""
_MARKS = "()[]|*?"


class Grammar:
    """Texts that consist of phrases, at least one, and of words that may stand between them.

    Each word is looked at once, with the states that the words before it lead to: bits of a number, one for each state of the
    grammar.
    """

    def __init__(
        self, rules: str, phrases: str, between: str, split: Callable[[str], Sequence[str]] = lambda word: (word,)
    ) -> None:
        self._split = split
        self._kinds: dict[str, list[str]] = {}
        self._steps: dict[str, list[tuple[int, int]]] = {NAME: []}
        self._empty: list[list[int]] = []
        begin, said, end = self.state(), self.state(), self.state()
        parts = _parts(self, rules)
        parts[between](begin, begin)
        parts[phrases](begin, said)
        self.join(said, begin)
        self.join(said, end)
        parts[between](end, end)
        after = [self._reached(state) for state in range(len(self._empty))]
        self._begin, self._end = after[begin], 1 << end
        self._leads = {
            kind: [(1 << before, after[following]) for before, following in steps]
            for kind, steps in self._steps.items()
        }

    def matches(self, words: Sequence[str], names: Sequence[bool]) -> bool:
        """Whether the words are phrases and nothing else. `names` says which of them may be a name."""
        states = self._begin
        for word, is_name in zip(words, names, strict=True):
            kinds = self._kinds.get(word, [])
            following = 0
            for kind in [*kinds, NAME] if is_name else kinds:
                for before, after in self._leads[kind]:
                    if states & before:
                        following |= after
            if not following:
                return False
            states = following
        return bool(states & self._end)

    def state(self) -> int:
        """A new state."""
        self._empty.append([])
        return len(self._empty) - 1

    def join(self, before: int, after: int) -> None:
        """Let the one state lead to the other without a word."""
        self._empty[before].append(after)

    def kind(self, kind: str, words: Iterable[str]) -> None:
        """Name a kind of words."""
        if kind not in self._steps:
            self._steps[kind] = []
            for word in dict.fromkeys(words):
                self._kinds.setdefault(word, []).append(kind)

    def step(self, kind: str, before: int, after: int) -> None:
        """Let a word of this kind lead from one state to the other."""
        self._steps[kind].append((before, after))

    def words(self, text: str) -> Sequence[str]:
        """A word of a rule as the words of a text."""
        return self._split(text)

    def _reached(self, state: int) -> int:
        """The bits of the states that a state leads to without a word, and its own."""
        found, waiting = {state}, [state]
        while waiting:
            new = [each for each in self._empty[waiting.pop()] if each not in found]
            found.update(new)
            waiting.extend(new)
        return sum(1 << each for each in found)


def vocabulary(rules: str) -> frozenset[str]:
    """The words of all rules, as they stand there."""
    return frozenset(token for _, tokens in _definitions(rules) for token in tokens)


_Part = Callable[[int, int], None]
"""Adds what a part of a rule stands for between two states."""


def _parts(grammar: Grammar, rules: str) -> Mapping[str, _Part]:
    reader = _Reader(grammar)
    for name, tokens in _definitions(rules):
        reader.read(name, tokens)
    return reader.parts


def _definitions(rules: str) -> Iterator[tuple[str, list[str]]]:
    """The name of each rule and its tokens."""
    for rule in filter(None, rules.replace("\n ", " ").splitlines()):
        name, _, right = rule.partition(" = ")
        for mark in _MARKS:
            right = right.replace(mark, f" {mark} ")
        yield name, right.split()


class _Reader:
    """Reads rules one after the other."""

    def __init__(self, grammar: Grammar) -> None:
        self.parts: dict[str, _Part] = {}
        self._grammar = grammar

    def read(self, name: str, tokens: list[str]) -> None:
        part, rest = self._alternatives(tokens, 0)
        assert rest == len(tokens), name
        self.parts[name] = part

    def _alternatives(self, tokens: list[str], at: int) -> tuple[_Part, int]:
        parts: list[_Part] = []
        alone: list[str] = []
        while True:
            begun = at
            part, at = self._sequence(tokens, at)
            if at == begun + 1 and self._is_word(tokens[begun]):
                alone.append(tokens[begun])
            else:
                parts.append(part)
            if at == len(tokens) or tokens[at] != "|":
                break
            at += 1
        if alone:
            parts.append(self._any(alone))
        return (parts[0] if len(parts) == 1 else lambda before, after: _each(parts, before, after)), at

    def _is_word(self, token: str) -> bool:
        return token not in self.parts and token != NAME and len(self._grammar.words(token)) == 1

    def _any(self, words: list[str]) -> _Part:
        """One of several words, as one kind."""
        kind = " ".join(words)
        self._grammar.kind(kind, words)
        return lambda before, after: self._grammar.step(kind, before, after)

    def _sequence(self, tokens: list[str], at: int) -> tuple[_Part, int]:
        parts: list[_Part] = []
        while at < len(tokens) and tokens[at] not in "|)]":
            part, at = self._one(tokens, at)
            parts.append(part)
        return (parts[0] if len(parts) == 1 else self._following(parts)), at

    def _one(self, tokens: list[str], at: int) -> tuple[_Part, int]:
        token = tokens[at]
        if token not in "([":
            return (self.parts[token] if token in self.parts else self._word(token)), at + 1
        part, at = self._alternatives(tokens, at + 1)
        mark = tokens[at + 1] if at + 1 < len(tokens) and tokens[at + 1] in "*?" else ""
        if mark == "*":
            part = self._repeated(part)
        elif mark or token == "[":
            part = self._optional(part)
        return part, at + 1 + len(mark)

    def _word(self, word: str) -> _Part:
        if word == NAME:
            return lambda before, after: self._grammar.step(NAME, before, after)
        return self._following([self._any([each]) for each in self._grammar.words(word)])

    def _following(self, parts: list[_Part]) -> _Part:
        def add(before: int, after: int) -> None:
            for each in parts[:-1]:
                following = self._grammar.state()
                each(before, following)
                before = following
            parts[-1](before, after)

        return add

    def _optional(self, part: _Part) -> _Part:
        def add(before: int, after: int) -> None:
            part(before, after)
            self._grammar.join(before, after)

        return add

    def _repeated(self, part: _Part) -> _Part:
        def add(before: int, after: int) -> None:
            middle = self._grammar.state()
            self._grammar.join(before, middle)
            part(middle, middle)
            self._grammar.join(middle, after)

        return add


def _each(parts: Sequence[_Part], before: int, after: int) -> None:
    for part in parts:
        part(before, after)
