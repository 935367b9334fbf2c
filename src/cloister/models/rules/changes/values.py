"""The value that a memory states, of a fact that has one value at a time: "The user lives in Oslo." → home, Oslo (MEM-12).

It is read from the memory's text in the third person, so that new memories and known ones are read alike.
"""

from dataclasses import replace

from cloister.domain.patterns import IGNORECASE, Anchored, anchored, linear
from cloister.models.rules.categories import Category
from cloister.models.rules.changes import homes, jobs, personal
from cloister.models.rules.changes.habits import exchanges, keeps_subject, likings_and_habits
from cloister.models.rules.changes.stated import Family, Stated, ended, subject_key, value_words
from cloister.models.rules.changes.times import LONG_AGO, NOT_YET, SINCE, without_endings
from cloister.models.rules.facts import Speaker
from cloister.models.rules.grammar import Predicate, predicate
from cloister.models.rules.tables import single_values as table
from cloister.models.rules.tables.notation import words
from cloister.models.rules.tables.words import NAMES, OCCUPATION, RELATION

_LONGEST = 240
_QUOTED = " (“"
"""What follows are the words from which a memory was concluded."""
_MODIFIERS = r"(?P<modifiers>(?:(?:current|new|main|present|own|all-time|absolute|official) )*)"
_ATTRIBUTE = anchored(
    rf"{_MODIFIERS}(?P<name>[\w' -]{{2,60}}?) (?P<verb>is|are|(?:has )?changed to|has become|became)(?: called| named)?"
    r"(?P<now> now)? (?P<value>.+)$",
    IGNORECASE,
)
_ATTRIBUTES: tuple[tuple[str, Anchored], ...] = (
    ("last name", anchored(r"(?:last name|surname|family name|married name)$")),
    ("name", anchored(r"(?:(?:full|real|legal|given) )?name$")),
    ("first name", anchored(r"(?:first|preferred) name$")),
    ("role", anchored(r"(?:(?:job )?title|profession|occupation|role|position|job|gig)$")),
    ("email", anchored(r"e-?mail(?: address)?$")),
    ("relationship", anchored(r"(?:relationship|marital) status$")),
    ("favourite", anchored(r"favou?rite (?!.*s$)[\w -]+$|favou?rite \w+(?:us|ss)$")),
    ("employer", anchored(r"(?:employer|workplace)$")),
    ("home", anchored(r"(?:home|place|flat|apartment|house)$")),
    (
        "",
        anchored(
            r"(?:employer|company|business|boss|manager|address|age|diet|pronouns|major|phone number|time ?zone|nickname"
            r"|office|school|university|college|team|landlord|boyfriend|girlfriend|fiancé|fiancée|partner|car)$"
        ),
    ),
)
_PARTNERS_NAME = linear(r"^(boyfriend|girlfriend|fiancé|fiancée|partner)'s name$")
_FAVOURITE = anchored(
    r"(?P<value>.{2,50}?) (?:is|are) (?P<whose>.{2,80}'s) (?P<modifiers>(?:new )?)(?P<name>favou?rite [\w -]{2,40})$"
)
_UNNAMED = frozenset({"address", "pronouns", "email", "phone number", "time zone", "timezone", "major", "car"})
"""Attributes whose values need not be names."""
_IN = anchored(r"(?:(?:here|over|down|up|out) )?in ")
_AT = anchored(r"(?:at|with) ")
_A_JOB = anchored(rf"(?:an? )?(?:[\w'/&+-]+ ){{0,4}}?{OCCUPATION}(?![\w'-])")
_DRIVES = anchored(r"drive an? (?P<value>(?:[\w-]+ ){0,3}[\w-]+)$")
_CORRECTION = linear(r", not .{1,60}$")
_TOGETHER = anchored(rf"and (?:their (?:{RELATION})|(?P<value>{NAMES})) (?=\S)")

