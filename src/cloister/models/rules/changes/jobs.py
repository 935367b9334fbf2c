"""Where and as what somebody works: "started at Acme", "was laid off", "got promoted to team lead" (MEM-12)."""

from cloister.domain.patterns import IGNORECASE, anchored, linear
from cloister.models.rules.changes.stated import Stated, ended, value_words
from cloister.models.rules.changes.times import LONG_AGO, SINCE
from cloister.models.rules.grammar import Predicate
from cloister.models.rules.tables import jobs as table
from cloister.models.rules.tables import single_values
from cloister.models.rules.tables.names import GIVEN_NAMES
from cloister.models.rules.tables.notation import alternatives
from cloister.models.rules.tables.words import OCCUPATION

_NAME = rf"(?P<value>{single_values.NAME})(?![\w'&-])(?!(?<='s) (?!in |on |at |as |last |this |and |for )[a-z])"
_WORKS = anchored(rf"{table.WORKS_AT} {_NAME}")
_WORKS_SOMEWHERE = anchored(
    rf"{table.WORKS_AT} (?P<value>(?:a|an|the|my|our|their) (?:[\w'-]+ ){{0,4}}?[\w'-]+)"
    r"(?= (?:in|as|for|since|and|on|at|near|that|of)\b|,|$)"
)
_ENGAGED = anchored(rf"(?:{table.ENGAGED_BY}|{table.HAS_BEEN_AT}) {_NAME}")
_JOINED = anchored(rf"{table.JOINED}{_NAME}")
_STARTED_SOMEWHERE = anchored(
    r"(?:have )?started working (?:at|for) (?P<value>(?:a|an|the|my|their) (?:[\w'-]+ ){0,3}?[\w'-]+)"
    r"(?= (?:in|as|on|last|this)\b|,|$)"
)
_FORMER_AND_NEW = anchored(rf"(?:{table.FORMER_AND_NEW})(?![\w'&-])")
_OUT_OF_WORK = anchored(rf"{alternatives(table.OUT_OF_WORK)}(?: (?:at|with|from|by) (?P<value>[\w' .&-]{{1,60}}))?")
_SELF_EMPLOYED = anchored(alternatives(table.SELF_EMPLOYED))
_PARTLY = anchored(single_values.PARTLY, IGNORECASE)
_TEAM = anchored(r" (?:team|department|division|group|account|project|newsletter|waitlist|call|clients?)\b", IGNORECASE)
_NOTHING_MORE = anchored(r"$|,| (?:as|in) (?!a (?:meeting|queue|call)\b)", IGNORECASE)
_DURATION = anchored(r" for (?:\w+ ){1,3}?(?:days?|weeks?|months?|years?)\b", IGNORECASE)
_NO_LEAVING = anchored(table.NO_LEAVING, IGNORECASE)
_LEFT = anchored(rf"{table.LEFT} {_NAME}")
_STOPPED_WORK = anchored(
    r"(?:have )?(?:stopped|quit) working (?:at|for) (?:a|the|my|their) (?P<value>(?:[\w'-]+ ){0,2}?[\w'-]+)(?= (?:last|this|in"
    r"|for)\b|$)"
)
_LEFT_FIRM = anchored(
    rf"{table.LEFT} (?:the|that|my|their) (?P<value>(?:[\w'-]+ ){{0,2}}?(?:firm|company|agency|startup|practice|nonprofit|charity"
    r"|newspaper))(?= (?:last|this|in|for good|after)\b|$)"
)
_APART = anchored(rf"be (?:with|at|in) {_NAME}")
_EMPLOYER = anchored(rf" (?:at|for|with) {_NAME}")

