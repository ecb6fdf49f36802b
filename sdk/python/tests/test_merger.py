"""What two connections bring is given once and in order."""

from __future__ import annotations

import random

from millrace._late import Late
from millrace._merger import Merger
from millrace._shelf import Entry, key_of
from millrace._wire import Delivered


def m(text: str, channel: str = "c", tenant: str = "t", payload: bytes | None = None) -> Delivered:
    return Delivered(tenant, channel, text.encode() if payload is None else payload, ("c",), None, "")


def text_of(message: Delivered | None) -> str | None:
    return None if message is None else message.payload.decode()


def test_what_tells_messages_apart() -> None:
    merger = Merger()
    merger.from_current(m("x"), 0)
    assert not merger.late(m("x", "d"), 0)
    assert not merger.late(m("x", "c", "u"), 0)
    assert not merger.late(m("y"), 0)
    assert merger.late(m("x"), 0)
    assert not merger.late(m("x"), 0)
    merger.from_current(m("x"), 0)
    assert not merger.late(m("x"), 1)  # a second later it is another one


def test_done() -> None:
    merger = Merger()
    assert merger.done(0)
    merger.from_current(m("a"), 0)
    assert not merger.done(0.999)
    assert merger.done(1)


def test_bounds_by_number() -> None:
    merger = Merger()
    for n in range(65_537):
        merger.from_current(m(str(n)), 0)
    assert not merger.late(m("0"), 0)  # the oldest note is forgotten
    assert merger.late(m("1"), 0)
    for n in range(65_536):
        assert merger.from_next(m(f"p{n}"), 0, False) is None
    assert text_of(merger.from_next(m("one more"), 0, False)) == "p0"
    assert merger.from_current(m("p0"), 0) is False  # it was given
    assert merger.from_current(m("p1"), 0) is True
    assert len(merger.release()) == 65_535


def test_bounds_by_bytes() -> None:
    def big(n: int) -> Delivered:
        return m("", payload=bytes([n]) * (1 << 20))

    merger = Merger()
    for n in range(16):
        merger.from_current(big(n), 0)  # names count, too, so 16 are one too many
    assert not merger.late(big(0), 0)
    assert merger.late(big(15), 0)
    for n in range(15):
        assert merger.from_next(big(n + 100), 0, False) is None
    given = merger.from_next(big(200), 0, False)
    assert given is not None
    assert given.payload[0] == 100


def test_random_moves() -> None:
    """Two edges deliver the same messages, each in order and with gaps at its own end."""
    for seed in range(500):
        dice = random.Random(seed)  # noqa: S311
        every = [str(n) for n in range(60)]
        start = dice.randrange(20)  # the second has no earlier ones
        end = start + dice.randrange(60 - start)  # the first has no later ones
        first, second = every[:end], every[start:]
        merger = Merger()
        given: list[str | None] = []
        released = False
        while first or second or not released:
            if not first and not released and dice.randrange(3) == 0:
                released = True
                given += [text_of(message) for message in merger.release()]
            turn = dice.choice((first, second))
            if not turn:
                continue
            message = m(turn.pop(0))
            if turn is first:
                merger.from_current(message, seed)
                given.append(text_of(message))
            elif released:
                if not merger.late(message, seed):
                    given.append(text_of(message))
            elif (now := merger.from_next(message, seed, False)) is not None:
                given.append(text_of(now))
        assert given == every, seed


def test_a_second_connection_that_has_ended() -> None:
    merger = Merger()
    merger.from_next(m("a"), 0, False)
    merger.from_next(m("b"), 0.5, False)
    merger.orphan()
    merger.from_next(m("a"), 0.9, False)  # the same
    merger.from_next(m("c"), 0.9, False)
    merger.from_next(m("b"), 1.5, False)  # a second later: another one
    assert [text_of(message) for message in merger.release()] == ["a", "b", "c", "b"]


def test_the_first_connection_is_back() -> None:
    merger = Merger()
    merger.from_next(m("0"), 0, True)
    merger.from_next(m("1"), 0, False)
    assert [entry.key for entry in merger.given] == [key_of(m("0"))]
    merger.keep_current(5)
    assert merger.behind == 0
    assert merger.late(m("0"), 5.5)
    assert not merger.late(m("1"), 5.5)
    assert merger.done(5.5)


def test_late() -> None:
    late = Late([], 0)
    assert late.from_current(m("both"), 0)
    assert late.from_trail(m("both"), 0.1) is None
    assert late.from_trail(m("both"), 0.2) is None  # another one: it waits
    assert late.from_trail(m("soon"), 0.3) is None
    assert late.from_current(m("soon"), 0.4)
    assert late.next_due == 1.2
    assert late.due(1.19) == []
    assert [text_of(message) for message in late.due(1.21)] == ["both"]
    assert late.next_due is None


def test_too_much_waits() -> None:
    """The oldest is given, and not again."""
    late = Late([], 0)
    for n in range(65_536):
        assert late.from_trail(m(str(n)), 0) is None
    assert text_of(late.from_trail(m("one more"), 0.1)) == "0"
    assert late.from_current(m("0"), 0.5) is False
    assert late.from_current(m("0"), 0.5) is True  # another one
    assert text_of(late.from_trail(m("two more"), 0.6)) == "1"
    assert late.from_current(m("1"), 1.6) is True  # a second later it is another one


def test_what_was_given_before_and_what_waits_already() -> None:
    before = Late([], 0)
    before.from_trail(m("waits"), 0.5)
    before.from_current(m("noted"), 0.5)  # of the one before
    late = Late([Entry(key_of(m("given")), 0, None)], 1, before)
    assert late.next_due == 1.5
    late.from_trail(m("given"), 1)
    late.from_trail(m("noted"), 1)
    assert [text_of(message) for message in late.due(1.5)] == ["waits"]
    late.renew(3)
    assert late.due(2) == []
    assert [text_of(message) for message in late.due(4)] == ["noted"]


def test_many_come_and_go_behind_one_that_stays() -> None:
    late = Late([], 0)
    late.from_trail(m("stays"), 0)
    for n in range(50_000):
        late.from_trail(m(str(n)), 0)
        late.from_current(m(str(n)), 0)
    assert len(late._waiting._order) < 5000
    late.from_trail(m("and the last"), 0)
    assert [text_of(message) for message in late.due(1)] == ["stays", "and the last"]