_BIRTHDAY = anchored(r"(?P<age>\d{1,3})(?:st|nd|rd|th) birthday (?:is|was) (?!next|in|on|coming|tomorrow)")
_DAY_AT_WORK = anchored(
    rf"(?P<which>first|last) (?:day|week|shift) (?:(?:at|with|in|as|living in) )?(?P<value>{table.NAME})?.{{0,60}} (?:is|was)\b"
)
_CONTRACT = anchored(
    rf"(?:position|job|role) at (?P<cut>{table.NAME}) was cut$|contract (?:with|at) (?P<value>{table.NAME}) (?:ended|ran out"
    rf"|expired|is over|was (?:not renewed|terminated))\b"
)
_OVER = anchored(
    r"(?P<what>divorce|marriage|relationship|engagement|wedding) (?:with [\w ]{1,40}? )?(?:(?:is|was|has been|got|came|went"
    r"|has come|has gone|has) )?"
    r"(?:now |finally |officially )?(?P<how>final|finali[sz]ed|through|over|off|ended|called off|official|complete|broken off"
    r"|cancelled"
    r"|canceled|fell apart)\b",
    IGNORECASE,
)
_PARTNER_DID = anchored(
    r"(?:wife|husband|girlfriend|boyfriend|partner|fiancé|fiancée|fiance|fiancee|spouse)(?: [A-ZÀ-Þ][\w'-]+)? (?:has |have |just )*"
    r"(?:(?P<died>passed away|died)|(?P<left>left|dumped|divorced|walked out on|broke up with|split up with|split from"
    r"|ended things with"
    r"|broke off with) (?P<whom>.{1,90}))"
)
_LATER = anchored(
    r"$|,| (?:last|this|in|on|yesterday|today|for good|for (?:someone|somebody|another)|recently|now|after|two|a|\w+ \w+ ago)\b"
)
_CATEGORIES: dict[Family, Category] = {
    "home": "place",
    "employer": "work",
    "role": "work",
    "relationship": "family",
    "age": "self",
    "diet": "health",
    "attribute": "name",
}
"""Of the families whose values are worth remembering however they are said."""
_BEGINNINGS = words(
    "be have was got moved relocated resettled emigrated immigrated migrated transferred decamped made ended wound settled picked "
    "collected had bought rented took taken found built rent call became become left quit resigned stopped walked parted retired "
    "started begun began joined signed jumped went gone came accepted landed scored secured won switched changed swapped traded "
    "exchanged dropped ditched gave defected founded launched opened set contract consult teach lecture freelance turned hit"
    " reached "
    "turn celebrated marked stepped stood pivoted transitioned finalised finalized called broke split dumped "
    "start rent closed purchased returned run care mind drive cancelled canceled replaced eliminated managed live work"
    " retrained qualified celebrated"
    " marked divorced remarried married tied eloped lost cut kicked swore fell grew learned came signed headed"
)
"""The first words of keys that the patterns of values can match."""
_IDIOMS = linear(
    r"\bcalled it (?:off|quits)\b|\b(?:broke|broken|ended|cut) it(?: off)?\b|\b(?:live|moved|living) there\b|\bthis (?:morning"
    r"|afternoon|evening|past \w+)\b"
)
_NAMES = frozenset({"name", "last name", "first name", "called", "nickname"})


def stated_values(content: str, speaker: Speaker) -> tuple[Stated, ...]:
    """What the memory may state of this speaker, the likeliest first; nothing if it is about somebody else."""
    text = content.partition(_QUOTED)[0].strip().removesuffix(".")
    if len(text) > _LONGEST:
        return ()
    if text.startswith(f"{speaker.whose} "):
        rest = text[len(speaker.whose) + 1 :]
        return _of_event(rest, speaker) or _of_attribute(rest)
    if text.startswith(f"{speaker.subject} "):
        rest = text[len(speaker.subject) + 1 :]
        if together := _TOGETHER.match(rest):
            said = predicate(rest[together.end() :], "they")
            return _of_both(said, value_words(together["value"] or "")) if said else ()
        said = predicate(rest, "he")
        return of_predicate(said) if said else ()
    favourite = _FAVOURITE.match(without_endings(text)[0])
    if favourite and favourite["whose"] == f"{speaker.inside}'s":
        return _attribute_value(favourite["name"], favourite["value"], marked=False)
    return ()


