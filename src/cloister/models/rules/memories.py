"""Finds the lasting facts that a message states about its sender: what counts is in `tables`, what is rejected in `refusals`."""

from collections.abc import Iterator
from dataclasses import replace

from cloister.domain.patterns import IGNORECASE, Match, anchored, linear
from cloister.models.rules import refusals
from cloister.models.rules.categories import Category, category_of, said_of_both
from cloister.models.rules.changes.announcements import announced, is_own, may_be_news, with_subject
from cloister.models.rules.changes.times import without_endings
from cloister.models.rules.changes.values import category_of_value, has_one_value, says_ended, without_idioms
from cloister.models.rules.facts import Fact, Speaker, fact, speaker_named
from cloister.models.rules.grammar import Predicate, expanded, first_verbs, is_past, of_the_speaker, predicate
from cloister.models.rules.possessions import fact_of_mine
from cloister.models.rules.sentences import Segment, Sentence, segments, sentences
from cloister.models.rules.tables.notation import opening
from cloister.models.rules.tables.rewordings import reworded
from cloister.models.rules.tables.single_values import NAME

_LONGEST_SEGMENT = 240
_MOST_LEADS = 6
_MOST_ITEMS = 6
_LONGEST_TRAILING = 20
_SAYS_I = linear(r"\b(?:i|my|me|our|we|we're|we've)\b", IGNORECASE)
_LEAD = opening(
    r"""
and|but|so|because|cause|cuz|since|although|though|plus|also|yet|then|besides|first(?! (day|week|shift))|first of all
again|after all
(i )?(can't|cannot|can hardly) believe( that)?|(it )?turns out( that)?|believe it or not|as it happens
heads up|(small|quick|big|little) update|funny enough|funnily enough|for what it's worth|in other news|(big|exciting|happy|sad) news
well|oh|yes|yeah|yep|no(?! longer| more)|nope|nah|ok|okay|hey|hi|hello|hi there|hey there|thanks|haha|lol|wow|hmm
um|uh|true|sorry|wait|by the way
btw|fyi|ps|p\.s\.|actually|honestly|personally|basically|anyway|anyways|look|tbh|to be honest|in fact
luckily|sadly|unfortunately|fortunately|recently(?! \w+ed )|lately|currently(?=,| (i|my|we|i'm|we're) )
nowadays|these days|right now|as you know|you see|as for me|(as|like) i (said|mentioned|told you)
i told you( that)?|just so you know
for (future )?reference|for the record|for context|(please )?(remember|note|keep in mind|don't forget|know)( that)?
guess what|fun fact|scratch that|speaking of which|as a matter of fact|the thing is|truth is|one more thing|good news
""",
    then=",? ?",
)
_TIME_FIRST = anchored(
    r"((?:in|since) \d{4}|since (?:january|february|march|april|may|june|july|august|september|october|november|december)"
    r"|since (?:(?:the|my|our) \w+|easter|christmas|then)|(?:since )?(?:last|this|next) (?:year|month|week|summer|winter|spring"
    r"|autumn|fall|january"
    r"|february|march|april"
    r"|may|june|july|august|september|october|november|december)|(?:a|two|three|four|five|six|ten|\d+)"
    r" (?:years?|months?|weeks?) ago|now|these days|nowadays|today|yesterday|(?:since|on|last) (?:monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday)|after (?:\w+ ){1,3}?(?:years|months|weeks)(?: (?:at|with|in|of) [\w' ]{1,30}?)?"
    r"|after (?:the|my|our) (?:divorce|wedding|marriage|separation|break-?up|move)"
    r"|as of (?:\w+ ){0,2}\w+),? (?=(?:i|my|we|our|home)\b)",
    IGNORECASE,
)
_TRAILING = linear(
    r" (?:though|lol|haha|ha|hehe|btw|please|pls|anyway|anyways|ironically|too|as well|tbh|obviously|of course|actually"
    r"|honestly|literally|you know|ya know|by the way|to be honest|at least|fyi|unfortunately|sadly|luckily|instead|etc"
    r"|and all|or something|or whatever)$",
    IGNORECASE,
)
_ADDITIONAL = linear(
    r"\b(?:also|too|as well|second|another|on the side|part of the year|in addition|besides)\b", IGNORECASE
)
_NEW_JOB = anchored(r"(?:new|changed|switched) (?:job|jobs|employer|employers|address|home|place)$", IGNORECASE)
_I_OR_WE = anchored(r"(I|i|[Ww]e) (?=\S)")

