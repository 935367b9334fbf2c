"""News about the speaker in which "I" is not the subject: "Just moved to Porto", "Acme hired me", "It was my 40th birthday".

They are turned into the words of a fact with one value at a time, and dropped if they are none (MEM-12).
"""

from cloister.domain.patterns import IGNORECASE, anchored, linear
from cloister.models.rules.changes.times import RECENTLY, WEEKDAYS
from cloister.models.rules.changes.values import category_of_value, stated_values
from cloister.models.rules.facts import Fact, Speaker, fact
from cloister.models.rules.grammar import of_others, of_the_speaker, predicate
from cloister.models.rules.tables.names import GIVEN_NAMES
from cloister.models.rules.tables.notation import words
from cloister.models.rules.tables.single_values import NAME
from cloister.models.rules.tables.words import NAMES, PEOPLE, PET, RELATION

_ADVERBS = r"(?:(?:just|finally|officially|recently|now|currently|newly|actually|already|no longer|not|literally|also|today) )*"
_DID = (
    "moved|relocated|settled|emigrated|turned|started|joined|left|got|gave up|handed in|broke up|split up|sold|bought|switched"
    "|changed"
    "|stopped|had|celebrated|hit|landed|took|accepted|signed|lost|retired|resigned|became|remarried|eloped|tied the knot"
    "|ended up|went"
    "|began|dumped|ditched|swapped|traded|graduated|made partner|finali[sz]ed|called off|parted ways|picked up|have|jumped ship"
    "|kicked|cut out|swore off|do not(?=.* any ?more$)"
)
_QUIT = r"quit(?=.* (?:ago|last|today|yesterday|this)\b)"
_IS_DOING = (
    "living|working|based|renting|going by|seeing|dating|back in|back at|at|with|in|settled in|starting at|starting with|employed"
    "|contracting|freelancing|done with|out of|done at"
)
_IS = (
    "single|divorced|married|engaged|separated|widowed|vegan|vegetarian|pescatarian|sober|unemployed|self-employed|jobless|retired"
    r"|between jobs|taken|gluten-free|dairy-free|\d\d|freelance"
)
_AFTER_STATE = r"(?=$|,| (?:again|now|since|for|as of|these days|at last|yesterday|today|last|this|and|to [A-Z])\b)"
_WAS_DONE = (
    r"promoted(?= to\b|$)|laid off(?= from| by| last| this| today| yesterday|$)|fired(?= from| by| last| today| yesterday|$)"
    r"|hired(?= by| at|$)"
    r"|made redundant|let go(?= from| by| last| today|$)|sacked|appointed|poached(?= by)|transferred(?= to)|relocated(?= to)"
)
_WITHOUT_SUBJECT = anchored(
    rf"(?P<adverbs>{_ADVERBS})(?:(?P<did>(?:{_DID})\b|{_QUIT})|(?P<doing>(?:{_IS_DOING})\b)|(?P<state>(?:{_IS}){_AFTER_STATE})"
    rf"|(?P<done>(?:{_WAS_DONE})\b)|(?P<first>(?:my )?first (?:day|week|shift) (?:at|with|as|in|working|living)\b)"
    rf"|(?P<cut>quit\b)|(?P<job>(?:a )?new (?:job|role|position) (?:at|with|as)\b))",
    IGNORECASE,
)
_DONE_TO_ME = anchored(
    rf"(?P<who>[Tt]hey|{NAME}|(?:[Mm]y|[Oo]ur|[Tt]he) (?:\w+ ){{0,2}}?(?:boss|company|employer|work|job|manager|firm|office"
    rf"|school|hospital))"
    r" (?:have |has |just |finally |recently |actually )*(?P<verb>hired|poached|recruited|headhunted|fired|sacked|dismissed"
    r"|promoted"
    r"|relocated|transferred|moved|let|laid|made|appointed|named|took|brought) me(?P<rest>(?: .{1,80})?)$"
)
_DAY = anchored(
    rf"(?:(?:it|today|yesterday|this|(?:last )?(?:{WEEKDAYS})|this \w+|last \w+)(?: is| was|'s) )?my (?P<which>first|last"
    rf"|final) (?P<unit>day|week|shift)"
    r" ?(?P<rest>(?:(?:at|with|in|as|working|living) .{1,80})?)$",
    IGNORECASE,
)
_IS_WHEN = linear(rf" (?:is|was) (?P<when>{RECENTLY})$", IGNORECASE)
_BIRTHDAY = anchored(
    rf"(?:(?:it|today|yesterday|(?:last )?(?:{WEEKDAYS})|this \w+)(?: is| was|'s) my (?P<age>\d{{1,3}})(?:st|nd|rd"
    rf"|th) (?:birthday|bday|b-day)"
    rf"|my (?P<aged>\d{{1,3}})(?:st|nd|rd|th) (?:(?:birthday|bday|b-day) (?:was\b|is today)|was {RECENTLY}$))",
    IGNORECASE,
)
_TODAY = linear(r"\b(?:is|was|'s)\b")
_IS_HOME = anchored(
    rf"(?:(?P<value>{NAME}) is (?:now )?(?:(?:my|our) (?:new )?)?home(?P<now> now| these days)?$"
    rf"|(?:[Mm]y |[Oo]ur )?(?:new )?[Hh]ome is (?:now )?(?:in )?(?P<at>{NAME})(?P<then> now| these days)$)"
)
_IS_EMPLOYER = anchored(rf"(?P<value>{NAME}) is (?:now )?my (?:new )?(?P<what>employer|boss|manager)(?: now)?$")
_NEW_HOME = anchored(
    rf"(?:my|our) (?P<what>(?:new )?(?:place|flat|apartment|house|home|address|room"
    rf"|studio)) is (?P<where>(?:now )?in (?-i:{NAME}).{{0,40}})$",
    IGNORECASE,
)
_OF_MINE = anchored(
    r"(?:my|our|the) (?P<what>(?:divorce|engagement|wedding) .{2,60}|(?:(?<!the )(?:marriage|relationship|contract) .{2,80}))$",
    IGNORECASE,
)
_PARTNER = anchored(
    r"my (?P<what>(?:wife|husband|girlfriend|boyfriend|partner|fiancé|fiancée|fiance|fiancee"
    r"|spouse)(?: [A-ZÀ-Þ][\w'-]+)? (?:has |have |just )*"
    r"(?:left|dumped|divorced|walked out on|broke up with|split up with|ended things with|broke off with) me(?: .{1,60})?)$",
    IGNORECASE,
)
_OVER_WITH = anchored(
    r"it is (?:all )?over (?:between (?:me and |us, me and )?|with )my (?P<who>boyfriend|girlfriend|husband|wife|partner|fiancé"
    r"|fiancée)$",
    IGNORECASE,
)
_LEFT_ME = anchored(
    r"(?:he|she|they|(?P<name>(?-i:[A-ZÀ-Þ][\w'-]+))) (?:has |have |just |finally |actually )*(?P<verb>broke up with|dumped"
    r"|left|divorced|split up with"
    r"|ended things with"
    r"|walked out on) me(?P<rest>(?: (?:last|this|yesterday|today|for|in|on|after|over) .{1,40})?)$",
    IGNORECASE,
)
_CUT = anchored(
    rf"(?P<who>{NAME}) (?:has |have |just )*(?:cut|eliminated|axed|scrapped|terminated) my (?P<what>job|position|role)$"
)
_MENTIONED = linear(
    rf"\b(?:my|our) new (?:(?:\w+ )?(?P<home>house|flat|apartment|home|place|condo|studio|townhouse|cottage) in (?P<town>{NAME})"
    rf"|(?P<job>job|role|position|gig) (?:(?:at|with) (?P<firm>{NAME})|as (?:an? "
    rf"|the )?(?P<title>(?:[a-z'/-]+ ){{0,3}}?[a-z'/-]+)(?=,|$| at | in | with )))"
)
_NOT_YET = linear(
    r"\b(?:looking|look|dream|next|soon|tomorrow|want|wants|hope|hoping|plan|plans|planning|if|when|would|could|might|starts?"
    r"|will|not|going to"
    r"|almost|nearly|holiday|vacation|summer|second|weekend home|his|her|their|sold|until|till|before)\b",
    IGNORECASE,
)
_IT_IS = anchored(
    rf"(?:(?:but|and) )?(?P<first>now )?(?:it"
    rf"|which) is (?P<name>(?-i:{NAMES}))(?P<now> now)?(?P<correction>, not (?-i:[A-Z])\w*)?$",
    IGNORECASE,
)
_I = ("I ", "I'", "My ", "We ", "We'", "i ", "i'", "my ", "we ")
_MOST_WORDS = 12
_NEWS_WORDS = words(
    "moved relocated settled emigrated turned started joined left got gave handed broke split sold bought switched changed "
    "stopped had celebrated hit landed took accepted signed lost retired resigned became remarried eloped tied ended went "
    "began dumped ditched swapped traded graduated made finalised finalized called parted picked have haven't jumped kicked "
    "cut swore don't do quit living working based renting going seeing dating back at with in starting employed contracting "
    "freelancing done out single divorced married engaged separated widowed vegan vegetarian pescatarian sober unemployed "
    "self-employed jobless between taken gluten-free dairy-free freelance promoted laid fired hired let sacked appointed "
    "poached transferred first new officially finally now no divorce wedding engagement home it's it which"
) | frozenset(str(age) for age in range(16, 100))
_OWN = anchored(
    rf"(?:i|we|(?:my|our)(?! (?:\w+ )?(?:{RELATION}|{PEOPLE}|{PET}|ex|neighbours?|neighbors?|team|guy)\b)|i'm|i've"
    rf"|we're|we've|it's official|guess what|\w++(?: \w++){{0,2}}$)\b",
    IGNORECASE,
)
_THIRD_PERSON = linear(r"\b(?:he|she|they|his|her|their|him|them|he's|she's|they're)\b", IGNORECASE)