_JOB = rf"(?P<value>(?:[\w'/&+-]+ ){{0,4}}?{OCCUPATION})(?![\w'-])"
_IS_A = anchored(rf"(?:be|have been) an? {_JOB}")
_UNTIL = r"(?= (?:at|in|by|for|with|on|this|last|since|yesterday|today|as)\b|,|$)"
_HOLDS_TITLE = anchored(
    rf"(?:be|have been) (?:an? "
    rf"|the )?(?P<value>(?:[\w'/&+-]+ ){{0,4}}?(?i:{table.TITLE})(?: of (?:the )?[\w'&-]+(?: [\w'&-]+){{0,2}})?)"
    r"(?= (?:at|in|for|with|on|since|as|of)\b|,|$)"
)
_WORKS_AS = anchored(
    rf"{table.WORKS_AS} (?:an? |the )?(?P<value>(?:[\w'/&+-]+ ){{0,4}}?[\w'/&+-]+)(?= (?:at|in|for|with|on)\b|,|$)"
)
_BECAME = anchored(
    rf"{table.BECAME} (?:an? "
    rf"|the )?(?P<value>(?:[\w'/&+-]+ ){{0,4}}?(?i:{table.TITLE})(?: of [\w'&-]+(?: [\w'&-]+){{0,2}})?)(?![\w'-])"
)
_BEGAN_AS = anchored(
    rf"{table.BEGAN_AS} (?:an? |the |my |their )?(?P<value>[\w'/&+-]++(?: [\w'/&+-]++){{0,5}}?(?: in (?:chief|charge))?+){_UNTIL}"
)
_PROMOTED = anchored(
    rf"{table.PROMOTED} (?:an? |the )?(?P<value>[\w'/&+-]++(?: [\w'/&+-]++){{0,5}}?(?: in (?:chief|charge))?+){_UNTIL}"
)
_MADE = anchored(rf"{table.MADE} (?:an? |the )?(?P<value>(?:[\w'/&+-]+ ){{0,4}}?(?i:{table.TITLE}))(?![\w'-])")
_GOT_JOB = anchored(table.GOT_JOB)
_MADE_RANK = anchored(f"(?i:{table.MADE_RANK})")
_ENTERED_FIELD = anchored(f"(?i:{table.ENTERED_FIELD})")
_LEFT_FIELD = anchored(f"(?i:{table.LEFT_FIELD})")
_STOPPED_BEING = anchored(
    rf"{table.STOPPED_BEING}(?P<value>(?:[\w'/&+-]+ ){{0,4}}?(?i:{table.TITLE})(?: of [\w'&-]+)?)(?![\w'-])"
)
_FOR_A_LIVING = anchored(table.FOR_A_LIVING)
_CLUB = linear(
    r"\bin (?:a|an|the|our|my|their) (?:[\w'-]+ ){0,2}?(?:play|film|movie|show|musical|series|game|panto)\b"
    r"|\bcaptain of .{0,40}team\b|\bof (?:my|our|their|the|a) (?:[\w'-]+ ){0,3}?(?:club|choir|band|league|squad|parish|scouts"
    r"|society|guild)\b"
)
_GRADUATED = anchored(r"(?:have )?graduated\b")


