"""Make the content-free page clones: files with the structure and the exact byte sizes of published pages.

For: `python pages/make_clones.py` rewrites every `pages/NAME/site/` from the definitions below. The result is
committed, and a test compares both. Not for: serving or loading pages. Sizes: Sengupta et al. (IEEE TNSM 2024), section
III and IV-D, with a description of the page types. Where the paper gives no size, this file states the substitute. The
files contain no byte of the original pages: text is the letter x, images are one colour, and padding brings each file
to its size.

The three classes, by the paper's names: an HTML page (`example`; its size is example.org's as served in 2022), an HTML
page with JavaScript (`wikipedia`; every size is the paper's), an HTML page with JavaScript and CSS (`instagram`).

For the third page, the paper gives no byte size, only the parts: seven scripts, two style sheets, a cookie banner, a
login form and images, all inserted by scripts (section IV-D). Size and computing are inferred from the page load times.
The five medians over DoUDP with H3 1-RTT fit T = c + k x RTT + bytes x 8 / rate with k = 6.8, 1,376 kB on the wire and
c = 464 ms, residuals within 28 ms. The same fit gives k = 3.0 and c = 83 ms for `example`, k = 3.1, 49 kB and c = 582
ms for `wikipedia`. Hence the bodies have 1,280,000 bytes (1,376 kB less headers, padding and acknowledgements). The
scripts compute for about the excess of c over the example's c. The split of both over the files is our choice.
"""

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent
WORK_ROUNDS = 210_000_000
"""The rounds of a linear congruential generator computed by the scripts of `instagram` on the page's main thread, in
equal shares. A compiled round took 1.8 ns on the author's machine (a multiplication and an addition in sequence),
hence the rounds take about 0.38 s; 0 makes the scripts next to free. The button's colour is the result."""
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
    """Pad a text file to its size with a comment at the end."""
    room = size_bytes - len(text) - len(opening) - len(closing)
    if room < 0:
        raise ValueError(f"the text is {-room} bytes too long for {size_bytes} bytes")
    return (text + opening + "x" * room + closing).encode()


def words(count: int) -> str:
    """Make text without meaning."""
    return " ".join(["xxx"] * count)


def example() -> dict[str, bytes]:
    """Make one document of two paragraphs, nothing else."""
    style = "<style>body{background:#f0f0f2;font-family:sans-serif}div{width:600px;margin:5em auto;padding:2em}</style>"
    text = f"<h1>{words(2)}</h1><p>{words(28)}</p><p><a href='#'>{words(3)}</a></p>"
    body = f"</head><body><div>{text}</div></body></html>\n"
    return {"index.html": padded(HEAD.format(title="example clone") + style + body, "<!--", "-->\n", 1256)}


def wikipedia() -> dict[str, bytes]:
    """Make the portal page: a document with inline style, two PNG logos, an SVG sprite, a script at the end."""
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


INSTAGRAM_SCRIPTS = {"runtime": 18, "vendor": 407, "style": 60, "images": 90, "consent": 60, "login": 150, "main": 260}
"""The sizes of the scripts in thousand bytes, in order of execution."""
WORK_SEED = 1
MULTIPLIER, INCREMENT = 1664525, 1013904223


def work_colour(rounds: int) -> str:
    """Return the final colour of the `instagram` scripts: bits 8 to 31 after `rounds` steps, by squaring the step."""
    multiplier, increment, factor, term = MULTIPLIER, INCREMENT, 1, 0
    while rounds:
        if rounds & 1:
            factor, term = factor * multiplier, term * multiplier + increment
        multiplier, increment = multiplier * multiplier % 2**32, increment * (multiplier + 1) % 2**32
        factor, term, rounds = factor % 2**32, term % 2**32, rounds >> 1
    return f"#{(factor * WORK_SEED + term) % 2**32 >> 8:06x}"


