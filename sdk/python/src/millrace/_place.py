"""What a subscription with a history knows about its place in it."""

from __future__ import annotations


class Place:
    """The place of an interest whose subscription was made with a history.

    One connection at a time has it: the protocol lets the next one go on exactly behind the last message,
    so a move needs no overlap, and nothing that tells messages apart.
    """

    def __init__(self, start: str) -> None:
        self.start = start
        """Where to begin on the next connection, as RSUB has it."""
        self.on: object = None
        """Which connection is being asked, or has it; its messages are taken once it is open."""
        self.open = False
        self.plain = False
        """The connection has no such history: it has a subscription without one."""
        self.paused = False
        """The queue is full: the rest stays at the edge."""
        self.forbidden = False
        """The token does not allow to read the past, on this connection."""
        self.unwanted = False
        """The edge of this connection has no history that contains the pattern."""
        self.told = False
        """The connection has reported a gap at its place."""
        self.lossy = False
        """What was asked for does not go on behind what came last."""
        self._turn = 0

    @property
    def refusal(self) -> str:
        """Why the edge gives nothing of the past, as Gap says it; empty: it does."""
        if self.forbidden:
            return "no_right"
        return "no_history" if self.plain else ""

    def begin(self, on: object) -> int:
        """Begin with a connection, before it is asked; return the turn, see is_turn."""
        self.on = on
        self.open = self.forbidden = self.unwanted = self.told = False
        self._turn += 1
        return self._turn

    def is_turn(self, turn: int) -> bool:
        """Say whether nobody has begun since, with the same connection or another one."""
        return turn == self._turn

    def pause(self) -> None:
        """Take nothing more of the connection."""
        self.paused = True
        self.on = None
        self.open = False

    def takes(self, source: object, position: str) -> bool:
        """Say whether a message or line with a position, of a connection, is for the application."""
        return self.on is source and self.open and not self.plain and not _is_behind(position, self.start)


def _is_behind(position: str, start: str) -> bool:
    """Say whether the first of two positions is not behind the second one.

    The protocol rules that out; an edge that breaks it costs nothing then.
    """
    epoch, n, _ = position.split(".")
    last = start.split(".")
    if len(last) != 3 or last[0] != epoch:
        return False
    m = last[1]
    return n <= m if len(n) == len(m) else len(n) < len(m)
