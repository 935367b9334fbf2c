"""Which facts of their own a person asks for: "What's my job title?" asks for their role (MEM-12, CTX-6). English only.

Such a question may share no word with its answer ("The user was promoted to team lead"). The subject of a memory says what it is
about.
"""

from cloister.domain.patterns import linear


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = linear(r"[^\W_]++")
_MOST_WORDS = 40
_OWN = frozenset({"i", "my", "me", "mine", "we", "our", "us", "im"})
_BEGINNINGS = _words(
    "what whats where wheres which who whos whom am are is do does did have remind tell whereabouts hey ok okay so and also"
    " please quick quickly again sorry wait"
)
_HOW = frozenset({"old", "am", "are"})
_WHERE = frozenset({"where", "whereabouts", "city", "town", "country", "place", "village", "state", "part"})
_LIVING = frozenset({"live", "living", "reside", "residing", "based", "settled"})
_WORDS: tuple[tuple[frozenset[str], frozenset[str]], ...] = (
    (frozenset({"home", "address"}), frozenset({"home"})),
    (frozenset({"job", "career", "work", "working", "employed", "gig"}), frozenset({"employer", "role", "company"})),
    (frozenset({"employer", "workplace", "company"}), frozenset({"employer", "company"})),
    (frozenset({"profession", "occupation", "role", "position"}), frozenset({"role"})),
    (frozenset({"age"}), frozenset({"age"})),
    (frozenset({"name", "surname", "nickname", "called"}), frozenset({"name", "first name", "last name", "called"})),
    (frozenset({"diet", "vegan", "vegetarian", "pescatarian"}), frozenset({"diet"})),
    (
        _words(
            "single married engaged divorced separated widowed dating relationship marital girlfriend boyfriend partner"
            " husband wife spouse fiancé fiancée fiance fiancee"
        ),
        frozenset({"relationship", "girlfriend", "boyfriend", "partner", "fiancé", "fiancée"}),
    ),
)
_PHRASES: tuple[tuple[str, frozenset[str]], ...] = (
    (" for a living ", frozenset({"employer", "role"})),
    (" how old ", frozenset({"age"})),
    (" call me ", frozenset({"name", "first name", "called"})),
    (" seeing anyone ", _WORDS[-1][1]),
    (" seeing someone ", _WORDS[-1][1]),
    (" go by ", frozenset({"name", "first name", "called"})),
)


def asked_facts(query: str) -> frozenset[str]:
    """The subjects of the facts about themselves that a person asks for; none if the query is no such question, or is long."""
    words = [found.group().casefold() for found, _ in zip(_WORD.finditer(query), range(_MOST_WORDS + 1), strict=False)]
    if not 2 < len(words) <= _MOST_WORDS or _OWN.isdisjoint(words):
        return frozenset()
    if words[0] not in _BEGINNINGS and not (words[0] == "how" and words[1] in _HOW):
        return frozenset()
    found = {subject for asked, subjects in _WORDS if not asked.isdisjoint(words) for subject in subjects}
    spaced = f" {' '.join(words)} "
    found |= {subject for phrase, subjects in _PHRASES if phrase in spaced for subject in subjects}
    if not _WHERE.isdisjoint(words) and not _LIVING.isdisjoint(words):
        found.add("home")
    return frozenset(found)