def with_subject(text: str) -> str | None:
    """The sentence with the "I" that it leaves out: "Turned 40 last week" → "I turned 40 last week"; none if it leaves out none."""
    found = _WITHOUT_SUBJECT.match(text)
    if found is None:
        return None
    rest = text[0].lower() + text[1:]
    if found["job"]:
        return f"I got a {rest.removeprefix('a ')}"
    if found["first"]:
        bare = text[len(found["adverbs"]) :]
        return f"I had my {bare.lower() if bare.isupper() else bare[0].lower() + bare[1:]}".replace("my my ", "my ")
    if found["doing"] or found["state"]:
        return f"I am {rest}"
    if found["done"]:
        return f"I was {rest}"
    return f"I {rest}" if found["did"] or found["adverbs"] else None


def may_be_news(text: str) -> bool:
    """Whether a sentence or segment may be news that leaves out its "I": a word of such news is among its first ones."""
    if text.startswith(_I):
        return False
    return not _NEWS_WORDS.isdisjoint(text.lower().replace(",", " ").split(None, _MOST_WORDS))


def is_own(text: str) -> bool:
    """Whether a sentence is about the speaker or nobody, so that the next one may leave out its "I"."""
    return bool(_OWN.match(text) or with_subject(text)) and not _THIRD_PERSON.search(text)