def _instagram_scripts(rounds: int) -> dict[str, str]:
    """Write the action of each script after its share of the work; the test knows positions (px) and colours."""
    share, last = rounds // len(INSTAGRAM_SCRIPTS), rounds - rounds // len(INSTAGRAM_SCRIPTS) * 6
    step = f"Math.imul(x,{MULTIPLIER})+{INCREMENT}|0"
    runtime = (
        f"window.clone={{x:{WORK_SEED},"
        f"work:function(rounds){{let x=clone.x;for(let i=0;i<rounds;i++)x={step};clone.x=x}},"
        "put:function(parent,tag,style,text){const one=document.createElement(tag);one.style.cssText=style;"
        "if(text)one.textContent=text;parent.appendChild(one);return one}};\n"
    )
    image = "position:absolute;left:{}px;top:{}px;width:{}px;height:{}px"
    pictures = [("logo.png", 100, 60, 200, 60), ("store-1.png", 700, 440, 160, 48), ("store-2.png", 880, 440, 160, 48)]
    does = {
        "runtime": "",
        "vendor": "clone.root=document.getElementById('root');\n",
        "style": "clone.parts=clone.put(clone.root,'div','');clone.parts.className='parts';\n"
        "for(let i=0;i<400;i++)clone.put(clone.parts,'span','','x'.repeat(3+7*i%8));\n",
        "images": "".join(
            f"clone.put(clone.root,'img','{image.format(*place)}').src='{file}';\n" for file, *place in pictures
        ),
        "consent": "clone.banner=clone.put(document.body,'div','');clone.banner.className='banner';\n"
        "clone.put(clone.banner,'button','','xxxxxx xxx');\n",
        "login": "clone.form=clone.put(clone.root,'form','');clone.form.className='login';\n"
        "for(let i=0;i<2;i++)clone.put(clone.form,'input','').name='x'+i;\n"
        "clone.button=clone.put(clone.form,'div','','');clone.button.className='button';\n",
        "main": "clone.button.style.background='#'+('00000'+(clone.x>>>8).toString(16)).slice(-6);\n",
    }
    return {
        name: (runtime if name == "runtime" else "") + f"clone.work({last if name == 'main' else share});\n" + text
        for name, text in does.items()
    }


def instagram(work_rounds: int = WORK_ROUNDS) -> dict[str, bytes]:
    """Make the log-in page: an almost empty document, two style sheets, and seven scripts making the content."""
    links = '<link rel="stylesheet" href="base.css"><link rel="stylesheet" href="page.css">\n'
    scripts = "".join(f'<script src="{name}.js" defer></script>\n' for name in INSTAGRAM_SCRIPTS)
    html = HEAD.format(title="instagram clone") + links + scripts + '</head><body><div id="root"></div></body></html>\n'
    base = "body{margin:0;background:#fafafa;font:14px sans-serif}#root{position:relative;height:720px}\n"
    page = (
        ".parts{position:absolute;left:100px;top:160px;width:520px;height:360px;overflow:hidden}"
        ".parts span{display:inline-block;padding:2px;margin:2px;border:1px solid #dbdbdb}\n"
        ".login{position:absolute;left:700px;top:60px;width:340px;height:340px;background:#d0e8d0}"
        ".login input{display:block;box-sizing:border-box;width:300px;height:40px;margin:30px 20px 0}"
        ".button{position:absolute;left:20px;top:220px;width:300px;height:60px}\n"
        ".banner{position:absolute;left:0;top:560px;width:100%;height:120px;background:#402060}"
        ".banner button{position:absolute;right:40px;top:40px;height:40px}\n"
    )
    files = {
        "index.html": padded(html, "<!--", "-->\n", 32_000),
        "base.css": padded(base, "/*", "*/\n", 122_000),
        "page.css": padded(page, "/*", "*/\n", 51_000),
        "logo.png": png(200, 60, 0x22, 12_000),
        "store-1.png": png(160, 48, 0x55, 9_000),
        "store-2.png": png(160, 48, 0x88, 9_000),
    }
    does = _instagram_scripts(work_rounds)
    sized = {f"{name}.js": padded(does[name], "/*", "*/\n", 1000 * size) for name, size in INSTAGRAM_SCRIPTS.items()}
    return files | sized


CLONES: dict[str, Callable[[], dict[str, bytes]]] = {
    "example": example,
    "wikipedia": wikipedia,
    "instagram": instagram,
}


def main() -> None:
    """Write every clone to its folder."""
    for name, make in CLONES.items():
        folder = ROOT / name / "site"
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in make().items():
            (folder / file).write_bytes(content)


if __name__ == "__main__":
    main()
