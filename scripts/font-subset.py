"""Makes packages/gnn/src/pictures/font/dejavu-sans.ttf: DejaVu Sans with only the characters that pictures of
models need.

    pip install fonttools && python3 scripts/font-subset.py /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
"""

import pathlib
import sys

from fontTools import subset

OUTPUT = pathlib.Path(__file__).parent.parent / "packages/gnn/src/pictures/font/dejavu-sans.ttf"
# Latin, Greek, Cyrillic, punctuation, raised and lowered digits, letterlike signs, arrows, operators.
RANGES = [
    (0x20, 0x7E), (0xA0, 0x17F), (0x1D0, 0x1DC), (0x2B0, 0x2FF), (0x300, 0x30F), (0x370, 0x3FF), (0x400, 0x45F),
    (0x2010, 0x2027), (0x2030, 0x203A), (0x2070, 0x209C), (0x2100, 0x214F), (0x2190, 0x21D5), (0x2200, 0x22C6),
    (0xFFFD, 0xFFFD),
]  # fmt: skip

options = subset.Options(hinting=False, layout_features=["kern", "mark", "ccmp"], notdef_outline=True, name_IDs=["*"])
font = subset.load_font(sys.argv[1], options)
subsetter = subset.Subsetter(options)
subsetter.populate(unicodes=[code for first, last in RANGES for code in range(first, last + 1)])
subsetter.subset(font)
subset.save_font(font, OUTPUT, options)
print(OUTPUT.stat().st_size)