def announced(text: str, speaker: Speaker, *, naming: str | None) -> Fact | None:
    """The fact in a segment without contractions of which somebody or something else is the subject. `naming`: "name" or "last
    name" if the speaker just spoke of theirs, so that "it's Rob" says what it is."""
    stated = (
        _news(text, speaker) or _done_to(text, speaker) or _day(text, speaker) or _of_mine(text, speaker, naming=naming)
    )
    return stated if stated and stated_values(stated.content, speaker) else None


def _news(text: str, speaker: Speaker) -> Fact | None:
    """A new home or job that is only mentioned, and what a partner did: "We love our new flat in Porto", "She dumped me"."""
    if " me" not in text and "new " not in text and " my " not in text:
        return None
    if (left := _LEFT_ME.match(text)) and not _THIRD_PERSON.search(text, left.end("verb")):
        return fact(
            "family",
            f"{speaker.whose} partner {left['name'] + ' ' if left['name'] else ''}{left['verb'].lower()}"
            f" {speaker.inside}{left['rest']}",
        )
    if cut := _CUT.match(text):
        return fact("work", f"{speaker.whose} {cut['what'].lower()} at {cut['who']} was cut")
    mentioned = _MENTIONED.search(text)
    if mentioned is None or _NOT_YET.search(text):
        return None
    if mentioned["home"]:
        return fact("place", f"{speaker.whose} new {mentioned['home'].lower()} is in {mentioned['town']}")
    if mentioned["firm"]:
        return fact("work", f"{speaker.whose} new {mentioned['job'].lower()} is at {mentioned['firm']}")
    return fact("work", f"{speaker.whose} new {mentioned['job'].lower()} is {mentioned['title']}")


