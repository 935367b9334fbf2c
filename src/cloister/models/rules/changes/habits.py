"""What a person likes and does: "loves coffee", "no longer eats meat", "stopped smoking", "prefers tea to coffee"."""

from dataclasses import replace

from cloister.domain.patterns import IGNORECASE, anchored, linear
from cloister.models.rules.changes.stated import Stated, subject_key, value_words
from cloister.models.rules.grammar import Predicate, is_past
from cloister.models.rules.tables.notation import words

_LIKING = anchored(
    r"(?:(?P<likes>love|like|enjoy|adore|be (?:really |very )?(?:into|fond of|keen on))"
    r"|(?P<dislikes>hate|dislike|detest|loathe|despise|cannot stand)) (?P<thing>.{2,80})$",
    IGNORECASE,
)
_PREFERENCE = anchored(
    r"prefer (?P<first>(?:[\w'-]+ ){0,2}[\w'-]+) (?:to|over) (?P<second>(?:[\w'-]+ ){0,2}[\w'-]+)$", IGNORECASE
)
_STOPPED = anchored(
    r"(?:have )?(?:stopped|quit|given up|gave up|cut out) (?P<done>[\w-]+ing\b.{0,60}|[\w-]+(?: [\w-]+)?)$", IGNORECASE
)
_STARTED = anchored(
    r"(?:have )?(?:started|begun|began|taken up|took up|went back to|gone back to) (?P<done>[\w-]+ing\b.{0,60})$",
    IGNORECASE,
)
_IS_DOING = anchored(r"be [a-z]{3,}ing\b")
_WHEN = linear(
    r" (?:(?:in|since|on) (?:january|february|march|april|may|june|july|august|september|october|november|december|\d{4})"
    r"|last \w+|this \w+|(?:\w+ ){1,2}ago|because .{0,80}|for (?:good|health|my health).{0,40}|every .{0,40}|a lot|recently)$",
    IGNORECASE,
)
_NO_HABIT = words("was were will can cannot used want hope plan need know think have")
ENDINGS_OF_HABITS = ("gave up ", "have given up ", "quit ", "have quit ", "cut out ", "have cut out ", "swore off ", "have sworn off ",
    "went off ", "have gone off ", "ditched ", "have ditched ", "have stopped ", "stopped ", "had to ")
_KEPT_SUBJECT = words("eat drink smok consum")
_ALCOHOL = words("alcohol wine beer whisky whiskey spirits cocktails")
_NOT_DONE = words("my a an the it that this")


def likings_and_habits(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    """The liking or habit in a predicate's key, of which endings like "any more" were removed."""
    if preference := _PREFERENCE.match(key):
        first, second = value_words(preference["first"]), value_words(preference["second"])
        subject = subject_key("preference", " or ".join(sorted((" ".join(first), " ".join(second)))))
        liked = second if said.negated else first
        return (Stated(family="liking", subject=subject, words=liked, marked=marked),)
    if liking := _LIKING.match(key):
        thing = value_words(_WHEN.sub("", liking["thing"]))
        positive = (liking["likes"] is not None) != (said.negated and not key.startswith("cannot"))
        subject = subject_key("liking", " ".join(thing))
        return (
            (Stated(family="liking", subject=subject, words=thing, positive=positive, marked=marked),) if thing else ()
        )
    if stopped := _STOPPED.match(_WHEN.sub("", key)):
        return () if said.negated else _stopped(stopped["done"])
    if started := _STARTED.match(_WHEN.sub("", key)):
        first, _, rest = started["done"].partition(" ")
        done = (_stem(first), *value_words(rest))
        return () if said.negated else (replace(_ended(done), positive=True),)
    return _habit(key, said, marked=marked)


def _stopped(done: str) -> tuple[Stated, ...]:
    """ "stopped playing tennis" ends "plays tennis every Sunday"; "gave up coffee" ends "drinks coffee"."""
    first, _, rest = done.partition(" ")
    if first.lower() in _NOT_DONE:
        return ()
    if first.endswith("ing"):
        return (_ended((_stem(first), *value_words(rest))),)
    thing = value_words(done)
    return tuple(_ended((verb, *thing)) for verb in ("eat", "drink", "us")) if thing else ()


def _habit(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    verb, _, rest = key.removeprefix("be ").partition(" ") if _IS_DOING.match(key) else key.partition(" ")
    if verb in _NO_HABIT and not (verb == "have" and rest.startswith(("a ", "an "))):
        return ()
    if is_past(verb):
        return ()
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
        if verb == "drink" and not thing:
            return not _ALCOHOL.isdisjoint(old.words)
        return (bool(thing) or verb == "smok") and old.words[: len(new.words)] == new.words
    return new.words == old.words or (new.marked and new.words[: len(old.words)] == old.words)


def _stem(verb: str) -> str:
    """smoke and smoking → smok; run and running → run."""
    bare = verb.lower()
    if bare.endswith("ing") and len(bare) > 4:
        bare = bare[:-3]
        if len(bare) > 3 and bare[-1] == bare[-2] and bare[-1] not in "ls":
            bare = bare[:-1]
    return bare.rstrip("e")