def _of_both(said: Predicate, partner: tuple[str, ...]) -> tuple[Stated, ...]:
    """What the speaker and somebody else did: where they live, and whether they are together."""
    key, marked = without_endings(said.key)
    together = personal.relationship(key, said)
    if together:
        return tuple(replace(stated, words=(*stated.words[:1], *partner)) for stated in together)
    return () if NOT_YET.search(said.key) else homes.home(key, said, marked=_is_marked(key, said, marked=marked))


def of_predicate(said: Predicate) -> tuple[Stated, ...]:
    """What a predicate of which the speaker is the subject states."""
    if NOT_YET.search(said.key):
        return ()
    if said.key.startswith("used to "):
        before = predicate(said.key.removeprefix("used to "), "I")
        return of_predicate(replace(before, negated=True)) if before and not before.negated else ()
    key, marked = without_endings(said.key)
    marked = _is_marked(key, said, marked=marked)
    if not said.negated and (former := exchanges(key)):
        return (
            *(
                homes.home(key, said, marked=marked)
                or jobs.employer(key, said, marked=marked)
                or jobs.role(key, said, marked=marked)
            ),
            *former,
        )
    if (car := _DRIVES.match(key)) and not said.negated:
        return (Stated(family="attribute", subject="car", words=value_words(car["value"]), marked=marked),)
    return (
        homes.home(key, said, marked=marked)
        or jobs.employer(key, said, marked=marked)
        or jobs.left(key, said)
        or personal.relationship(key, said, marked=marked)
        or personal.with_partner(key, said, marked=marked)
        or personal.age(key, said, marked=marked)
        or personal.name(key, said, marked=marked)
        or personal.diet(key, said, marked=marked)
        or jobs.role(key, said, marked=marked)
        or likings_and_habits(key, said, marked=marked)
    )


def _is_marked(key: str, said: Predicate, *, marked: bool) -> bool:
    return marked or not {"now", "recently", "longer", "officially"}.isdisjoint(said.adverbs) or bool(SINCE.search(key))


def has_one_value(content: str, speaker: Speaker) -> bool:
    """Whether the memory states a fact with one value at a time, so that "now" at its end means a change, and not the moment."""
    return any(one.family != "habit" or keeps_subject(one) for one in stated_values(content, speaker))


def says_ended(content: str, speaker: Speaker) -> bool:
    """Whether the memory says that a home or a job ended, so that what follows in the sentence took its place."""
    return any(
        not one.positive and one.family in ("home", "employer", "role", "relationship")
        for one in stated_values(content, speaker)
    )


def category_of_value(said: Predicate, *, of_both: bool = False) -> Category | None:
    """The category of a predicate that states a fact with one value at a time, in words that no table of predicates has.
    `of_both`: "we" are the subject, so that it is one of a household or a couple."""
    if said.key.split(" ", 1)[0] not in _BEGINNINGS:
        return None
    for stated in of_predicate(said):
        if of_both and stated.family not in ("home", "relationship", "age"):
            continue
        if said.key.startswith(("live ", "work ")) and not stated.marked:
            return None
        if stated.family == "attribute" and stated.subject == "car":
            return "possession" if stated.marked else None
        if stated.family == "attribute" and stated.subject not in _NAMES:
            return None
        if category := _CATEGORIES.get(stated.family):
            return "change" if stated.marked or not stated.positive else category
        if stated.family == "attribute" or said.key.startswith(("stopped ", "have stopped ")):
            return None
        ends = said.key.endswith((" anymore", " any more", " any longer"))
        if (stated.marked and (stated.family == "liking" or not stated.positive)) or ends:
            return "change"
    return None


def without_idioms(key: str) -> str:
    """The key without the pronouns that need no antecedent: "called it quits", "bought a flat in Rome and live there"."""
    return _IDIOMS.sub("", key)


def _of_event(text: str, speaker: Speaker) -> tuple[Stated, ...]:
    """An event of the speaker's that changes a fact: "Ana's divorce is final", "Ana's wife left Ana"."""
    if birthday := _BIRTHDAY.match(text):
        return (Stated(family="age", subject="age", words=(birthday["age"],)),)
    if over := _OVER.match(text):
        return _event_of_a_couple(over["what"].lower(), over["how"].lower())
    if did := _PARTNER_DID.match(text):
        return _done_by_partner(did["died"], did["whom"], text, speaker)
    if (day := _DAY_AT_WORK.match(text)) and not NOT_YET.search(text):
        words = value_words(day["value"] or "")
        if day["which"] == "last":
            return (ended("employer", words),)
        return (Stated(family="employer", subject="employer", words=words, marked=True),) if words else ()
    if contract := _CONTRACT.match(text):
        return (ended("employer", value_words(contract["value"] or contract["cut"])),)
    return ()


