"""Entities in what users say: capitalised words inside a sentence, with a type from the words around them.

At the start of a sentence every word is capitalised: a name there counts only if the words after it tell its type, or if it also
occurs inside a sentence. Languages, nationalities, days and months are no entities.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cloister.domain.extraction import EntityType, ExtractedEntity, ExtractedRelation, Statement
from cloister.domain.identifiers import MessageId
from cloister.domain.patterns import IGNORECASE, Anchored, Pattern, anchored, linear
from cloister.models.rules import refusals
from cloister.models.rules.entity_types import context_type, is_pet, known_type, title_type
from cloister.models.rules.facts import speaker_named
from cloister.models.rules.memories import facts
from cloister.models.rules.relations import Named, relations
from cloister.models.rules.sentences import Sentence, segments, sentences, shortened
from cloister.models.rules.subjects import subject_type
from cloister.models.rules.tables.notation import words
from cloister.models.rules.tables.words import LANGUAGE, PEOPLE, RELATION

_LONGEST_NOTE = 160
_LONGEST_SENTENCE = 1_000
_MOST_NOTES = 3
_FEWEST_WORDS = 4
_LONGEST_TITLE = 6
_CUE_REACH = 60

_CAPITALISED = r"[A-ZÀ-ÖØ-Þ][\w'&-]*(?:\.(?=\w)[\w'-]+)*"
_NAME = linear(
    rf"\b{_CAPITALISED}(?:(?: (?:of|de|da|do|di|van|von|der|den|la|le|du|of the|&))?(?: {_CAPITALISED}| \d{{1,4}}\b)){{0,5}}"
)
_TITLE = linear(r"\u201c([^\u201c\u201d]{2,60})\u201d")
_NO_NAME = words(
    "i i'm i've i'll i'd monday tuesday wednesday thursday friday saturday sunday january february march april may june july "
    "august september october november december mom mum dad mommy mama papa grandma grandpa god lord internet tv ok okay mr "
    "mrs ms dr prof hi hey hello thanks yes no oh wow lol omg ps fyi btw the a an and but so my we he she it they you this "
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays "
    "mon tue tues wed thu thur thurs fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec "
    "that just earth web wifi wi-fi dm faq ceo cto phd ai it's that's what's there's let's aw aww woohoo yay haha congrats"
)
_NAMED_AFTER_ALL = anchored(r"(?:Lord|God|March) of (?:the )?[A-Z]")
_SMALL_WORDS = words(
    "a an the and or nor but so yet of in on at to for from by with as into onto over under up off out about vs via per"
)
_NEVER_A_NAME = _NO_NAME | _SMALL_WORDS
_DEMONYM = anchored(
    rf"(?:{LANGUAGE}|[A-Z][a-z]+(?:ese|ish|ian|ean)|American|Mexican|African|Asian|European|Greek|Swiss|Dutch)s?$"
)
_HOLIDAY = anchored(r"(?:Christmas|Easter|Thanksgiving|Halloween|Hanukkah|Diwali|Ramadan|Eid|New Year|Valentine)")
_ADDRESSED = linear(
    r"(?:^|[,!.] |\b(?:hey|hi|hello|thanks|thank you|congrats|congratulations|wow|yeah|yes|bye|sure|absolutely|great|cool|sorry|oh"
    r"|ok|okay|right|morning|night|you too|and|dear|job|luck|idea|done) )$",
    IGNORECASE,
)
_DENIED = linear(r"\b(?:not|isn't|wasn't) $")
_END_OF_ADDRESS = anchored(r"$|[,!?.;:-]| [-–—]")

_NOT_LOCATED_IN = (
    r"(?:interest\w*|written|wrote|write|coded|code|coding|programming|program|built|implement\w*|fluent|speak\w*|believe\w*|degree"
    r"|major\w*|speciali\w*|characters?|role|played|playing|star\w*|books?|movies?|films?|shows?|games?|series|season|episode|bug"
    r"|error|function|invest\w*|confidence|faith|trust|phd|experience|course|class|certificate|certification|bachelor's|master's)"
)
_BEFORE: tuple[tuple[EntityType, Pattern[str]], ...] = (
    (
        "person",
        linear(
            rf"\b(?:{RELATION}|{PEOPLE}|guy|girl|woman|man|boy)(?:'s name)?(?: is| was)?,?(?: called| named)? $"
            r"|\b(?:mr|mrs|ms|dr|prof)\.? $|\bmy name(?: is|'s) $|\bcall me $|\b(?:I'm|I am) (?:called|named) $"
            r"|\b(?:told|met|married|marry|texted|asked|invited|hugged|dating|phoned|hired|reports? to) $"
            rf"|\b(?:{RELATION}|friends?|colleague|classmate) of $",
            IGNORECASE,
        ),
    ),
    ("project", linear(r"\bproject(?: is)?,?(?: called| named)? $", IGNORECASE)),
    (
        "organisation",
        linear(
            r"\b(?:work|works|worked|working|job|intern|interned|internship|study|studies|studied|studying|employed|hired"
            r"|graduated|degree|position|contract)\b(?: [\w'-]+){0,6}? (?:at|for|from|by) (?:the )?$"
            r"|\b(?:company|startup|start-up|firm|band|club|charity|agency|employer)(?: is| was)?,?(?: called| named)? $"
            r"|\b(?:joined|founded|co-founded|acquired) $|\b(?:ceo|cto|cfo|coo|founder|co-founder) of (?:the )?$"
            r"|\bplay(?:s|ed|ing)? for (?:the )?$",
            IGNORECASE,
        ),
    ),
    (
        "place",
        linear(
            r"\b(?:move|moves|moved|moving|fly|flies|flying|flew|travel|travell?ed|travell?ing|trip|vacation|holiday|went|go"
            r"|going|drive"
            r"|driving|drove|arrived|back|hike|hiking|house|flat|village|town|city|miles|tour)\b(?: [\w'-]+){0,4}?"
            r" (?:to|from|near|around|outside|through) (?:the |downtown )?$"
            r"|\b(?:live|lives|lived|living|based|stay|staying) (?:[\w'-]+ ){0,3}?(?:near|outside|around|close to) (?:the )?$"
            r"|\b(?:been to|visits?|visiting|visited|explore|exploring|am from|I'm from|is from|are from|back from) (?:the )?$"
            r"|\bin (?:downtown )?$|\b(?:live|living|trip|town|city|based) in the $",
            IGNORECASE,
        ),
    ),
    (
        "product",
        linear(
            r"\b(?:uses?|using|bought|buy|buying|drives?|driving|owns?|rides?|riding|got|have|has)"
            r" (?:a|an|my|the new|a new|an old|my new"
            r"|my old) $",
            IGNORECASE,
        ),
    ),
)
_NO_LOCATION = linear(rf"\b{_NOT_LOCATED_IN} in (?:the )?$", IGNORECASE)
_AFTER: tuple[tuple[EntityType, Anchored], ...] = (
    (
        "person",
        anchored(
            r",? (?:who|is my|was my|said|says|told|asked|called|texted|invited|suggested|works|lives in|got married)\b"
            rf"|, my (?:\w+ )?(?:{RELATION}|{PEOPLE})\b"
            r"|'s (?:birthday|wedding)\b"
        ),
    ),
    (
        "product",
        anchored(r" (?:phone|laptop|car|bike|camera|app|guitar|keyboard|console|watch|tablet|truck|headphones)\b"),
    ),
)
_COMPLETED_BY: tuple[tuple[EntityType, Anchored], ...] = (
    ("project", anchored(r" project\b")),
    ("event", anchored(r" (?:marathon|festival|conference|concert|tournament|parade|cup|fair|race|summit|fest)\b")),
    ("organisation", anchored(r" (?:university|college|hospital|bank)\b")),
)
_LAST_WORD: tuple[tuple[EntityType, frozenset[str]], ...] = (
    (
        "organisation",
        words(
            "inc ltd gmbh llc corp university college school bank hospital foundation institute labs company council club "
            "academy bakery robotics motors traders airlines airways technologies holdings"
        ),
    ),
    (
        "event",
        words(
            "festival marathon conference cup olympics fair pride summit fest championship awards parade expo month day"
        ),
    ),
    (
        "place",
        words(
            "park beach street avenue road lake mountain mountains island islands river square county airport tower canyon falls "
            "bridge castle valley bay pub bar café cafe museum cathedral palace peninsula forest coast city town station"
        ),
    ),
)


@dataclass(kw_only=True, slots=True)
class _Found:
    """An entity as found so far; the first mention that tells its type decides."""

    name: str
    typed: EntityType | None = None
    is_pet: bool = False
    notes: dict[str, None] = field(default_factory=dict[str, None])
    sources: dict[MessageId, None] = field(default_factory=dict[MessageId, None])
    relations: dict[tuple[str, str], dict[MessageId, None]] = field(
        default_factory=dict[tuple[str, str], dict[MessageId, None]]
    )

    @property
    def type(self) -> EntityType:
        return "other" if self.is_pet and self.typed == "person" else self.typed or "other"


def entities(said: Sequence[Statement]) -> list[ExtractedEntity]:
    """Each entity once, in the order of first mention, with what was said about it."""
    met: dict[str, _Found] = {}
    speakers = {part.casefold() for statement in said for part in (statement.author or "").split()}
    spoken = [(statement, _assertions(statement)) for statement in said if statement.role == "user"]
    for statement, asserted in spoken:
        for sentence in asserted:
            named: list[_Found] = []
            for name, typed, animal in _names(sentence.text):
                if name.casefold() not in speakers:
                    entity = met.setdefault(name.casefold(), _Found(name=name))
                    entity.typed = entity.typed or typed
                    entity.is_pet = entity.is_pet or animal
                    named.append(entity)
            _note(named, statement, sentence)
    for statement, asserted in spoken:
        for sentence in asserted:
            opened = _NAME.match(sentence.text)
            entity = met.get(_bare(opened.group()).casefold()) if opened else None
            if entity is not None and opened is not None:
                entity.is_pet = entity.is_pet or is_pet("", sentence.text[opened.end() :][:_CUE_REACH])
                _note([entity], statement, sentence)
    for statement, asserted in spoken:
        for sentence in asserted:
            _relate(met, statement, sentence)
    order = {statement.id: position for position, statement in enumerate(said)}
    return [
        ExtractedEntity(
            name=found.name,
            type=found.type,
            notes=" ".join(found.notes),
            sources=tuple(sorted(found.sources, key=order.__getitem__)),
            relations=tuple(
                ExtractedRelation(relation=relation, other=other, sources=tuple(stated))
                for (relation, other), stated in found.relations.items()
            ),
        )
        for found in met.values()
    ]


def _relate(met: Mapping[str, _Found], statement: Statement, sentence: Sentence) -> None:
    """Add what a sentence says of two entities that are known by now."""
    named: list[Named] = []
    for match in _NAME.finditer(sentence.text):
        name = _bare(match.group())
        entity = met.get(name.casefold())
        if entity is not None and statement.id in entity.sources:
            begin = match.start() + match.group().index(name)
            named.append(Named(name.casefold(), entity.type, begin, begin + len(name)))
    for related in relations(sentence.text, named):
        stated = met[related.subject].relations.setdefault((related.relation, met[related.other].name), {})
        stated[statement.id] = None


def _assertions(statement: Statement) -> list[Sentence]:
    """The sentences that state something. Headlines are left out: all their words are capitalised."""
    asserted: list[Sentence] = []
    said = sentences(statement.content)
    if refusals.is_a_text_to_work_on(said):
        return []
    for sentence in said:
        if refusals.hands_over_the_voice(sentence):
            break
        overlong = len(sentence.text) > _LONGEST_SENTENCE
        if not (sentence.asked or overlong or refusals.is_refused(sentence) or _is_headline(sentence.text)):
            asserted.append(sentence)
    return asserted


def _is_headline(text: str) -> bool:
    """Whether all words but small ones are capitalised; a lower-case verb makes a sentence: "Jo Kay met Al Roe"."""
    if text.startswith(("I ", "I'")):
        return False
    telling = [word for word in text.split() if word[0].isalpha() and word.casefold() not in _SMALL_WORDS]
    return len(telling) >= _FEWEST_WORDS and all(word[0].isupper() for word in telling)


def _names(text: str) -> Iterator[tuple[str, EntityType | None, bool]]:
    """The names in a sentence, each with its type, if that is known, and whether it is said to be an animal's."""
    for title in _TITLE.finditer(text):
        if _is_name(title.group(1)) and len(title.group(1).split()) <= _LONGEST_TITLE:
            before, after = text[max(0, title.start() - _CUE_REACH) : title.start()], text[title.end() :][:_CUE_REACH]
            yield title.group(1), title_type(title.group(1), before, after), False
    for match in _NAME.finditer(_TITLE.sub(lambda title: " " * len(title.group()), text)):
        name = _bare(match.group())
        begin = match.start() + match.group().index(name)
        before = text[max(0, begin - _CUE_REACH) : begin]
        after = text[begin + len(name) : begin + len(name) + _CUE_REACH]
        if not _is_name(name) or _DENIED.search(before):
            continue
        if not before.strip(" \u201c'("):
            if opener := subject_type(name, _own_type(name), after):
                typed = opener if opener != "other" else known_type(name) or opener
                animal = is_pet("", after)
                yield name, opener if animal else typed, animal
            continue
        noun, typed = _completed(after)
        typed = typed or _type(name, before, after)
        is_address = _ADDRESSED.search(before) and _END_OF_ADDRESS.match(after)
        if typed or not (is_address or name.isupper()):
            yield name + noun, typed, is_pet(before, after)