# A verb that can also be a noun ("food and drink") needs a word after it that follows verbs.
_AND_VERB = linear(
    r" and (?=(?:(?:also|now|then|never|recently|usually|sometimes|often|always|currently|really|do not|am|have|was) )*(?:"
    r"(?:live|work|study|teach|volunteer|run|drive|play|travel|train|plan|hope|rent|speak|drink|cook|support|prefer)"
    r" (?:a|an|the|my|at|for|in|as|to|with|on|from|two|every|each|[A-Z])"
    r"|(?:love|hate|like|enjoy|own|adore|collect|eat|wear|prefer|suffer|am|have|do not|cannot|refuse|need|want|think|keep|try"
    r"|make|go|get|see|know|feel|take|find|spend|tend|do|always|never|usually|often|sometimes)\b))",
)
_AND_WORD = linear(
    r" and (?!(?:(?:have|just|finally|now|then) )*(?:moved in|moved there|live there|live)\b)(?=(?:(?:also|then|never|recently"
    r"|finally|later|now|only) )*(?P<verb>[a-z]+)\b)"
)
_PRESENT = frozenset(
    {
        "am",
        "live",
        "work",
        "drink",
        "eat",
        "use",
        "play",
        "drive",
        "teach",
        "run",
        "go",
        "have",
        "love",
        "enjoy",
        "want",
        "feel",
        "plan",
    }
)
_CONTINUES = linear(r"\b(?:to (?!the |a |an |my )[a-z]+|will|cannot|can|not|who|that|which)\b")

_NO_ITEM = opening(
    r"""
i|my|we|he|she|it|they|you|which|who|that|this|there|any|what|where|when|while|if|since|as|because|though|although
so|but|then|also|even|just|like|hence|especially|including|mostly|mainly|always|actually|well|right|not|no
have|has|is|are|was|do|can|could|for|with|in|on|at|by|to|please|thanks|yeah|haha|lol|nice|back
""",
    lead="and",
)
_TITLED = anchored(r"(?:\d[\w.]*|[A-ZÀ-Þ][\w'.-]*)(?: (?:[A-ZÀ-Þ][\w'.-]*|\d+)){0,2}$")
_MOVED_IN = anchored(r"(?:and )?(?:(?:we|i|have|we've|i've|just|finally|already) )*(?P<verb>moved in)\b", IGNORECASE)
_LOCATION = linear(rf"\b(?P<in>in|to|at) (?P<name>{NAME})(?![\w'])")
_THERE = linear(r"\b(?P<verb>moved|relocated|live|living|settled|am|are|I'm|we're|work|working) (?:there|here)\b")
_IS_SOMEWHERE = linear(r" is (?:now )?(?:back |over )?in [A-ZÀ-Þ]")
_SPEAKS_OF_NAME = linear(
    r"\bmy (?:(?:husband|wife|partner|spouse)'s )?(?:(?P<last>last |maiden |family |sur)|\w+ )?name\b|\bgo(?:ing)? by\b",
    IGNORECASE,
)
_ENDS_IN_NAME = linear(r" (?:name|surname)$")
_NOT_THE_OTHER = anchored(r"not (?:[\w'-]++ ?){1,3}$")


def facts(content: str, author: str | None) -> list[Fact]:
    """The facts in the order in which they are stated; each once."""
    return facts_of(sentences(content), author)


def facts_of(said: list[Sentence], author: str | None) -> list[Fact]:
    """The facts in the sentences of one message."""
    if refusals.is_a_text_to_work_on(said):
        return []
    speaker = speaker_named(author)
    found: list[Fact] = []
    for position, sentence in enumerate(said):
        if refusals.hands_over_the_voice(sentence):
            break
        spoken = refusals.as_statement(sentence)
        is_news = may_be_news(spoken.text) and (position == 0 or is_own(said[position - 1].text))
        if (is_news or _SAYS_I.search(spoken.text)) and not refusals.is_refused(spoken):
            found += _facts_of_sentence(spoken, speaker, introduces=position < 2, is_news=is_news)
    return list({found_fact.content: found_fact for found_fact in found}.values())


