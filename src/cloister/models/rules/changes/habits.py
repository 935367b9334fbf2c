"""What a person likes and does: "loves coffee", "no longer eats meat", "stopped smoking", "prefers tea to coffee"."""

from dataclasses import replace

from cloister.domain.patterns import IGNORECASE, anchored, linear
from cloister.models.rules.changes.stated import Stated, subject_key, value_words
from cloister.models.rules.grammar import Predicate, is_past
from cloister.models.rules.tables import habits as table
from cloister.models.rules.tables.notation import words

_LIKING = anchored(
    r"(?:(?P<likes>love|like|enjoy|adore|care for|be (?:really |very )?(?:into|fond of|keen on)|be an? (?:\w+ )?fan of)"
    r"|(?P<dislikes>hate|dislike|detest|loathe|despise|cannot stand|mind)) (?P<thing>.{2,80})$",
    IGNORECASE,
)
_IS_FAN = anchored(
    r"be an? (?:(?:big|huge|massive|real) )?(?P<thing>[a-z][\w-]+(?: [a-z][\w-]+)?) (?:fan|lover|fanatic|addict)$"
)
_CAME_TO_LIKE = anchored(rf"(?:{table.CAME_TO_LIKE}) (?P<thing>{table.THING})$")
_GONE_OFF = anchored(rf"(?:{table.GONE_OFF}) (?P<thing>{table.THING})$")
_PREFERENCE = anchored(
    r"(?:prefer (?P<first>(?:[\w'-]+ ){0,2}[\w'-]+) (?:to|over)|(?:like|love|enjoy) (?P<more>(?:[\w'-]+ ){0,2}[\w'-]+) (?:more"
    r"|better) than)"
    r" (?P<second>(?:[\w'-]+ ){0,2}[\w'-]+)$",
    IGNORECASE,
)
_PREFERS = anchored(r"prefer (?P<thing>[\w-]+)$", IGNORECASE)
_STOPPED = anchored(rf"(?:{table.STOPPED}) (?P<done>[\w-]+ing\b.{{0,60}}|[\w-]+(?: [\w-]+)?)$", IGNORECASE)
_ENDED = anchored(f"(?:{table.ENDED})$", IGNORECASE)
_LEFT_CLUB = anchored(table.LEFT_CLUB, IGNORECASE)
_EXCHANGED = anchored(table.EXCHANGED, IGNORECASE)
_SOBER = anchored(
    r"(?:(?:be|have been|got|became|have become) (?:[\w-]+ (?:days|weeks|months|years) |\w+ )?(?:sober|teetotal|a teetotaller"
    r"|off (?:the )?(?:booze|drink)))\b",
    IGNORECASE,
)
_SMOKER = anchored(r"be an? (?:\w+ )?smoker$", IGNORECASE)
_NO_SMOKER = anchored(
    r"(?:be|have been) (?:[\w-]+ (?:days|weeks|months|years) )?(?:smoke|nicotine|cigarette)-free\b|(?:be|became"
    r"|have become) an? (?:non-?smoker|ex-smoker|former smoker)\b",
    IGNORECASE,
)
_NOT_SINCE = anchored(
    r"have (?P<verb>smoked|eaten|drunk|touched|had)(?: an?| any)?(?: (?P<thing>[a-z][\w-]+))? (?:since|in (?:\w+ )?(?:weeks"
    r"|months|years)|for (?:\w+ )?(?:weeks|months|years))\b",
    IGNORECASE,
)
_STARTED = anchored(
    r"(?:have )?(?:started|begun|began|taken up|took up|went back to|gone back to) (?P<done>[\w-]+ing\b.{0,60})$",
    IGNORECASE,
)
_IS_DOING = anchored(r"be [a-z]{3,}ing\b")
_WHEN = linear(
    r" (?:(?:in|since|on) (?:january|february|march|april|may|june|july|august|september|october|november|december|\d{4})"
    r"|last \w+|this \w+|(?:\w+ ){1,2}ago|because .{0,80}|for (?:good|health|my health).{0,40}|every .{0,40}|a lot|recently"
    r"|completely|entirely|altogether|for lent|cold turkey|yesterday)$",
    IGNORECASE,
)
_NO_HABIT = words("was were will can cannot used want hope plan need know think have")
_KEPT_SUBJECT = words("eat drink smok consum")
_ALCOHOL = words("alcohol wine beer whisky whiskey spirits cocktails vodka gin rum champagne")
_TOBACCO = words("cigarettes cigars tobacco nicotine cigs")
_NOT_DONE = words("my a an the it that this hope trying control everything work on school")
_DONE_ALONE = words("smok run jog swim cycl meditat cook ski danc")
"""Habits that are named by their verb alone."""
_HOW_OFTEN = words("every daily weekly twice once on in before after most three four five each at outside regularly a")