def employer(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    """The employer that a predicate's key states, or that it says has ended."""
    if out := _OUT_OF_WORK.match(key):
        return () if said.negated else (ended("employer", value_words(out["value"] or "")),)
    if exchanged := _FORMER_AND_NEW.match(key):
        return () if said.negated else _exchanged(exchanged.groupdict())
    joined = _JOINED.match(key) or _STARTED_SOMEWHERE.match(key)
    if joined:
        words = value_words(joined["value"])
        rest = {*words, *value_words(key[joined.end() :])[:2]}
        if said.negated or not rest.isdisjoint(single_values.NO_EMPLOYMENT) or _TEAM.match(key, joined.end()):
            return ()
        if not single_values.NO_EMPLOYER.isdisjoint(words):
            return ()
        dated = bool(LONG_AGO.search(key, joined.end()))
        return (Stated(family="employer", subject="employer", words=words, marked=True, dated=dated),)
    if (
        not said.negated
        and _SELF_EMPLOYED.match(key)
        and (marked or not key.startswith(("be ", "work ", "run ", "freelance")))
    ):
        return (Stated(family="employer", subject="employer", words=("self-employed",), marked=True, exact=False),)
    return _works(key, said, marked=marked)


def _works(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    engaged = _ENGAGED.match(key)
    if engaged and not said.negated:
        since = bool(SINCE.match(key, engaged.end()) or (marked and _DURATION.match(key, engaged.end())))
        is_new = since or (marked and bool(_NOTHING_MORE.match(key, engaged.end())))
        words = value_words(engaged["value"])
        if (
            not is_new
            or not single_values.NO_EMPLOYMENT.isdisjoint(words)
            or words[0] in GIVEN_NAMES
            or words[0] in table.VENUES
        ):
            return ()
        return (Stated(family="employer", subject="employer", words=words, marked=True),)
    named = _WORKS.match(key)
    works = named or _WORKS_SOMEWHERE.match(key)
    if works is None or _TEAM.match(key, works.end()) or _is_partly(key, works.end(), said):
        return ()
    words = value_words(works["value"])
    if not words or words[0] in single_values.NO_EMPLOYMENT:
        return ()
    exact = named is not None
    return (
        Stated(
            family="employer", subject="employer", words=words, positive=not said.negated, marked=marked, exact=exact
        ),
    )


def _exchanged(found: dict[str, str | None]) -> tuple[Stated, ...]:
    """ "left Rome for Oslo", "switched from Acme to Globex": a home or an employer, whichever of them is known."""
    former = value_words(found["former"] or found["former_first"] or "")
    words = value_words(found["value"] or found["value_second"] or "")
    return (
        Stated(family="employer", subject="employer", words=words, marked=True, former=former),
        Stated(family="home", subject="home", words=words, marked=True, former=former),
    )


def _is_partly(key: str, end: int, said: Predicate) -> bool:
    """Whether the value holds at times only: "works at Acme on Fridays". A denial of more than the value denies little."""
    return bool(_PARTLY.match(key, end)) or (said.negated and end < len(key) and not SINCE.match(key, end))


def left(key: str, said: Predicate) -> tuple[Stated, ...]:
    """ "left Acme", "is not with Acme any more": an employer, a home or a partner, whichever of them is known."""
    gone = _LEFT.match(key)
    is_over = "longer" in said.adverbs or key != said.key
    if gone and not said.negated and (key.startswith("had ") or not _NO_LEAVING.match(key, gone.end())):
        words = value_words(gone["value"])
        return (ended("employer", words), ended("home", words))
    if (firm := _LEFT_FIRM.match(key) or _STOPPED_WORK.match(key)) and not said.negated:
        return (ended("employer", value_words(firm["value"])),)
    if (apart := _APART.match(key)) and said.negated and is_over:
        words = value_words(apart["value"])
        partner = Stated(family="relationship", subject="relationship", words=words, positive=False)
        return (ended("employer", words), ended("home", words), partner)
    return ()


def role(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    """The job that a predicate's key states, and its employer if it is named: "is a nurse at Acme"."""
    if not said.negated and (over := _ended_role(key)):
        return over
    rank = _MADE_RANK.match(key) or _ENTERED_FIELD.match(key)
    new = _PROMOTED.match(key) or _BECAME.match(key) or _MADE.match(key) or _GOT_JOB.match(key) or rank
    began, works = _BEGAN_AS.match(key), _WORKS_AS.match(key)
    titled = _HOLDS_TITLE.match(key) if marked else None
    found = new or began or works or _IS_A.match(key) or titled or (_FOR_A_LIVING.match(key) if marked else None)
    if found is None:
        return ()
    words = value_words(found["value"])
    is_new = marked or bool(new or began)
    if (new or titled or began) and _CLUB.search(key):
        return ()
    if not words or not (works or rank or key.endswith(" for a living") or _is_job(words, is_new=is_new)):
        return ()
    stated = Stated(
        family="role",
        subject="role",
        words=words,
        positive=not said.negated,
        marked=is_new or bool(works and "currently" in said.adverbs),
        exact=works is not None,
        dated=bool(LONG_AGO.search(key, found.end())),
    )
    at = _EMPLOYER.match(key, found.end())
    if at is None or said.negated:
        return (stated,)
    words = value_words(at["value"])
    return (stated, Stated(family="employer", subject="employer", words=words, marked=stated.marked))


def _is_job(words: tuple[str, ...], *, is_new: bool) -> bool:
    """Whether "is a …" names a job. Some are mostly jobs if somebody just became one, and else may be a hobby."""
    if words[-1] in table.OFTEN_JOBS:
        return is_new or words[0] not in table.PRAISE
    return words[-1] not in single_values.MAYBE_NO_JOB and words[-1] not in table.NO_TITLES


def _ended_role(key: str) -> tuple[Stated, ...]:
    if _GRADUATED.match(key):
        return () if LONG_AGO.search(key) else (ended("role", ("student",)),)
    over = _STOPPED_BEING.match(key) or _LEFT_FIELD.match(key)
    return (ended("role", value_words(over["value"])),) if over else ()