def _facts_of_sentence(sentence: Sentence, speaker: Speaker, *, introduces: bool, is_news: bool) -> Iterator[Fact]:
    """`is_news`: the sentence may leave out its "I". So may a segment after one of the speaker's own."""
    parts = segments(sentence.text)
    if sentence.asked:
        if len(parts) < 2 or not refusals.asks_for_itself(parts[-1].text):
            return
        parts = parts[:-1]
    if any(refusals.is_reported(part.text) for part in parts[1:]):
        return
    instead, location = False, None
    for position, part in enumerate(parts):
        following = parts[position + 1 : position + 1 + _MOST_ITEMS]
        if refusals.invalidates_rest(part.text):
            return
        if following and following[0].after == ":" and not refusals.is_own_heading(part.text):
            return
        if len(part.text) <= _LONGEST_SEGMENT and not refusals.is_hedged(part.text):
            if location is not None:
                part = replace(part, text=_with_location(part.text, location))
            spoken_of = _SPEAKS_OF_NAME.search(parts[position - 1].text) if position else None
            naming = None if spoken_of is None else "last name" if spoken_of["last"] else "name"
            text, when = _without_lead(expanded(_with_list(part.text, following)))
            for stated in _facts_of_segment(
                text, when, speaker, introduces=introduces, is_news=is_news, instead=instead, naming=naming
            ):
                if _IS_SOMEWHERE.search(stated.content) and refusals.is_on_a_trip(sentence.text):
                    continue
                instead = instead or (bool(following) and says_ended(stated.content, speaker))
                yield stated
        if following:
            location = _LOCATION.search(part.text) or location
            instead = instead or bool(_NEW_JOB.match(part.text))
            is_news = is_own(part.text) and may_be_news(following[0].text)


def _facts_of_segment(
    text: str, when: str, speaker: Speaker, *, introduces: bool, is_news: bool, instead: bool, naming: str | None
) -> Iterator[Fact]:
    """`instead`: the sentence said that something ended, so that "I'm in Porto" after it says what replaced it."""
    additional = bool(_ADDITIONAL.search(text))
    text = reworded(_without_trailing(text))
    mine = fact_of_mine(text, speaker, introduces=introduces) or announced(text, speaker, naming=naming)
    if mine := mine or (announced(f"{text} now", speaker, naming=None) if when else None):
        yield replace(mine, additional=additional)
        return
    opening_words = _I_OR_WE.match(text)
    if opening_words is None and is_news and (completed := with_subject(text)):
        text, opening_words = completed, _I_OR_WE.match(completed)
    elif opening_words is not None:
        is_news = False
    if opening_words is None:
        yield from _last_clause(text, speaker, additional=additional)
        return
    alone = opening_words.group(1).upper() == "I"
    is_stated = ended = False
    clauses = _clauses(text[opening_words.end() :])
    for position, clause in enumerate(clauses):
        stated = _stated(predicate(clause + when, "I"), speaker, alone=alone, is_news=is_news)
        if ended or (stated is None and instead):
            stated = _stated(predicate(f"{clause} now", "I"), speaker, alone=alone, is_news=is_news) or stated
        if stated is None:
            # A verb without a subject is trusted only after a clause that was ("the self-acceptance and love theme"), or as news.
            is_news = True
            continue
        is_stated = True
        ended = ended or (position + 1 < len(clauses) and says_ended(stated.content, speaker))
        yield replace(stated, additional=additional)
    if not is_stated:
        yield from _last_clause(text, speaker, additional=additional)


def _last_clause(text: str, speaker: Speaker, *, additional: bool) -> Iterator[Fact]:
    """News after "and": "We filed the papers and the divorce came through"."""
    _, conjunction, tail = text.rpartition(" and ")
    if conjunction and (mine := announced(tail, speaker, naming=None)):
        yield replace(mine, additional=additional)


