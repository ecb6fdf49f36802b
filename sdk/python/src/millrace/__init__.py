"""The client of Millrace, a pub/sub messaging edge: see docs/clients.md."""

from . import events
from ._admin import TokenAdmin
from ._admin_types import Grant, IssuedToken, TokenInfo
from ._channel_token import channel_token
from ._link import Transport
from ._version import __version__
from .client import Client, Connecting, Delivery, connect
from .errors import LoggedOut, MillraceError
from .history import After, History, LastN
from .message import Message
from .options import Paths, QueuePolicy, Token, TokenProvider
from .subscription import OnMessage, Subscription

__all__ = [
    "After",
    "Client",
    "Connecting",
    "Delivery",
    "Grant",
    "History",
    "IssuedToken",
    "LastN",
    "LoggedOut",
    "Message",
    "MillraceError",
    "OnMessage",
    "Paths",
    "QueuePolicy",
    "Subscription",
    "Token",
    "TokenAdmin",
    "TokenInfo",
    "TokenProvider",
    "Transport",
    "__version__",
    "channel_token",
    "connect",
    "events",
]
