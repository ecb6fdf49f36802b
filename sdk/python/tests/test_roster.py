"""What is shown, and what readers are told, against a model."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

from millrace import Presence
from millrace._presence_frame import MemberEntry, PresenceFrame
from millrace._roster import Roster, View
from millrace.presence import Kept

Shown = dict[tuple[str, str], int]


class Reader:
    """Reads changes now and then, and applies them to what it saw when it began."""

    def __init__(self, roster: Roster, count: bool) -> None:
        self.presence = Presence("t", "#", self, roster, count)
        roster.listeners.append(self.presence)
        self.members = {(m.channel, m.subject): m for m in self.presence.members}
        self.counts = dict(self.presence.counts)
        self.count = count

    def leave(self, kept: Kept) -> None:
        raise AssertionError("it has not ended")

    def is_synced(self, kept: Kept) -> bool:
        return True

    def read(self, most: int) -> None:
        for _ in range(most):
            change = self.presence._next()
            if change is None:
                return
            if change.count is not None:
                assert self.counts.get(change.channel, 0) != change.count or not self.count
                self.counts[change.channel] = change.count
                continue
            assert change.member is not None
            key = change.channel, change.member.subject
            before = self.members.pop(key, None)
            assert (before is None) == (change.type == "joined")
            if change.type == "left":
                assert before == change.member  # as it was
            else:
                assert before != change.member
                self.members[key] = change.member

    def check(self) -> None:
        """Read all that is left: then it is as shown.

        Who gets members gets counts only while the edge sends those: then the members say it again.
        """
        self.read(1 << 30)
        if self.count:
            assert {channel: n for channel, n in self.counts.items() if n} == self.presence.counts
        assert tuple(sorted(self.members.values(), key=lambda m: (m.channel, m.subject))) == (
            self.presence.members
        )


class Source:
    """An edge, which knows who is present, and tells a view of it as fast as a test says."""

    def __init__(self, seed: random.Random, now: Shown, counts: bool) -> None:
        self.view = View(counts)
        self.random = seed
        self.now = now
        self.told: Shown | None = None  # None: it starts over

    def frames(self) -> list[PresenceFrame]:
        """Return all that is to be told now."""
        before, now = self.told, dict(self.now)
        self.told = now
        first = before is None
        before = before or {}
        if self.view.counts:
            counts, was = _tally(now), _tally(before)
            entries = [(c, counts[c]) for c in {**counts, **was} if counts[c] != was[c]]
            return [PresenceFrame("t", "#", first, first, True, (), tuple(entries))]
        changed = [key for key in {**before, **now} if before.get(key) != now.get(key)]
        self.random.shuffle(changed)
        members = [MemberEntry(*key, key in now, now.get(key, 0), b"") for key in changed]
        pages = [members[n : n + 2] for n in range(0, len(members), 2)] or [[]]
        return [
            PresenceFrame("t", "#", first and n == 0, first and n == len(pages) - 1, False, tuple(page), ())
            for n, page in enumerate(pages)
        ]


def _tally(shown: Shown) -> Counter[str]:
    return Counter(channel for channel, _ in shown)


def one_round(seed: random.Random) -> None:
    roster, now = Roster(), {}  # type: Roster, Shown
    counts = seed.random() < 0.3
    source = Source(seed, now, counts)
    readers: list[Reader] = []
    for _ in range(200):
        channel, subject = seed.choice("abc"), seed.choice("xyz")
        if seed.random() < 0.5:
            now[channel, subject] = seed.randrange(1, 4)
        else:
            now.pop((channel, subject), None)
        act = seed.random()
        if act < 0.4:
            for frame in source.frames():
                shown = roster.sorted
                roster.take(source.view, frame)
                assert source.view.synced or roster.sorted == shown  # never in between
        elif act < 0.45:
            source.told = None  # it starts over on the same connection
        elif act < 0.5:
            source = Source(seed, now, counts)  # another connection
        elif act < 0.55 and not counts and source.view.synced:
            far = tuple((channel, seed.randrange(9)) for channel in "abc")
            roster.take(source.view, PresenceFrame("t", "#", False, False, True, (), far))
            assert roster.counts == {channel: n for channel, n in far if n}
        elif act < 0.6:
            readers.append(Reader(roster, counts or seed.random() < 0.5))
        elif readers:
            seed.choice(readers).read(seed.randrange(4))
    source.told = None
    for frame in source.frames():
        roster.take(source.view, frame)
    assert roster.counts == _tally(now)
    assert [*roster.members] == ([] if counts else [*source.view.data])
    assert {key: round(m.since.timestamp() * 1000) for key, m in roster.members.items()} == (
        {} if counts else now
    )
    for reader in readers:
        reader.check()


async def test_readers_are_told_what_is_shown() -> None:
    for _ in range(30):
        number = random.randrange(1 << 32)  # noqa: S311
        try:
            one_round(random.Random(number))  # noqa: S311
        except AssertionError as err:
            raise AssertionError(f"with the seed {number}") from err
        await asyncio.sleep(0)


async def test_a_reader_that_never_reads_is_bounded() -> None:
    roster, view = Roster(), View(False)

    def tell(bits: bool, *entries: MemberEntry) -> None:
        roster.take(view, PresenceFrame("t", "#", bits, bits, False, entries, ()))

    tell(True)
    reader = Reader(roster, False)
    counter = Reader(roster, True)
    for n in range(10_000):
        tell(False, MemberEntry("c", f"s{n}", True, 1, b""))
        tell(False, MemberEntry("c", f"s{n}", n % 1000 == 0, 1, b""))
    assert len(reader.presence._changes._told) == len(roster.members) == 10
    assert len(counter.presence._changes._told) == 1
    reader.read(1 << 30)
    assert len(reader.members) == 10
