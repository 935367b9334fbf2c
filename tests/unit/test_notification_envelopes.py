"""Envelopes between processes (ISO-4): opened once, by those who have the key, and not long after they were sealed."""

from hypothesis import given
from hypothesis import strategies as st

from cloister.storage.postgres.notification_envelopes import LARGEST_TEXT, Envelopes

KEY = b"k" * 32
MINUTE = 60_000_000


class Watch:
    def __init__(self) -> None:
        self.moment = 1_700_000_000_000_000
        self.forged = 0

    def __call__(self) -> int:
        return self.moment

    def note(self) -> None:
        self.forged += 1


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters=" "), max_size=LARGEST_TEXT // 4))
def test_what_one_process_sealed_another_opens_once(text: str) -> None:
    """Blanks at the end are padding."""
    watch = Watch()
    sending, hearing = Envelopes(KEY, "one", watch), Envelopes(KEY, "two", watch)
    payload = sending.seal(text)
    assert len(payload) < 8_000
    assert (hearing.open(payload, watch.note) or "").rstrip(" ") == text
    assert hearing.open(payload, watch.note) is None
    assert watch.forged == 0


def test_lengths_say_little() -> None:
    watch = Watch()
    sending = Envelopes(KEY, "one", watch)
    assert len({len(sending.seal("x" * length)) for length in range(200)}) == 1
    assert len(sending.seal("x" * LARGEST_TEXT)) < 8_000


def test_another_key_opens_nothing_and_is_noticed() -> None:
    watch = Watch()
    hearing = Envelopes(KEY, "two", watch)
    for payload in ("", "[]", "ü", "A" * 4_000, Envelopes(b"other", "one", watch).seal("text")):
        assert hearing.open(payload, watch.note) is None
    assert watch.forged == 5


def test_what_was_recorded_is_not_believed_later() -> None:
    """Neither of a process that was heard since, nor of one that was not."""
    watch = Watch()
    sending, heard, new = (Envelopes(KEY, name, watch) for name in ("one", "two", "three"))
    recorded = [sending.seal(str(number)) for number in range(3)]
    assert heard.open(recorded[1], watch.note)
    assert heard.open(recorded[0], watch.note) is None
    watch.moment += 11 * MINUTE
    assert new.open(recorded[2], watch.note) is None
    assert heard.open(recorded[2], watch.note), "whoever counts along needs no clock"
    assert new.open(sending.seal("now"), watch.note)
    assert watch.forged == 0


def test_only_so_many_processes_are_remembered() -> None:
    watch = Watch()
    hearing = Envelopes(KEY, "two", watch)
    for number in range(2_500):
        assert hearing.open(Envelopes(KEY, f"process {number}".replace(" ", "-"), watch).seal("x"), watch.note)
    assert len(vars(hearing)["_last"]) == 1_000
