"""Show the prompt of a reply again, from its receipt (PRF-1).

A receipt has no words. They are looked up as its reader may see them now, so what was forgotten, or has moved, is not in the
prompt. The receipt has the length of each message that was sent: the prompt is exact only if all of them are the same again, and
nothing is known to have changed.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cloister.domain.context import Context, Derived, Item
from cloister.domain.conversation import Message, Project, Session
from cloister.domain.errors import Conflict, NotFound
from cloister.domain.identifiers import ObservationId, ReceiptId, format_receipt_id
from cloister.domain.project_settings import system_prompt
from cloister.domain.prompts.profile import DEFAULT_PROFILE_TOKENS, ProfileFact
from cloister.domain.prompts.prompt import prompt, wants_profile
from cloister.domain.recall.excerpt import EXCERPT_TOKENS
from cloister.domain.recall.question import asked_part
from cloister.domain.receipts.receipt import ReceiptItem, Sent
from cloister.domain.reply import ChatMessage
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.services.recall.context_request import excerpt_of
from cloister.services.recall.profile import Profiles
from cloister.services.receipts.items import FoundItems
from cloister.services.receipts.reading import (
    Receipts,
    ShownReceipt,
    find_receipt,
    may_read_template,
    session_of_receipt,
)
from cloister.services.receipts.reply import listed_parts
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.receipts.templates import TemplateStore
from cloister.storage.stores.tenants import ProjectStore

_NOTHING = FoundItems(messages={}, memories={}, entities={}, observations={}, changed=frozenset())
_OF_CLIENT = "What the client sent itself is not stored: its prompt, its history and the results of its tools."


class PromptMessage(NamedTuple):
    role: str
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownPrompt:
    """The messages that were sent to the model, as its reader may see them now. Unless the prompt `is_exact`, `missing` says what
    is not as it was, each in a sentence."""

    messages: tuple[PromptMessage, ...]
    missing: tuple[str, ...]

    @property
    def is_exact(self) -> bool:
        return not self.missing


class ReceiptPrompts:
    """Each call reads one snapshot, and stores nothing."""

    def __init__(self, database: Database, receipts: Receipts, profiles: Profiles, clock: Clock) -> None:
        self._database = database
        self._receipts = receipts
        self._profiles = profiles
        self._clock = clock

    def get(self, reach: Reach, id: ReceiptId) -> ShownPrompt:
        with self._database.read(reach) as transaction:
            stored = find_receipt(transaction, id, self._clock())
            session, sent = session_of_receipt(transaction, stored), stored.receipt.sent
            if session is None or sent is None:
                raise Conflict(
                    f"This is the receipt of a {stored.receipt.kind}, and nothing was sent to a model for it: "
                    "only replies have a prompt."
                )
            question = stored.receipt.terms.question_id
            asked = [] if question is None else MessageStore(transaction).found(session.id, session.pool, [question])
            if not asked:
                raise NotFound("receipt", format_receipt_id(id))
            shown = self._receipts.shown(transaction, stored)
            return self._prompt(transaction, session, sent, shown, asked[0])

    def _prompt(
        self, transaction: Transaction, session: Session, sent: Sent, shown: ShownReceipt, question: Message
    ) -> ShownPrompt:
        project = None if session.project is None else ProjectStore(transaction).get(session.project)
        said = MessageStore(transaction).found(session.id, session.pool, sent.conversation)
        context = self._context(transaction, session, project, shown, question)
        conversation = tuple(Item(message, session.external_id, "session", user=session.user_id) for message in said)
        named = _named_template(transaction, shown, session, project)
        if sent.is_of_client:
            # What the client did not send itself was added to what is remembered.
            context = replace(context, relevant_history=(*context.relevant_history, *conversation))
        else:
            context = replace(context, current_conversation=conversation)
        is_default = sent.template is None and not sent.is_of_client
        template = _placeholders(sent) if named is None and not is_default else named
        messages = prompt(template, context, question)
        missing = [*shown.summary, *_changes(shown.found), *_forgotten(len(sent.conversation) - len(said))]
        if sent.template is not None and named is None:
            missing.append(_not_shown(transaction.reach, shown, sent))
        if sent.images:
            missing.append(f"{len(sent.images)} image{'' if len(sent.images) == 1 else 's'} not stored")
        if sent.is_of_client:
            missing.append(_OF_CLIENT)
        elif not missing:
            missing.extend(_other_lengths(sent, messages))
        return ShownPrompt(
            messages=tuple(PromptMessage(str(each["role"]), str(each["content"])) for each in messages),
            missing=tuple(missing),
        )

    def _context(
        self,
        transaction: Transaction,
        session: Session,
        project: Project | None,
        shown: ShownReceipt,
        question: Message,
    ) -> Context:
        """What is there now of what was recalled, without the conversation."""
        scope = session.scope(None if project is None else project.member_visibility)
        found, items = shown.found or _NOTHING, shown.receipt.items
        sent, budget = shown.receipt.sent, shown.receipt.terms.budget or DEFAULT_PROFILE_TOKENS * 4
        profile: tuple[ProfileFact, ...] = ()
        if shown.found is not None and sent is not None and wants_profile("".join(sent.placeholders)):
            tokens = min(DEFAULT_PROFILE_TOKENS, budget // 4)
            given = {item.id for item in items if item.kind == "memory"}
            facts = self._profiles.for_prompt(transaction, scope, session.id, tokens)
            profile = tuple(fact for fact in facts if not given.isdisjoint(fact.memories))
        derived = Derived(
            memories=tuple(
                found.memories[item.id]
                for item in items
                if item.kind == "memory" and item.rule != "profile" and item.id in found.memories
            ),
            entities=tuple(
                found.entities[item.id] for item in items if item.kind == "entity" and item.id in found.entities
            ),
            observations=tuple(
                found.observations[ObservationId(item.id)]
                for item in items
                if item.kind == "observation" and item.id in found.observations
            ),
            profile=profile,
        )
        return Context(
            session=session.external_id,
            project=session.project,
            current_conversation=(),
            relevant_history=tuple(_history(items, found, asked_part(question.content))),
            derived=derived,
            tokens=0,
            omitted={},
            user=session.user_id,
            shared=scope.shared,
        )


def _history(items: Sequence[ReceiptItem], found: FoundItems, question: str) -> Iterator[Item]:
    for item in items:
        said = found.messages.get(item.id) if item.kind == "message" else None
        if said is not None:
            message = said.message
            if item.is_excerpt and message.tokens > EXCERPT_TOKENS:
                message = excerpt_of(question, message, EXCERPT_TOKENS)
            yield Item(message, said.session, "semantic", user=said.user)


def _named_template(
    transaction: Transaction, shown: ShownReceipt, session: Session, project: Project | None
) -> str | None:
    """The text of the template that a receipt names, also if the prompt was edited since. None if there is none, if its reader may
    not see it, or if it is not stored. A session takes its own prompt along, and no other."""
    sent = shown.receipt.sent
    if sent is None or sent.template is None:
        return None
    now = session.system_prompt if sent.prompt == "session" else None
    if shown.shows_template and sent.prompt == "project" and project is not None:
        now = system_prompt(project.settings)
    if _digest(now) != sent.template and shown.shows_template:
        now = TemplateStore(transaction).text(shown.receipt.terms.project, sent.template)
    return now if _digest(now) == sent.template else None


def _not_shown(reach: Reach, shown: ShownReceipt, sent: Sent) -> str:
    """Why the template that a receipt names is not shown, in words."""
    if not may_read_template(reach, sent):
        return "The prompt of the project is not shown to one user's key: only what was recalled is shown of it."
    if not shown.shows_template:
        return f"The prompt of the {sent.prompt} is not shown where the session is now."
    return f"The prompt of the {sent.prompt} was changed, and its former text is not stored: only what was recalled is shown of it."


def _placeholders(sent: Sent) -> str:
    return "\n\n".join(sent.placeholders) or " "


def _digest(template: str | None) -> str | None:
    return None if template is None else hashlib.sha256(template.encode()).hexdigest()


def _changes(found: FoundItems | None) -> Iterator[str]:
    """Which items have other words now, in words."""
    kinds = [] if found is None else [kind for kind, _ in found.changed]
    for kind, many, change in (("memory", "memories", "corrected"), ("entity", "entities", "changed")):
        if count := sum(each == kind for each in kinds):
            yield f"{count:,} {kind if count == 1 else many} {change}"


def _forgotten(count: int) -> Iterator[str]:
    if count:
        yield f"{count:,} message{'' if count == 1 else 's'} of the conversation forgotten"


def _other_lengths(sent: Sent, messages: Sequence[ChatMessage]) -> Iterator[str]:
    """Where nothing else is known to have changed: which messages are not as long as they were."""
    parts, more = listed_parts(messages)
    then = [(part.role, part.characters) for part in sent.parts]
    now = [(part.role, part.characters) for part in parts]
    if (len(then), sent.more) != (len(now), more):
        yield f"{len(then) + sent.more:,} messages were sent, and {len(now) + more:,} are shown."
        return
    for (role, before), (_, length) in zip(then, now, strict=True):
        if before != length:
            yield f"A message with the role {role} had {before:,} characters, and has {length:,} now."
