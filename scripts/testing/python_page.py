"""Prints the examples of a page that are no whole files, each as a function that has a client, for mypy."""

import re
import sys
import textwrap
from pathlib import Path

examples = re.findall(r"```python\n(.*?)```", Path(sys.argv[1]).read_text(), re.DOTALL)
assert examples, f"{sys.argv[1]} has no examples"
print("import os\nimport uuid\n\nimport millrace")
for number, code in enumerate(examples):
    print(f"\n\nasync def example{number}(client: millrace.Client) -> None:")
    print(textwrap.indent(code, "    "))