def _done_to(text: str, speaker: Speaker) -> Fact | None:
    """ "Acme hired me" → "was hired by Acme"."""
    done = _DONE_TO_ME.match(text) if " me" in text else None
    if done is None:
        return None
    verb, rest, who = done["verb"], done["rest"], done["who"]
    by = "" if who.lower() == "they" else f" by {of_the_speaker(who)}"
    if verb in ("took", "brought"):
        is_work = who.lower().split(" ")[-1] in ("job", "work", "company", "employer")
        return (
            fact("change", f"{speaker.subject} moved{rest} for work") if is_work and rest.startswith(" to ") else None
        )
    if verb in ("hired", "poached", "recruited", "headhunted", "fired", "sacked") and rest:
        rest, by = f"{by}{rest}", ""
    passive = f"was {verb}{rest}{by if not rest or verb in ('let', 'laid') else ''}"
    said = predicate(passive, "I")
    return fact("change", f"{speaker.subject} {of_the_speaker(passive)}") if said and category_of_value(said) else None


def _day(text: str, speaker: Speaker) -> Fact | None:
    """A first or last day at work, or a birthday."""
    if "my " not in text and "My " not in text:
        return None
    if day := _DAY.match(text):
        rest = _IS_WHEN.sub(lambda found: f" {found['when']}", day["rest"])
        had = f"had their {day['which'].lower()} {day['unit'].lower()} {of_the_speaker(rest)}"
        return fact("change", f"{speaker.subject} {had}")
    if birthday := _BIRTHDAY.match(text):
        years = birthday["age"] or birthday["aged"]
        ordinal = text[birthday.start("age" if birthday["age"] else "aged") :].split(" ", 1)[0]
        return fact("self", f"{speaker.subject} had their {ordinal} birthday") if years else None
    return None


def _of_mine(text: str, speaker: Speaker, *, naming: str | None) -> Fact | None:
    if over := _OVER_WITH.match(text):
        return fact("family", f"{speaker.whose} relationship with their {over['who'].lower()} is over")
    if home := _IS_HOME.match(text):
        return fact("place", f"{speaker.whose} home is {home['value'] or home['at']} now")
    if employer := _IS_EMPLOYER.match(text):
        return fact("work", f"{speaker.whose} {employer['what'].lower()} is {employer['value']} now")
    if new := _NEW_HOME.match(text):
        return fact("place", f"{speaker.whose} {new['what'].lower()} is {new['where']}")
    if (mine := _OF_MINE.match(text)) or (mine := _PARTNER.match(text)):
        category = "work" if mine["what"].startswith("contract") else "family"
        return fact(category, f"{speaker.whose} {of_others(mine['what'], speaker.inside)}")
    named = _IT_IS.match(text)
    first, _, others = named["name"].partition(" ") if named else ("", "", "")
    if named and (naming or (others and named["now"] and first.casefold() in GIVEN_NAMES)):
        return fact(
            "name",
            f"{speaker.whose} {naming or 'name'} is {named['name']}{' now' if named['now'] else ''}{named['correction'] or ''}",
        )
    return None
