"""Make the content-free page clones: files with the structure and the exact byte sizes of published pages.

For: `python pages/make_clones.py` rewrites every `pages/NAME/site/` from what stands below; the result is committed,
and a test compares both. Not for: serving or loading them. Sizes: Sengupta et al. (IEEE TNSM 2024), where the page
types are described; the example document's size is example.org's as served in 2022. No byte of the original pages is
in here: text is the letter x, images are one colour, and padding brings each file to its size.
"""

import struct
import zlib
from pathlib import Path

ROOT = Path(__file__).parent
HEAD = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
    '<meta name="viewport" content="width=device-width,initial-scale=1"><link rel="icon" href="data:,">\n'
)


def png(width: int, height: int, shade: int, size_bytes: int) -> bytes:
    """Build a valid grey PNG of exactly `size_bytes`, padded in a private ancillary chunk (PNG section 4.7)."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = (b"\0" + bytes([shade]) * width) * height
    start = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    end = chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return start + chunk(b"paDd", bytes(size_bytes - len(start) - len(end) - 12)) + end


def padded(text: str, opening: str, closing: str, size_bytes: int) -> bytes:
    """Bring a text file to its size with one comment at its end."""
    room = size_bytes - len(text) - len(opening) - len(closing)
    if room < 0:
        raise ValueError(f"the text is {-room} bytes too long for {size_bytes} bytes")
    return (text + opening + "x" * room + closing).encode()


def words(count: int) -> str:
    """Make text without meaning: words of three to nine letters."""
    return " ".join("x" * (3 + (7 * number) % 7) for number in range(count))


def example() -> dict[str, bytes]:
    """One document of two paragraphs, nothing else."""
    style = "<style>body{background:#f0f0f2;font-family:sans-serif}div{width:600px;margin:5em auto;padding:2em}</style>"
    text = f"<h1>{words(2)}</h1><p>{words(28)}</p><p><a href='#'>{words(3)}</a></p>"
    body = f"</head><body><div>{text}</div></body></html>\n"
    return {"index.html": padded(HEAD.format(title="example clone") + style + body, "<!--", "-->\n", 1256)}


def wikipedia() -> dict[str, bytes]:
    """Portal page: a document with inline style, two PNG logos, an SVG sprite by the style, a script at the end."""
    style = (
        "<style>body{font:14px sans-serif;margin:0 auto;max-width:60em}.sprite{background:url(sprite.svg) no-repeat;"
        "display:inline-block;width:48px;height:48px}nav a{display:inline-block;width:9em;padding:.4em}"
        "</style></head>\n"
    )
    top = f'<body><h1>{words(2)}</h1><img src="logo.png" width="200" height="183" alt=""><div class="sprite"></div>\n'
    links = "".join(f'<a href="#l{number}"><b>{words(1)}</b> <small>{words(4)}</small></a>\n' for number in range(190))
    foot = (
        f'<footer><i class="sprite"></i><img src="mark.png" width="88" height="31" alt=""><p>{words(60)}</p></footer>\n'
    )
    html = HEAD.format(title="wikipedia clone") + style + top + f"<nav>{links}</nav>" + foot
    html += '<script src="index.js"></script></body></html>\n'
    square = "<rect width='48' height='48' fill='#888'/>"
    svg = f"<svg xmlns='http://www.w3.org/2000/svg' width='48' height='48'>{square}</svg>"
    script = "document.documentElement.className='js';\n"
    return {
        "index.html": padded(html, "<!--", "-->\n", 18252),
        "logo.png": png(200, 183, 0x99, 15857),
        "mark.png": png(88, 31, 0x66, 2039),
        "sprite.svg": padded(svg, "<!--", "-->\n", 17229),
        "index.js": padded(script, "/*", "*/\n", 614),
    }


CLONES = {"example": example, "wikipedia": wikipedia}


def main() -> None:
    """Write every clone."""
    for name, make in CLONES.items():
        folder = ROOT / name / "site"
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in make().items():
            (folder / file).write_bytes(content)


if __name__ == "__main__":
    main()
