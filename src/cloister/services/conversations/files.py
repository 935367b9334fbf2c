"""The files that an assistant stores with Anthropic's memory tool: one tree for each session, in the pool that the session is
in."""

from cloister.domain.files.commands import FileAnswer, FileCommand, run_command
from cloister.domain.files.tree import FileError, FileTree, Removed
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.services.conversations.forget import Forgetting
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.files.trees import FileStore
from cloister.storage.stores.sessions import SessionStore


class MemoryFiles:
    """Each command is one transaction. Files are neither indexed nor recalled: the assistant reads them itself."""

    def __init__(self, database: Database, forgetting: Forgetting, clock: Clock) -> None:
        self._database = database
        self._forgetting = forgetting
        self._clock = clock

    def run(self, reach: Reach, external_id: str, command: FileCommand) -> FileAnswer:
        """Carry out any command. Raises `NotFound` if there is no such session."""
        call = self.view if command.name == "view" else self.change
        return call(reach, external_id, command)

    def view(self, reach: Reach, external_id: str, command: FileCommand) -> FileAnswer:
        """Answer a `view`, which reads only."""
        with self._database.read(reach) as transaction:
            session = SessionStore(transaction).get(external_id)
            store = FileStore(transaction, session.id, session.pool)
            return _answer(FileTree(store.sizes(), store.text), command)

    def change(self, reach: Reach, external_id: str, command: FileCommand) -> FileAnswer:
        """Carry out a command that may change files."""

        def work(transaction: Transaction) -> tuple[FileAnswer, bool]:
            session = SessionStore(transaction).lock(external_id).session
            store = FileStore(transaction, session.id, session.pool)
            tree = FileTree(store.sizes(), store.text)
            answer = _answer(tree, command)
            store.apply(tree.changes, self._clock())
            return answer, any(isinstance(change, Removed) for change in tree.changes)

        answer, has_removed = self._database.write(reach, work)
        if has_removed:
            self._forgetting.clean_up()
        return answer


def _answer(tree: FileTree, command: FileCommand) -> FileAnswer:
    try:
        return FileAnswer(text=run_command(tree, command), is_error=False)
    except FileError as error:
        return FileAnswer(text=str(error), is_error=True)
