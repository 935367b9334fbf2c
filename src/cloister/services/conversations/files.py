"""The files that an assistant stores with Anthropic's memory tool: one tree for each session, in the pool that the session is
in."""

from collections.abc import Collection, Iterable

from cloister.domain.files.answer import FileAnswer
from cloister.domain.files.commands import FileCommand, run_command
from cloister.domain.files.tree import Change, FileError, FileTree, Path, Removed, Stored
from cloister.domain.scope import Reach
from cloister.domain.sessions.expected import ANY_SESSION, ExpectedSession
from cloister.domain.timestamps import Clock
from cloister.domain.usage import Limits, refuse_over
from cloister.services.conversations.expected import check_expected
from cloister.services.conversations.forget import Forgetting
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.files.trees import FileStore, count_files
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.usage import UsageStore


class MemoryFiles:
    """Each command is one transaction. Files are neither indexed nor recalled: the assistant reads them itself."""

    def __init__(self, database: Database, forgetting: Forgetting, clock: Clock, limits: Limits) -> None:
        self._database = database
        self._forgetting = forgetting
        self._clock = clock
        self._limits = limits

    def run(
        self, reach: Reach, external_id: str, command: FileCommand, expected: ExpectedSession = ANY_SESSION
    ) -> FileAnswer:
        """Carry out any command. Raises `NotFound` if there is no such session, and `Conflict` if it is not as expected."""
        call = self.view if command.name == "view" else self.change
        return call(reach, external_id, command, expected)

    def view(
        self, reach: Reach, external_id: str, command: FileCommand, expected: ExpectedSession = ANY_SESSION
    ) -> FileAnswer:
        """Answer a `view`, which reads only."""
        with self._database.read(reach) as transaction:
            session = SessionStore(transaction).get(external_id)
            check_expected(transaction, session, expected)
            store = FileStore(transaction, session.id, session.pool)
            return _answer(FileTree(store.sizes(), store.text), command)

    def change(
        self, reach: Reach, external_id: str, command: FileCommand, expected: ExpectedSession = ANY_SESSION
    ) -> FileAnswer:
        """Carry out a command that may change files."""

        def work(transaction: Transaction) -> tuple[FileAnswer, bool]:
            session = SessionStore(transaction).lock(external_id).session
            check_expected(transaction, session, expected)
            store = FileStore(transaction, session.id, session.pool)
            sizes = store.sizes()
            tree = FileTree(sizes, store.text)
            answer = _answer(tree, command)
            self._check_quota(transaction, _new_files(tree.changes) - sizes.keys())
            store.apply(tree.changes, self._clock())
            return answer, any(isinstance(change, Removed) for change in tree.changes)

        answer, has_removed = self._database.write(reach, work)
        if has_removed:
            self._forgetting.clean_up()
        return answer

    def _check_quota(self, transaction: Transaction, new: Collection[Path]) -> None:
        """Files are counted only where there is a limit."""
        limit = UsageStore(transaction).limits().over(self._limits).files if new else None
        if limit is not None:
            refuse_over("files", count_files(transaction), len(new), limit)


def _new_files(changes: Iterable[Change]) -> set[Path]:
    return {change.path for change in changes if isinstance(change, Stored) and change.text is not None}


def _answer(tree: FileTree, command: FileCommand) -> FileAnswer:
    try:
        return FileAnswer(text=run_command(tree, command), is_error=False)
    except FileError as error:
        return FileAnswer(text=str(error), is_error=True)