def _event_of_a_couple(what: str, how: str) -> tuple[Stated, ...]:
    if what == "divorce":
        status = "divorced" if how in ("final", "finalised", "finalized", "through", "official", "complete") else ""
    else:
        status = (
            "broken up" if how not in ("final", "finalised", "finalized", "through", "official", "complete") else ""
        )
        status = "" if what == "wedding" and how in ("over", "ended") else status
    return (Stated(family="relationship", subject="relationship", words=(status,)),) if status else ()


def _done_by_partner(died: str | None, whom: str | None, text: str, speaker: Speaker) -> tuple[Stated, ...]:
    dated = bool(LONG_AGO.search(text))
    if died:
        return (Stated(family="relationship", subject="relationship", words=("widowed",), dated=dated),)
    partner = text.split(" ")[1] if text.split(" ")[1][:1].isupper() else ""
    if whom is None or not whom.startswith(speaker.inside) or not _LATER.match(whom, len(speaker.inside)):
        return ()
    status = "divorced" if " divorced " in text else "broken up"
    return (Stated(family="relationship", subject="relationship", words=(status, *value_words(partner)), dated=dated),)


def _of_attribute(text: str) -> tuple[Stated, ...]:
    found = _ATTRIBUTE.match(text)
    if found is None:
        return ()
    marked = (
        "new" in found["modifiers"].lower().split() or bool(found["now"]) or found["verb"].lower() not in ("is", "are")
    )
    return _attribute_value(found["name"], found["value"], marked=marked)


def _attribute_value(name: str, value: str, *, marked: bool) -> tuple[Stated, ...]:
    attribute = _PARTNERS_NAME.sub(r"\1", name.casefold())
    subject = next((subject or attribute for subject, pattern in _ATTRIBUTES if pattern.match(attribute)), None)
    if subject is None:
        return ()
    if at := _AT.match(value):
        subject, value = (
            ("employer", value[at.end() :]) if attribute in ("job", "gig", "role", "position") else (subject, value)
        )
    elif attribute == "job" and not _A_JOB.match(value):
        return ()
    corrected = _CORRECTION.sub("", value)
    marked, value = marked or corrected != value, corrected
    inside = _IN.match(value)
    value = value[inside.end() :] if inside else value
    is_named = value[:1].isupper()
    value, changed = without_endings(value)
    marked = marked or changed
    words = value_words(value)
    if not words:
        return ()
    match subject:
        case "age":
            return (Stated(family="age", subject="age", words=words[:1]),) if words[0].isdecimal() else ()
        case "favourite":
            subject = attribute.replace("favorite", "favourite", 1)
            return (Stated(family="attribute", subject=subject_key(subject), words=words),)
        case "home":
            is_home = is_named and (attribute == "home" or (marked and inside))
            return (Stated(family="home", subject="home", words=words, marked=marked),) if is_home else ()
        case "employer":
            return (Stated(family="employer", subject="employer", words=words, marked=marked),) if is_named else ()
        case "role":
            return (Stated(family="role", subject="role", words=words, marked=marked),)
        case "company" if marked and is_named:
            company = Stated(family="attribute", subject=subject, words=words, marked=True)
            return (company, Stated(family="employer", subject="employer", words=words, marked=True))
        case "relationship":
            known = words[0] in table.ENDED_BY
            return (Stated(family="relationship", subject="relationship", words=words[:1]),) if known else ()
        case "diet":
            return (Stated(family="diet", subject="diet", words=words[:1]),)
        case "name":
            return personal.full_name(value, marked=marked) if is_named else ()
        case "address" if inside and marked and is_named:
            return (Stated(family="home", subject="home", words=words, marked=True),)
        case _:
            stated = Stated(family="attribute", subject=subject, words=words, marked=marked)
            return (stated,) if is_named or subject in _UNNAMED else ()
