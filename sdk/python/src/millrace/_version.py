# The version of all of Millrace; the test of internal/version compares it.
__version__ = "0.1.0"
