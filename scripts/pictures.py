"""Makes the pictures of the documents, lossless WebP, from PNGs: pictures.py FROM TO.

Each PNG in the folder FROM becomes a picture in the folder TO, and each folder in it with a
frames.json, which integration/pictures writes, a moving one."""

import json
import sys
from pathlib import Path

from PIL import Image

source, target = map(Path, sys.argv[1:])
for file in source.glob("*.png"):
    Image.open(file).save(target / f"{file.stem}.webp", lossless=True, quality=100, method=6)
for listed in source.glob("*/frames.json"):
    frames = json.loads(listed.read_text())
    first, *others = (Image.open(listed.parent / frame["file"]) for frame in frames)
    first.save(
        target / f"{listed.parent.name}.webp",
        save_all=True,
        append_images=others,
        duration=[frame["ms"] for frame in frames],
        loop=0,  # without an end
        lossless=True,
        method=4,
        minimize_size=True,
    )
