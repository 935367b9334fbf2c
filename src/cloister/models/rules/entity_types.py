"""The type of a name: from the words around it, else from what is commonly known by that name; none if neither tells.

A book, film, song or game is a product, as a device or a car is. A pet is `other`, whatever its name.
"""

from cloister.domain.extraction import EntityType
from cloister.domain.patterns import IGNORECASE, Anchored, Pattern, anchored, linear
from cloister.models.rules.tables import names
from cloister.models.rules.tables.notation import words
from cloister.models.rules.tables.words import PET

_WORK = (
    r"(?:book|novel|trilogy|saga|movie|film|musical|play|show|series|sitcom|documentary|song|album|track|single|playlist"
    r"|podcast|game"
    r"|video game|board game|rpg|shooter|app|website|tool|magazine|comic|manga|anime|poem|script|screenplay)s?"
)
_CREATOR = (
    r"(?:author|writer|novelist|poet|singer|songwriter|rapper|musician|composer|pianist|guitarist|artist|painter|actor|actress"
    r"|director|player|athlete|footballer|comedian|president|scientist|character|hero|heroine)s?"
)
_CALLED = r"(?: is| are| was| were)?,?(?: called| named| titled| entitled| like| such as| is| was)?"
_TITLE_BEFORE = linear(
    rf"\b{_WORK}{_CALLED}[,:]? $"
    r"|\b(?:read|reads|reading|reread|rereading|re-reading|watch|watched|watching|rewatched|rewatching|play|played|playing"
    r"|replaying"
    r"|finish|finished|listen to|listened to|listening to|love|loved|like|liked|enjoy|enjoyed|recommend|recommended|into) $"
    r"|\b(?:favou?rites?|ones|one|it)(?: is| are| was| were)(?: called)? $",
    IGNORECASE,
)
_TITLE_AFTER = anchored(
    r" by [A-Z]| (?:is|was) (?:a|an|such a|one of|worth|great|amazing|good|my favou?rite)\b", IGNORECASE
)
_GROUP_BEFORE = linear(
    r"\b(?:group|club|team|organi[sz]ation|charity|company|band|choir|society|association|foundation|startup)(?: is| was)?,?"
    r"(?: called| named)? $",
    IGNORECASE,
)
_SAYING_BEFORE = linear(
    r"\b(?:says?|said|saying|told|reads? that|words?|phrase|motto|quote|sign|term|concept|topic|idea)[,:]? $",
    IGNORECASE,
)
_BEFORE: tuple[tuple[EntityType, Pattern[str]], ...] = (
    (
        "person",
        linear(
            rf"\b{_CREATOR}{_CALLED} $|\b(?:\u201d|book|novel|series|song|album|film|movie|poem|quote) by $", IGNORECASE
        ),
    ),
    (
        "product",
        linear(
            rf"\b{_WORK}{_CALLED} (?:the )?$"
            r"|\b(?:play|plays|played|playing) (?:some |the )?$|\b(?:watched|watching|reading|rereading) The $"
            r"|\b(?:my|our|his|her|a|an|the|that|this) (?:brand[- ])?(?:new|old|vintage|used|second-hand) $",
            IGNORECASE,
        ),
    ),
    ("place", linear(r"\b(?:city|town|village|island|state|country|capital|province|region) of $", IGNORECASE)),
)
_AFTER: tuple[tuple[EntityType, Anchored], ...] = (
    ("person", anchored(rf" (?:is|was) (?:such )?(?:a|an|my|the) (?:[\w'-]+ ){{0,2}}{_CREATOR}\b", IGNORECASE)),
    (
        "product",
        anchored(r" (?:[a-z-]+ ){0,1}(?:guitar|amp|console|controller|app|album|movies?|films?|books?|novels?)\b"),
    ),
)
_PET_BEFORE = linear(
    rf"\b{PET}(?:'s name is| is)?,?(?: called| named)? $|\bnamed (?:him|her|it|them) $"
    r"|\bfurry (?:friend|companion|baby)s? $|\b(?:adopted|rescued|groomed) $",
    IGNORECASE,
)
_PET_AFTER = anchored(rf",? (?:is |was )?(?:my|our|the|a|an|his|her|their)(?: [\w'-]+){{0,3}} {PET}\b(?!')", IGNORECASE)
_POSSESSED = linear(r"\b(?:my|our|his|her|a|an|your) $", IGNORECASE)
_NUMBERED = anchored(r"[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,3} (?:\d|\d{3}0|20\d\d)")
_NO_PRODUCT = words(
    "room chapter day level week part section highway route step phase grade year class form gate terminal platform flight bus "
    "line apollo formula euro covid article page version number unit building floor season episode act scene psalm book world "
    "group team district zone area track stage round game match lesson module option plan type category january february march "
    "april may june july august september october november december spring summer autumn fall winter q"
)
_SMALL = words("a an the and or of in on at to for from by with as is")
_NO_PERSON = words("russell russells poppins")


def is_pet(before: str, after: str) -> bool:
    """Whether the words around a name say that it is an animal's."""
    return bool(_PET_BEFORE.search(before) or _PET_AFTER.match(after))


def title_type(title: str, before: str, after: str) -> EntityType | None:
    """The type of a name in quotation marks: a work, or a group that calls itself so; none for a saying."""
    if _GROUP_BEFORE.search(before):
        return "organisation"
    if _SAYING_BEFORE.search(before):
        return None
    if _TITLE_BEFORE.search(before) or _TITLE_AFTER.match(after):
        return "product"
    parts = title.split()
    is_capitalised = all(part[0].isupper() or part in _SMALL for part in parts)
    return "product" if len(parts) > 1 and is_capitalised else None


def context_type(name: str, before: str, after: str) -> EntityType | None:
    """The type that the words around a name tell. An acronym is too often a kind of thing: "a new RPG"."""
    if name.removesuffix("s").isupper():
        return None
    if name.casefold() in names.BRANDS_OF_THINGS and _POSSESSED.search(before):
        return "product"
    for typed, cue in _BEFORE:
        if cue.search(before):
            return typed
    for typed, cue in _AFTER:
        if cue.match(after):
            return typed
    return None


def known_type(name: str) -> EntityType | None:
    """The type of what is commonly known by a name."""
    folded = name.casefold()
    first, *rest = folded.split(" ")
    if folded in names.LOCATIONS or (first == "the" and " ".join(rest) in names.LOCATIONS):
        return "place"
    if folded in names.PRODUCTS or (rest and first in names.BRANDS_OF_THINGS):
        return "product"
    if folded in names.ORGANISATIONS:
        return "organisation"
    if folded in names.PEOPLE or (first in names.GIVEN_NAMES and len(rest) <= 2 and not _NO_PERSON.intersection(rest)):
        return "person"
    return "product" if _NUMBERED.fullmatch(name) and first not in _NO_PRODUCT else None