def _completed(after: str) -> tuple[str, EntityType | None]:
    """The noun that completes a name, and the type it tells: "the Porto marathon"."""
    for typed, cue in _COMPLETED_BY:
        if noun := cue.match(after):
            return noun.group(), typed
    return "", None


def _bare(name: str) -> str:
    """Strip the possessive, and leading words that are never part of a name."""
    parts = name.split(" ")
    while parts and not _NAMED_AFTER_ALL.match(name) and (parts[0].casefold() in _NO_NAME or parts[0][0].islower()):
        parts = parts[1:]
        name = " ".join(parts)
    return name.removesuffix("'s").removesuffix("'").rstrip(".-'")


def _is_name(name: str) -> bool:
    return len(name) > 1 and name.casefold() not in _NEVER_A_NAME and not _DEMONYM.fullmatch(name) and name[0].isupper()


def _type(name: str, before: str, after: str) -> EntityType | None:
    if _HOLIDAY.match(name):
        return "event"
    if is_pet(before, after):
        return "other"
    if typed := _own_type(name):
        return typed
    known = known_type(name)
    if known == "place":
        return known
    for typed, cue in _BEFORE:
        is_contradicted = typed in ("person", "place") and known not in (None, typed)
        if cue.search(before) and not is_contradicted and not (typed == "place" and _NO_LOCATION.search(before)):
            return typed
    for typed, cue in _AFTER:
        if cue.match(after) and not name.isupper() and known in (None, typed):
            return typed
    return context_type(name, before, after) or known


def _own_type(name: str) -> EntityType | None:
    """The type that a name of several words contains: "Acme Corp", "Project Falcon"."""
    if " " not in name:
        return None
    first, *_, last = name.split(" ")
    if first == "Project":
        return "project"
    return next((typed for typed, lasts in _LAST_WORD if last.casefold() in lasts), None)


def _note(met: list[_Found], statement: Statement, sentence: Sentence) -> None:
    """Add the sentence to the notes: as the fact that it states, if that contains the name, else as the clause that does."""
    for entity in met:
        entity.sources[statement.id] = None
    wanting = [entity for entity in met if len(entity.notes) < _MOST_NOTES]
    if not wanting:
        return
    stated = [fact.content for fact in facts(sentence.text, statement.author)]
    clauses = [part.text for part in segments(sentence.text) if len(part.text.split()) >= _FEWEST_WORDS]
    speaker = speaker_named(statement.author).subject
    for entity in wanting:
        clause = next((clause for clause in clauses if entity.name in clause), sentence.text)
        quoted = f"{speaker}: {shortened(clause, _LONGEST_NOTE)}."
        entity.notes[next((content for content in stated if entity.name in content), quoted)] = None