def _stated(said: Predicate | None, speaker: Speaker, *, alone: bool, is_news: bool) -> Fact | None:
    """The fact in a predicate of "I" `alone`, or of "we". One of "we", or without its "I", must have one value at a time."""
    if said is None:
        return None
    category: Category | None = None
    of_both = alone or said_of_both(said.key)
    if of_both and not is_news:
        category = category_of(said.key, negated=said.negated, adverbs=said.adverbs)
    is_valued = False
    if category is None:
        category = category_of_value(said, of_both=not of_both)
        is_valued = category is not None
    if category is None:
        return None
    if refusals.has_unresolved_reference(said.key):
        is_valued = is_valued or category_of_value(said) is not None
        if not is_valued or refusals.has_unresolved_reference(without_idioms(said.key)):
            return None
    stated = fact(category, f"{speaker.subject} {of_the_speaker(said.shown)}")
    if stated is None or not refusals.is_of_the_moment(said.key, category):
        return stated
    is_change = is_valued or category_of_value(said) == "change"
    lasting = not refusals.is_of_the_moment(without_endings(said.key)[0], "change" if is_change else category)
    return stated if lasting and has_one_value(stated.content, speaker) else None


def _without_lead(text: str) -> tuple[str, str]:
    """Strip "well, by the way, …"; a time at the start is returned apart, to be put at the end."""
    for _ in range(_MOST_LEADS):
        if timed := _TIME_FIRST.match(text):
            when = timed.group(1)
            return text[timed.end() :], f" {when[0].lower()}{when[1:]}"
        lead = _LEAD.match(text)
        if lead is None:
            break
        text = text[lead.end() :]
    return text, ""


def _without_trailing(text: str) -> str:
    """Strip "though", "to be honest" and the like from the end, however many there are."""
    end = len(text)
    while trailing := _TRAILING.search(text, max(0, end - _LONGEST_TRAILING), end):
        end = trailing.start()
    return text[:end]


def _clauses(text: str) -> list[str]:
    """Split "live in Lisbon and work at Siemens"; after an infinitive or "who", "and" continues that clause."""
    verb, following = first_verbs(text)
    past = is_past(verb) or (verb == "have" and is_past(following))
    found: list[str] = []
    begin = 0
    for conjunction in (_AND_WORD if past else _AND_VERB).finditer(text):
        if _CONTINUES.search(text, begin, conjunction.start()) or (
            past and not is_past(conjunction["verb"]) and conjunction["verb"] not in _PRESENT
        ):
            continue
        found.append(text[begin : conjunction.start()])
        begin = conjunction.end()
    return [*found, text[begin:]]


def _with_location(text: str, location: Match[str]) -> str:
    """Put the location that was named before for "there": "got a job in Abuja, so we moved there"."""
    return _THERE.sub(
        lambda found: f"{found['verb']} {_preposition(found['verb'], location['in'])} {location['name']}", text, 1
    )


def _preposition(verb: str, before: str) -> str:
    if verb.endswith("ed"):
        return "in" if verb == "settled" else "to"
    return "in" if before == "to" else before


def _with_list(text: str, following: list[Segment]) -> str:
    """Join what commas separate: the items of a list, a country after its town, "not Anna" after "Ann"."""
    if not following or following[0].after != ",":
        return text
    first = following[0].text
    if moved_in := _MOVED_IN.match(first):
        return f"{text} and {moved_in['verb']}"
    if _ENDS_IN_NAME.search(text, max(0, len(text) - 12)) and _TITLED.match(first):
        return f"{text}, {first}"
    if _NOT_THE_OTHER.match(first):
        return f"{text}, {first}"
    last_on_its_own = len(following) == 1 or following[1].after != ","
    if last_on_its_own and _TITLED.match(first) and _TITLED.match(text.rsplit(" ", 1)[-1]):
        return f"{text}, {first}"
    joined = text
    for part in following:
        if part.after != "," or len(part.text.split()) > 6 or _NO_ITEM.match(part.text):
            return text
        joined += f", {part.text}"
        if part.text.startswith(("and ", "or ")) or " and " in part.text:
            return joined
    return text