def likings_and_habits(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    """The liking or habit in a predicate's key, of which endings like "any more" were removed."""
    if preference := _preference(key, said, marked=marked):
        return preference
    if changed := _changed_liking(key, said):
        return changed
    if liking := _LIKING.match(key):
        thing = value_words(_WHEN.sub("", liking["thing"]))
        positive = (liking["likes"] is not None) != (said.negated and not key.startswith("cannot"))
        subject = subject_key("liking", " ".join(thing))
        return (
            (Stated(family="liking", subject=subject, words=thing, positive=positive, marked=marked),) if thing else ()
        )
    if key.startswith("cannot ") and key != said.key:
        return _habit(key.removeprefix("cannot "), said, marked=True)
    if _SMOKER.match(key):
        return (replace(_ended(("smok",)), positive=not said.negated, marked=marked),)
    when = _WHEN.sub("", key)
    if over := _ended_habit(when, said):
        return over
    if started := _STARTED.match(when):
        first, _, rest = started["done"].partition(" ")
        done = (_stem(first), *value_words(rest))
        return () if said.negated else (replace(_ended(done), positive=True),)
    return _habit(key, said, marked=marked)


def _preference(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    """ "prefers tea to coffee", "likes tea more than coffee"; "prefers tea", of what people choose one of."""
    if preference := _PREFERENCE.match(key):
        first, second = value_words(preference["first"] or preference["more"]), value_words(preference["second"])
        subject = subject_key("preference", " or ".join(sorted((" ".join(first), " ".join(second)))))
        liked = second if said.negated else first
        return (Stated(family="liking", subject=subject, words=liked, marked=marked),)
    prefers = _PREFERS.match(key)
    group = table.CHOICES.get(prefers["thing"].lower()) if prefers and not said.negated else None
    if prefers is None or group is None:
        return ()
    return (
        Stated(
            family="liking",
            subject=subject_key("preference", group),
            words=value_words(prefers["thing"]),
            marked=marked,
        ),
    )


def _changed_liking(key: str, said: Predicate) -> tuple[Stated, ...]:
    """ "has come to love olives", "went off sushi", "is a jazz fan"."""
    liked = _CAME_TO_LIKE.match(key)
    disliked = _GONE_OFF.match(key)
    fan = _IS_FAN.match(key)
    found = liked or disliked or fan
    if found is None or (said.negated and not fan):
        return ()
    thing = value_words(found["thing"])
    if not thing or not table.NO_THING.isdisjoint(thing[:1]):
        return ()
    positive = not disliked and not (fan and said.negated)
    subject = subject_key("liking", " ".join(thing))
    return (Stated(family="liking", subject=subject, words=thing, positive=positive, marked=fan is None),)


def _ended_habit(key: str, said: Predicate) -> tuple[Stated, ...]:
    if (since := _NOT_SINCE.match(key)) and said.negated:
        thing = value_words(since["thing"] or "")
        verbs = {"smoked": ("smok",), "eaten": ("eat",), "drunk": ("drink",)}.get(
            since["verb"].lower(), ("eat", "drink")
        )
        return tuple(_ended((verb, *thing)) for verb in verbs) if thing or verbs == ("smok",) else ()
    if said.negated:
        return ()
    if _SOBER.match(key):
        return (_ended(("drink",)),)
    if _NO_SMOKER.match(key):
        return (_ended(("smok",)),)
    if club := _LEFT_CLUB.match(key):
        return (_ended(("go", "to", club["club"].lower())),)
    if exchanged := exchanges(key):
        return exchanged
    if over := _ENDED.match(key):
        return _stopped(next(filter(None, over.groups())))
    stopped = _STOPPED.match(key)
    return _stopped(stopped["done"]) if stopped else ()


def exchanges(key: str) -> tuple[Stated, ...]:
    """ "switched from coffee to tea", "dropped Spotify for Tidal": the habit that ended."""
    found = _EXCHANGED.match(key)
    if found is None:
        return ()
    former = value_words(next(filter(None, found.groups())))
    return tuple(_ended((verb, *former)) for verb in table.VERBS_OF_THINGS) if former else ()


def _stopped(done: str) -> tuple[Stated, ...]:
    """ "stopped playing tennis" ends "plays tennis every Sunday"; "gave up coffee" ends "drinks coffee"."""
    first, _, rest = done.partition(" ")
    if first.lower() == "the" and rest.lower() in table.INSTRUMENTS:
        first, rest = rest, ""
    if first.lower() in _NOT_DONE:
        return ()
    if first.endswith("ing"):
        return (_ended((_stem(first), *value_words(rest))),)
    thing = value_words(done)
    if not _TOBACCO.isdisjoint(thing):
        return (_ended(("smok",)),)
    return tuple(_ended((verb, *thing)) for verb in table.VERBS_OF_THINGS) if thing else ()


def _habit(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    verb, _, rest = key.removeprefix("be ").partition(" ") if _IS_DOING.match(key) else key.partition(" ")
    if verb in _NO_HABIT and not (verb == "have" and rest.startswith(("a ", "an "))):
        return ()
    if is_past(verb):
        return ()
    if said.negated:
        rest = rest.partition(" or ")[0]
    done = (_stem(verb), *value_words(rest))
    subject = subject_key("habit", " ".join(done))
    return (Stated(family="habit", subject=subject, words=done, positive=not said.negated, marked=marked),)


def _ended(done: tuple[str, ...]) -> Stated:
    return Stated(family="habit", subject=subject_key("habit", " ".join(done)), words=done, positive=False, marked=True)


def keeps_subject(stated: Stated) -> bool:
    """Whether a habit is worth a subject before anything contradicts it: what people eat, drink and smoke."""
    return stated.words[0] in _KEPT_SUBJECT


def reverses(new: Stated, old: Stated) -> bool:
    """Whether a habit ended or was taken up again: the words of one begin the words of the other."""
    verb, *thing = new.words
    if new.positive == old.positive or verb != old.words[0]:
        return False
    if not new.positive:
        if thing:
            return old.words[: len(new.words)] == new.words
        if verb == "drink":
            return not _ALCOHOL.isdisjoint(old.words)
        if verb == "smok":
            return True
        return verb in _DONE_ALONE and (len(old.words) == 1 or old.words[1] in _HOW_OFTEN)
    if new.words == ("drink",) and new.marked:
        return not _ALCOHOL.isdisjoint(old.words) or len(old.words) == 1
    return new.words == old.words or (new.marked and new.words[: len(old.words)] == old.words)


def _stem(verb: str) -> str:
    """smoke and smoking → smok; run and running → run."""
    bare = verb.lower()
    if bare.endswith("ing") and len(bare) > 4:
        bare = bare[:-3]
        if len(bare) > 3 and bare[-1] == bare[-2] and bare[-1] not in "ls":
            bare = bare[:-1]
    return bare.rstrip("e")
