"""Writes the files in Python that pages show, blocks such as ```python hello.py, into a folder."""

import pathlib
import re
import sys

folder, *pages = map(pathlib.Path, sys.argv[1:])
for page in pages:
    found = re.findall(r"^```python (\S+)\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    if not found:
        sys.exit(f"{page} shows no file in Python")
    for name, text in found:
        (folder / f"{page.stem.lower()}_{name}").write_text(text)
