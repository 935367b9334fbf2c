"""Names at the start of a sentence: every word there is capitalised, so the verb after it must show that it is a name.

Only a few verbs are known; a name before another verb is found where it occurs inside a sentence, or not at all.
"""

from cloister.domain.extraction import EntityType
from cloister.domain.patterns import IGNORECASE, Anchored, anchored
from cloister.models.rules.tables.notation import words
from cloister.models.rules.tables.words import OCCUPATION, PEOPLE, PET, RELATION

_NO_SUBJECT = words(
    "all another any anybody anyone anything both each either every everybody everyone everything few here her his how if its "
    "many more most much neither nobody none nothing now one other others our several since some somebody someone something "
    "such than their them then there these those today tomorrow tonight us what when where whether which while who whoever "
    "whose why yesterday yet your people folks guys man woman boy girl dude bro work life business home school everyday always "
    "never also maybe perhaps sometimes usually recently currently actually finally luckily apparently according after before "
    "because although though unlike like as at by for from in into of on or over to under until up with without not only even "
    "still once last next dear good great nice first second please well yeah sure right sorry new old is are was were be been "
    "do does did has have had can could will would should may might must hope hopefully bet glad think thought wish guess heard "
    "saw knew lately dinner lunch breakfast management sales marketing team"
)
# "High School", "Car Park": a kind of thing, not a name.
_KINDS = words(
    "high primary secondary middle elementary grammar grade graduate grad law medical med business art music drama driving night "
    "summer boarding nursery public private state community local food blood theme amusement car job"
)
# "Project Management" is no project.
_PARTS_OF_PROJECTS = words(
    "management manager managers planning planner plan plans work deadlines lead leads team teams"
)
_NO_PERSON = anchored(rf"(?:{RELATION}|{PET}|{OCCUPATION}|{PEOPLE})s?", IGNORECASE)
_ADVERB = r"(?:(?:also|now|currently|still|just|recently|already|has|had) ){0,2}"
_A_NAME = r"(?:(?:a|an|the|our|my) )?[A-ZÀ-ÖØ-Þ]"
_NO_PRAISE = r"(?!(?:best|better|greatest|great|good|real|true|natural|harsh|wonderful|big|huge|only) )"
_SUBJECTS: tuple[tuple[EntityType, Anchored], ...] = (
    ("project", anchored(r" (?:is|was) (?:a|our|my|the) (?:\w+ )?project\b")),
    ("other", anchored(rf" (?:is|was) (?:a|our|my|the) (?:\w+ )?{PET}\b")),
    (
        "person",
        anchored(
            rf" {_ADVERB}(?:works|worked) (?:at|as|on|with|for) {_A_NAME}| {_ADVERB}(?:works|worked) as\b"
            rf"| {_ADVERB}(?:lives|lived|grew up|studies|studied|teaches|taught) (?:in|at|near|with) {_A_NAME}"
            rf"| {_ADVERB}(?:leads|led|manages|managed|joined|founded|teaches|taught|married) {_A_NAME}"
            rf"| {_ADVERB}(?:drives|owns|rides) (?:a|an|his|her) | {_ADVERB}(?:plays|played) for {_A_NAME}"
            rf"| {_ADVERB}(?:moved|travelled|traveled|flew|flies|reports) to {_A_NAME}"
            rf"| (?:is|was) (?:a|an|my|our|the) {_NO_PRAISE}(?:\w+ )?(?:CEO|CTO|CFO|COO|{OCCUPATION}|{RELATION}|{PEOPLE})\b(?!')"
            rf"| {_ADVERB}(?:got married|was born)\b"
        ),
    ),
    ("organisation", anchored(rf" {_ADVERB}(?:acquired|hired|employs|laid off) ")),
    ("place", anchored(r" (?:is|was) (?:a|the) (?:\w+ )?(?:city|town|village|country|capital|island)\b")),
)

# Also said of things: "Music is my friend".
_METAPHOR = anchored(
    r" (?:is|was) (?:(?:my|our) (?:friend|teacher|doctor|tutor|therapist)|a friend(?! (?:of|from) ))\b"
)
_SEVERAL_WORDS = anchored(r"[A-ZÀ-ÖØ-Þ][\w'-]+(?: [A-ZÀ-ÖØ-Þ][\w-]+){1,3}")
_DID = anchored(r" (?:[a-z]{2,}ed|met|bought|sold|went|came|took|gave|won|wrote|made|began|left|built) ")


def subject_type(name: str, own: EntityType | None, after: str) -> EntityType | None:
    """The type of a name at the start of a sentence, from its own words or those after it; none if it may be no name."""
    first, *others = name.split(" ")
    if own is not None:
        return None if _is_a_kind(first.casefold(), others) else own
    if first.casefold() in _NO_SUBJECT or first.endswith("ing") or _NO_PERSON.fullmatch(first):
        return None
    if not others and _METAPHOR.match(after):
        return None
    for typed, cue in _SUBJECTS:
        if cue.match(after):
            return typed
    return "other" if _SEVERAL_WORDS.fullmatch(name) and _DID.match(after) else None


def _is_a_kind(first: str, others: list[str]) -> bool:
    """Whether the words are a kind of thing. With three words or more almost any first word makes a name: "New York University"."""
    if first == "project":
        return others[0].casefold() in _PARTS_OF_PROJECTS
    return first in _KINDS or (first in _NO_SUBJECT and len(others) == 1)
