"""Rejects what is not meant as a lasting fact: questions, hypotheticals, reported speech, role play, requests, the moment.

The extent depends on the reason: a whole message that is a text to work on, a sentence that is a question or imagined, the rest of
a sentence after "if" or "she said", one segment with "might" in it.
"""

from cloister.domain.patterns import IGNORECASE, anchored, linear
from cloister.models.rules.categories import Category
from cloister.models.rules.sentences import OPAQUE, Sentence
from cloister.models.rules.tables.notation import anywhere, opening

_POLITE = "please|pls|can you|could you|now|then|hey|hi|ok|okay|and|so|kindly"
_INTERJECTIONS = "and|but|so|well|ok|okay|hey|hi|please|oh|also|wait|hmm|um|now|then|just"
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"

_ORDERS_WORK_ON_A_TEXT = opening(
    r"""
translate|proofread|proof-read|rewrite|rephrase|paraphrase|summari[sz]e|reword|polish|correct|grammar
fix the (grammar|spelling|text|sentence)
edit (this|the|my)
improve (this|the (text|wording|following))
check (this|the) (grammar|text|sentence)
""",
    lead=_POLITE,
)
_OPENS_A_PLAY = opening(
    r"""
pretend|role-?\s?play|act (as|like)|let's (role-?\s?play|play|pretend|imagine)
you are (a|an|the|now|my)|you're (a|an|the|now)
write (a|an|me|the)|compose|draft|complete the (story|sentence)|continue (the|this)
""",
    lead=_POLITE,
)
_IMAGINES = opening(
    r"""
imagine|imagining|suppose|supposing|assume|assuming|pretend|picture this|hypothetically|provided
say (i|i'm|my)|let's (say|assume|imagine|suppose|pretend)
if|what if|even if|as if|as though|unless|in case|whenever|had i|were i|should i
""",
    lead=_INTERJECTIONS,
)
_IN_A_STORY = anywhere(
    r"""
(in|for|during) (this|the|that|a|my|our|each) (game|story|novel|book|movie|film|scenario|exercise|dream|song|poem)
(in|for|during) (this|the|that|a|my|our|each) (play|sketch|role|letter|script|scene|campaign|simulation|example)
(in|for) (this|the|a) role-?play
"""
)
_ASKS = opening(
    r"""
what|what's|whats|where|where's|who|who's|whose|whom|why|how|how's|which|when (did|do|does|will|is|was|are|should)
do|does|did|am|is|are|was|were|can(?!'t)|could|should|shall|will|would|may|might
(has|had)(?! (a|an|my|our|to) )|have (i|you|we|they)
don't (i|you)|can't (you|i|we)
(isn't|aren't|wasn't|won't|haven't|doesn't|didn't) (i|you|we|they|he|she|it|this|that|there|the|my|your|people)
any (idea|chance|thoughts|tips|suggestions|advice|recommendations)
tell me|remind me|explain|describe|guess(?! what,)|wonder|wondering
""",
    lead=_INTERJECTIONS,
)
_ASKS_FOR_ITSELF = opening(
    r"""
(do|can|could|would|have|did) you|should i|is there|are there
what|what's|which|how|how's|where|when|who|why|any
""",
    lead="and|but|so|then",
)
_INVALIDATES_REST = anywhere(
    r"""
if|unless|whether|except when|would have|suppos(e|ing)|imagin(e|es|ing)|pretend(ing|s)?
said|says|saying|say that|told|tells|tell (him|her|them|people)|wrote|writes|written|asked|asks|replied|according to
claims?|claimed|insists?|thinks|thought|believes|assumes|reckons|quoted?
lyrics?|reads|goes like|in the style of|starts with|titled
i lied|joking|kidding|sarcasm|not true|a lie|as an ai
"""
)
_REPORTED_BY = anchored(
    r"(?:(?:he|she|they|it|nobody|no one|[A-Z]\w+|[Mm]y \w+|[Tt]he \w+) )?(?:said|says|told|tells|replied|wrote|writes"
    r"|claims|claimed|insists|insisted|whispered|shouted|sang|sings)\b"
)
_OWN_REPORT = linear(
    r"(?:like |as )?i (?:said|told you|mentioned|wrote|asked (?:my \w+|him|her) (?:to marry me|out))(?: that)?\b",
    IGNORECASE,
)
_HEDGE = anywhere(
    r"""
would|could|might|should|ought|maybe|perhaps|probably|possibly|supposedly|presumably|hypothetically|wish
i (think|guess|suppose|believe|feel like|assume|doubt|forgot|forget)|not sure|unsure|wonder|wondering
as if|like i'm|feels like|lol jk
(don't|do not) (know|think|remember|understand|recall|see)
"""
)
_MAY = linear(r"\bmay (?!\d)")
_THE_READER = anywhere("you|your|yours|yourself|u|ur")
_UNRESOLVED = anywhere(
    rf"""
it|its|he|him|his|she|her|hers|they|them|their|theirs|these(?! days)|those|there|everything|something|anything|stuff|such an?
here(?! from)
(another|previous|old|first|last|new|other|next) one|(the|this|that|these|those|little) ones?
(create|make|write|get|try|build|find|buy|start) one|(option|version|number) (\w|\d+)
this(?! (year|month|week|weekend|summer|winter|spring|autumn|fall|season|semester|coming|{_MONTHS}))
(to|of|with|at|for|like|in|on|about|into|from) that
"""
)
_NUMERAL = linear(r"(?<!\w)[^\WA-Z]*+[A-Z]\w++ I\b(?!')")
_CODE = linear(r"[{}<>=\\|`#\[\]@^~*]|\$[A-Za-z_]|\(\)|\w_\w|::|&&|->|;$|\w\(\"")
_EMAIL = linear(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_SECRET = anywhere(
    "password|passcode|passphrase|pin|pin code|api key|secret|token|credit card|card number|cvv|social security|ssn|iban"
)
_MOMENT = anywhere(
    r"""
right now|at (the|this) moment|as we speak|just now|for now|today|tonight|yesterday|last night|tomorrow morning
this (morning|afternoon|evening|minute|time|week|weekend|very)|again|so far|already
in (a|an|one|two|five|ten|fifteen|twenty|thirty|\d+|a few|half an) (bit|while|moment|(sec|second|min|minute|hour)s?)
(now|soon|later)$
"""
)
_MOMENT_OF_AN_EVENT = anywhere(
    r"""
right now|at the moment|as we speak|just now|for now
in (a|ten|five|\d+) (bit|(sec|second|min|minute|hour)s?)
"""
)
_EVENTS: frozenset[Category] = frozenset({"change", "decision", "plan", "name"})
_OWN_HEADING = opening(
    r"""
update|updates|edit|correction|reminder|note|notes|fyi|ps|p\.s|btw|by the way|((good|bad|great|big) )?news|true story|confession
fact|facts|background|info|information|details|bio|context|situation|intro|introduction|basics|things|profile|story
me|myself|about (me|myself)|today|preferences|plan|plans|typo|thing|announcement|psa|reminder|status|other thing|last thing
it's official|it is official|(new|current) (job|address|home|place|name|role|title|status)|(life|job|status) (update|news)
(switched|changed) jobs|plot twist|guess what|(big|major) (change|changes)
""",
    lead="quick|small|short|big|important|one more|another|a|an|some|few|my|just|here's|here is|here are|the|also|and"
    "|so|ok|oh|well|personal",
    then=r"(?: (?:about|for|on|of) (?:me|myself|my .{1,30}|you|today))?$",
)
_ASKS_TO_BE_CALLED = anchored(
    r"(?:(?:hey|hi|so|and|please|also),? ){0,3}(?:can|could|would|will) you (?:please |just |maybe )?"
    r"(?=(?:call me|start calling me|refer to me as|address me as) [A-ZÀ-Þ])",
    IGNORECASE,
)
_CAN_YOU_BELIEVE = anchored(r"can you believe (?:that )?(?=(?:i|we|i'm|we're|i've) )", IGNORECASE)
_ON_A_TRIP = anywhere(
    "flying|flight|visiting|visit|trip|holiday|vacation|conference|until|till|leaving|layover|hotel|stopover|returning"
    "|passing through|tonight|tomorrow|home (soon|later|on)|back (on|home)"
)
_SPEAKER_FIRST = opening("i|i'm|i've|my|we|we've|we're", lead="and|but|so|well|ok|oh|yes|yeah|no")


def is_a_text_to_work_on(said: list[Sentence]) -> bool:
    """Whether the message is a letter, or opens or closes with "translate …" or the like: it may not be about its sender."""
    if said and said[0].text.startswith("Dear "):
        return True
    return bool(said) and any(_ORDERS_WORK_ON_A_TEXT.match(end.text) for end in (said[0], said[-1]))


def hands_over_the_voice(sentence: Sentence) -> bool:
    """Whether the rest of the message is not the sender's own voice: after "pretend …", "you are a …", "Relevant memories:"."""
    return bool(_OPENS_A_PLAY.match(sentence.text)) or (sentence.heads and not is_own_heading(sentence.text))


def as_statement(sentence: Sentence) -> Sentence:
    """ "Could you call me Sam?" as "call me Sam": in form a question, and in fact the speaker's name."""
    asked = _ASKS_TO_BE_CALLED.match(sentence.text) or _CAN_YOU_BELIEVE.match(sentence.text)
    return Sentence(text=sentence.text[asked.end() :], asked=False, heads=False) if asked else sentence


def is_refused(sentence: Sentence) -> bool:
    """Whether the sentence is a question, imagined, partly somebody else's words, code, or a secret."""
    text = sentence.text
    if OPAQUE in text or _CODE.search(_EMAIL.sub("", text)) or _SECRET.search(text):
        return True
    return bool(_ASKS.match(text) or _IMAGINES.match(text) or _IN_A_STORY.search(text, 0, 60))


def asks_for_itself(text: str) -> bool:
    """Whether the last segment alone is the question, and those before it are statements: "I'm vegan, what can I eat?"."""
    return bool(_ASKS_FOR_ITSELF.match(text))


def invalidates_rest(text: str) -> bool:
    """Whether this segment and all after it in the sentence may be conditional, or somebody else's words."""
    return bool(_INVALIDATES_REST.search(_OWN_REPORT.sub("", text, count=1)))


def is_reported(text: str) -> bool:
    """Whether this segment attributes those before it to somebody else: "I live in Rome, she said"."""
    return bool(_REPORTED_BY.match(text))


def is_hedged(text: str) -> bool:
    return bool(_HEDGE.search(text) or _MAY.search(text))


def has_unresolved_reference(text: str) -> bool:
    """Whether a memory would contain "it", "them" or "your" without an antecedent, or "they" for the numeral of "Tiger I"."""
    return bool(_THE_READER.search(text) or _UNRESOLVED.search(text) or _NUMERAL.search(text))


def speaks_of_the_reader(text: str) -> bool:
    return bool(_THE_READER.search(text))


def is_of_the_moment(text: str, category: Category) -> bool:
    """Whether this is true only now. An event may be of today; a state of today need not last."""
    return bool((_MOMENT_OF_AN_EVENT if category in _EVENTS else _MOMENT).search(text))


def is_on_a_trip(text: str) -> bool:
    """Whether a sentence tells of a journey, so that "I'm in Porto now" in it is no home."""
    return bool(_ON_A_TRIP.search(text))


def is_own_heading(text: str) -> bool:
    """Whether the text before a colon keeps the sender's voice: "Update: …", "I made up my mind: …", but not "Alice: …"."""
    return bool(_OWN_HEADING.match(text) or _SPEAKER_FIRST.match(text))
