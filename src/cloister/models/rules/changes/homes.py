"""Where somebody lives: "lives in Oslo", "got the keys to a flat in Porto", "is no longer in Rome" (MEM-12)."""

from cloister.domain.patterns import IGNORECASE, anchored, linear
from cloister.models.rules.changes.stated import Stated, ended, value_words
from cloister.models.rules.changes.times import LONG_AGO, SINCE
from cloister.models.rules.grammar import Predicate
from cloister.models.rules.tables import homes as table
from cloister.models.rules.tables import single_values
from cloister.models.rules.tables.names import PRODUCTS

_NAME = rf"(?P<value>{single_values.NAME}){table.NOT_A_HOME}"
_LIVES = anchored(rf"{table.LIVES_IN} (?:{table.A_HOME_IN} )?{_NAME}")
_LIVES_UNCAPITALISED = anchored(rf"{table.LIVES_IN} (?P<value>[a-z][\w-]{{2,30}})$")
_MOVED = anchored(rf"{table.MOVED_TO}{_NAME}")
_SETTLED = anchored(rf"{table.SETTLED_IN}{_NAME}")
_BOUGHT = anchored(rf"{table.BOUGHT_IN}{_NAME}{table.MOVED_IN}", IGNORECASE)
_RENTS = anchored(rf"{table.RENTS_IN}{_NAME}$")
_IS_IN = anchored(rf"(?:{table.HOUSEHOLD_IN}|{table.HAVE_BEEN_IN}){_NAME}")
_RETURNED = anchored(rf"{table.RETURNED_TO}{_NAME}$")
_DURATION = anchored(r" for (?:\w+ ){1,3}?(?:weeks|months|years)$")
_CALLS_HOME = anchored(table.CALLS_HOME)
_RESIDENT = anchored(table.RESIDENT)
_MOVED_AWAY = anchored(rf"{table.MOVED_AWAY} {_NAME}$")
_AS_A_JOB = linear(r" (?:as an? |team\b|department\b|to (?:lead|manage|work on)\b)")
_PARTLY = anchored(single_values.PARTLY, IGNORECASE)
_FOR_A_WHILE = linear(
    r" (?:for|until|till|visiting|on|with|at|to|because|during|every|right|and|when|while|this|today|tonight|next|before)\b"
)


def home(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    """The home that a predicate's key states, or that it says has ended."""
    if new := _new_home(key, said):
        return new
    if (away := _MOVED_AWAY.match(key)) and not said.negated and key.startswith(("moved", "have moved")):
        return (ended("home", value_words(away["value"])),)
    if settled := _where_they_are(key, said, marked=marked):
        return settled
    lives = _LIVES.match(key) or _LIVES_UNCAPITALISED.match(key)
    if lives is None or lives["value"] in single_values.NO_TOWN or _is_partly(key, lives.end(), said):
        return ()
    words = value_words(lives["value"])
    return (Stated(family="home", subject="home", words=words, positive=not said.negated, marked=marked),)


def _new_home(key: str, said: Predicate) -> tuple[Stated, ...]:
    """A home that somebody moved to. A change of employer is said in the same words, if the old one is named."""
    moved = _MOVED.match(key)
    new = moved or _SETTLED.match(key) or _BOUGHT.match(key)
    if new is None or said.negated or _AS_A_JOB.search(key, new.end()):
        return ()
    words = value_words(new["value"])
    dated = bool(LONG_AGO.search(key, new.end()))
    former = value_words(moved["former"] or "") if moved else ()
    stated = Stated(family="home", subject="home", words=words, marked=True, dated=dated, former=former)
    if words and words[-1] in table.ORGANISATIONS:
        return (Stated(family="employer", subject="employer", words=words, marked=True, dated=dated, former=former),)
    if not words or words[-1] in single_values.NO_EMPLOYER or words[-1] in PRODUCTS:
        return ()
    if not former:
        return (stated,)
    return (stated, Stated(family="employer", subject="employer", words=words, marked=True, former=former))


def _where_they_are(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    """ "is in Porto now", "calls Porto home", "rents a flat in Porto": a home in itself, or if it is said to be a change."""
    if (returned := _RETURNED.match(key)) and marked and not said.negated:
        return (Stated(family="home", subject="home", words=value_words(returned["value"]), marked=True),)
    is_in = _IS_IN.match(key)
    if is_in:
        since = bool(SINCE.match(key, is_in.end()) or (marked and _DURATION.match(key, is_in.end())))
        occasion = _FOR_A_WHILE.search(key, is_in.end()) and not since
        if said.negated or occasion or not (marked or since):
            return ()
        return (Stated(family="home", subject="home", words=value_words(is_in["value"]), marked=True),)
    named = _CALLS_HOME.match(key) or _RESIDENT.match(key)
    if named and not said.negated:
        words = value_words(named["value"] or named.groupdict().get("of") or "")
        return (Stated(family="home", subject="home", words=words, marked=True),)
    rents = _RENTS.match(key)
    if rents is None or said.negated or key.startswith(("own", "have")):
        return ()
    words = value_words(rents["value"])
    return (Stated(family="home", subject="home", words=words, marked=marked, exact=False),)


def _is_partly(key: str, end: int, said: Predicate) -> bool:
    """Whether the value holds at times only: "lives in Rome in the summer". A denial of more than the value denies little."""
    return bool(_PARTLY.match(key, end)) or (said.negated and end < len(key) and not SINCE.match(key, end))
