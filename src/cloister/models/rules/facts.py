"""A fact about a speaker, and the speaker's name in it."""

from dataclasses import dataclass

from cloister.domain.prompts.speaker import is_plain_name, user_named
from cloister.models.rules.categories import Category

_LONGEST = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """A memory's text. `additional`: the speaker says that it is true besides something else ("I also work for …").
    `returned`: the message says that somebody went and came back."""

    category: Category
    content: str
    additional: bool = False
    returned: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Speaker:
    """The name of a speaker at the start of a sentence, and inside one. `name` is None if the speaker is only known as the user."""

    subject: str
    inside: str
    name: str | None = None

    @property
    def whose(self) -> str:
        return f"{self.subject}'s"


def speaker_named(author: str | None) -> Speaker:
    """The author's name if it is clearly one; else it is in quotes after "user", as for a user named "assistant"."""
    if not author:
        return Speaker(subject="The user", inside="the user")
    if is_plain_name(author):
        return Speaker(subject=author, inside=author, name=author)
    return Speaker(subject=f"The {user_named(author)}", inside=f"the {user_named(author)}", name=author)


def fact(category: Category, sentence: str) -> Fact | None:
    """Make a fact of a sentence, with a full stop; none if the sentence is too long."""
    plain = sentence.strip(" ,;:-.")
    return Fact(category=category, content=f"{plain}.") if len(plain) <= _LONGEST else None
