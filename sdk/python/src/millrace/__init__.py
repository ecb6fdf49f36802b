"""The client of Millrace, a pub/sub messaging edge: see docs/reference/python.md."""

from . import events
from ._admin import TokenAdmin
from ._admin_types import Grant, IssuedToken, TokenInfo
from ._channel_token import channel_token
from ._connecting import Connecting, connect
from ._link import Transport
from ._tenant import Tenant
from ._token_from import token_from
from ._version import __version__
from .client import Client, Delivery
from .errors import LoggedOut, MillraceError
from .history import After, History, LastN
from .member import Member, PresenceChange
from .message import Message
from .options import AccessToken, Paths, QueuePolicy, TokenProvider
from .presence import Membership, Presence
from .subscription import OnMessage, Subscription

__all__ = [
    "AccessToken",
    "After",
    "Client",
    "Connecting",
    "Delivery",
    "Grant",
    "History",
    "IssuedToken",
    "LastN",
    "LoggedOut",
    "Member",
    "Membership",
    "Message",
    "MillraceError",
    "OnMessage",
    "Paths",
    "Presence",
    "PresenceChange",
    "QueuePolicy",
    "Subscription",
    "Tenant",
    "TokenAdmin",
    "TokenInfo",
    "TokenProvider",
    "Transport",
    "__version__",
    "channel_token",
    "connect",
    "events",
    "token_from",
]
