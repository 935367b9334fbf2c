"""What a context is asked for with, and which sources, floors and room it gets: of the request, of its project, or the default."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from cloister.domain.context import (
    HIGHEST_BUDGET,
    WIDE_LIMIT,
    Method,
    RecallTerms,
    Source,
    checked_limits,
    default_sources,
    with_limits,
)
from cloister.domain.conversation import Message, Project
from cloister.domain.identifiers import MessageId
from cloister.domain.project_settings import NO_SETTINGS, context_sources, floors, history_tokens
from cloister.domain.recall.assembly import Room
from cloister.domain.recall.excerpt import best_passage
from cloister.domain.recall.filter import Filter
from cloister.domain.recall.relevance import Floors, checked_min_relevance
from cloister.domain.scope import Scope
from cloister.domain.text import checked_content, checked_limit
from cloister.index import terms


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextRequest:
    """What a context is built from. Without a question, the user's last message is the question; `asked_at` is when it is asked, by
    default now. `as_of` asks for the memories that were true then, and not now (MEM-12). `sources` replace the project's own, and
    the limits replace those of the sources. A budget is filled with related history unless it is only a cap. Messages whose words
    are `known` are not recalled, and others take their place. A filter applies to all that is recalled, and not to the current
    conversation. With `profile_tokens` the context also has the profile of its user, of at most so many tokens (MEM-16). `again`
    are the terms of an earlier context, which replace its sources and limits (PRF-2). `until` is the last message of the session
    that counts; `with_partial`: replies that were cut off are part of the conversation. With `strict_floor` no message below the
    floor fills a budget. Without `min_relevance` the floor is the project's, and never below `lowest_floor`. Messages `without`
    which the context is built are not recalled."""

    question: str | None = None
    asked_at: int | None = None
    as_of: int | None = None
    min_relevance: float | None = None
    sources: Sequence[Source] | None = None
    recent_limit: int | None = None
    semantic_limit: int | None = None
    budget: int | None = None
    budget_is_cap: bool = False
    known: frozenset[str] = frozenset()
    profile_tokens: int = 0
    filter: Filter | None = None
    bound_to: Scope | None = None
    again: RecallTerms | None = None
    until: MessageId | None = None
    with_partial: bool = False
    strict_floor: bool = False
    lowest_floor: float = 0.0
    without: frozenset[MessageId] = frozenset()

    @property
    def fills_budget(self) -> bool:
        return self.budget is not None and not self.budget_is_cap

    def checked_limits(self) -> dict[Method, int]:
        """Check the request, and return the limits that it sets for all its sources of a method."""
        if self.question is not None:
            checked_content(self.question, "query")
        if self.budget is not None:
            checked_limit(self.budget, "budget_tokens", HIGHEST_BUDGET)
        if self.min_relevance is not None:
            checked_min_relevance(self.min_relevance)
        return checked_limits(self.recent_limit, self.semantic_limit)


def sources_of(project: Project | None, request: ContextRequest, limits: Mapping[Method, int]) -> Sequence[Source]:
    """The sources of the request, else of the project, else the defaults, which are wider where a budget is to be filled."""
    if request.again is not None and request.again.sources is not None:
        return request.again.sources
    own = None if project is None else context_sources(project.settings)
    if request.sources is not None or own is not None:
        return with_limits(own or () if request.sources is None else request.sources, limits)
    wide: dict[Method, int] = {"semantic": WIDE_LIMIT} if request.fills_budget else {}
    return with_limits(default_sources(), {**wide, **limits})


def settings_of(project: Project | None) -> Mapping[str, object]:
    return NO_SETTINGS if project is None else project.settings


def floors_of(settings: Mapping[str, object], request: ContextRequest) -> Floors:
    if request.again is not None:
        return Floors(request.again.floor, request.again.fill_floor)
    if request.min_relevance is not None:
        return Floors(request.min_relevance)
    found = floors(settings, fills_budget=request.fills_budget and not request.strict_floor)
    return found if found.best >= request.lowest_floor else Floors(request.lowest_floor)


def room_of(project: Project | None, request: ContextRequest, question: str) -> Room:
    """Without a budget to fill and without limits of its own, a request gets as much related history as the project's setting."""
    shorten = partial(excerpt_of, question)
    if request.again is not None:
        return Room(budget=request.again.budget, history=request.again.history, shorten=shorten)
    if request.fills_budget:
        return Room(budget=request.budget, shorten=shorten)
    chooses = request.sources is not None or request.semantic_limit is not None
    return Room(
        budget=request.budget, history=None if chooses else history_tokens(settings_of(project)), shorten=shorten
    )


def excerpt_of(question: str, message: Message, tokens: int) -> Message:
    """The best passage of a message in at most so many tokens, if they are spread evenly over its text."""
    longest = tokens * len(message.content) // message.tokens
    passage = best_passage(message.content, terms.term_list(question), terms.term_list, longest)
    return message._replace(content=passage, tokens=tokens)
