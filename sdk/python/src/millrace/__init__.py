"""The client of Millrace, a pub/sub messaging edge: see docs/clients.md."""

from ._version import __version__

__all__ = ["__version__"]
