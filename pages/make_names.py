"""Make the pages of many host names: files without content, spread over a realistic number of names.

For: `python pages/make_names.py` rewrites `pages/names-*/` from the definitions below. The result is committed, and a
test compares both. Not for: clones of one published page (`make_clones`), serving or loading.

Numbers. In 19 captures of 2019 to 2026, the median page queried 12 names, the upper quartile 78. The busiest name
served 0.42 of the requests (lower quartile 0.19), and 0.43 of the names served a single request. The HTTP Archive Web
Almanac 2025 (desktop, July 2025) has chapters on page weight and third parties. There, the median page has 77 requests
and 2,412 kB, 23 of them scripts with 708 kB, 8 style sheets with 82 kB, HTML of 22 kB. At the 10th, 25th, 50th, 75th
and 90th percentile, scripts have 0.4, 1.2, 4.6, 21.8 and 83.5 kB. Images have 0, 1, 8, 48 and 183 kB (0.1 here for 0).
Inclusion chains are 3 deep.

`names-32` is the median page. Images replace everything but HTML, CSS and JavaScript: a font of another origin needs a
response field missing in the edge. `names-12` and `names-4` are lighter, an eighth and a sixteenth of the median page's
bytes beside HTML; links of 1 Mbit/s carry these pages in seconds. `names-12-chain` has the files of `names-12` at the
same names. The document names only the files of the first step, their scripts request the files of the second, and the
next steps follow alike.
"""

import math
from dataclasses import dataclass
from pathlib import Path

from make_clones import HEAD, ROOT, padded, png

HTML_BYTES = 22_000
CSS_BYTES, JS_BYTES, OTHER_BYTES = 82_000, 708_000, 1_600_000
"""The bytes of the median page."""
PERCENTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
JS_FILE_KB = (0.4, 1.2, 4.6, 21.8, 83.5)
IMAGE_FILE_KB = (0.1, 1, 8, 48, 183)
SMALLEST_BYTES = {"css": 300, "js": 1_500, "png": 150}
SOURCE = (
    "Numbers of requests, names and bytes after the HTTP Archive Web Almanac 2025 and captures of 2019 to 2026, as "
    "pages/make_names.py says. Content-free, made by pages/make_names.py."
)


@dataclass(frozen=True)
class PageSpec:
    """The specification of a page."""

    names: int
    css: int
    js: int
    png: int
    share: float
    """The ratio of the page's bytes beside HTML to the median page's bytes."""
    first_party_ratio: float
    """The share of requests served by the document's name."""
    depth: int = 1
    """The number of steps from the document to the last name: 1 when the document has all names."""

    @property
    def requests(self) -> int:
        """The number of requests, including the document's."""
        return 1 + self.css + self.js + self.png


SPECS = {
    "names-4": PageSpec(names=4, css=2, js=5, png=6, share=1 / 16, first_party_ratio=0.42),
    "names-12": PageSpec(names=12, css=4, js=16, png=19, share=1 / 8, first_party_ratio=0.42),
    "names-12-chain": PageSpec(names=12, css=4, js=16, png=19, share=1 / 8, first_party_ratio=0.42, depth=3),
    "names-32": PageSpec(names=32, css=8, js=23, png=45, share=1, first_party_ratio=0.3),
}


@dataclass(frozen=True)
class PageFile:
    """A file at a name of the page."""

    owner: int
    """The number of the name, 0 for the document's."""
    name: str
    size_bytes: int

    @property
    def kind(self) -> str:
        """The ending of the file's name."""
        return self.name.rpartition(".")[2]


def host(page: str, number: int) -> str:
    """Return the name with this number: the document's, or a name below the document's."""
    return f"{page}.resolab.test" if number == 0 else f"n{number:02}.{page}.resolab.test"


def requests_by_name(spec: PageSpec) -> list[int]:
    """Distribute the requests: the first party's, single ones for 0.43 of the names, the rest falling by rank."""
    first = round(spec.requests * spec.first_party_ratio)
    others, left = spec.names - 1, spec.requests - first
    single = round(0.43 * spec.names)
    busy = others - single
    counts = [2] * busy
    weights = [1 / (rank + 1) for rank in range(busy)]
    for _ in range(left - single - 2 * busy):
        at = max(range(busy), key=lambda rank: weights[rank] / counts[rank])
        counts[at] += 1
    return [first, *counts, *([1] * single)]


def sizes(kind: str, count: int, total_bytes: int) -> list[int]:
    """Return sizes at equally spaced quantiles of the published percentiles, scaled to their sum, neighbours unlike."""
    if kind == "css":
        shape = [1.0] * count
    else:
        shape = [_quantile(JS_FILE_KB if kind == "js" else IMAGE_FILE_KB, (at + 0.5) / count) for at in range(count)]
    least = SMALLEST_BYTES[kind]
    scale = (total_bytes - least * count) / sum(shape)
    found = [least + int(one * scale) for one in shape]
    found[-1] += total_bytes - sum(found)
    stride = next(step for step in range(count // 2 + 1, 2 * count) if math.gcd(step, count) == 1)
    return [found[at * stride % count] for at in range(count)]


def _quantile(values_kb: tuple[float, ...], probability: float) -> float:
    """Interpolate logarithms between the percentiles; constant outside."""
    logs = [math.log(value) for value in values_kb]
    if probability <= PERCENTILES[0] or probability >= PERCENTILES[-1]:
        return values_kb[0 if probability <= PERCENTILES[0] else -1]
    at = max(index for index, known in enumerate(PERCENTILES) if known <= probability)
    part = (probability - PERCENTILES[at]) / (PERCENTILES[at + 1] - PERCENTILES[at])
    return math.exp(logs[at] + part * (logs[at + 1] - logs[at]))


def files_of(spec: PageSpec) -> list[PageFile]:
    """Assign files to names: style sheets to the document's; a script first to the others while scripts are left."""
    kinds: list[list[str]] = [["css"] * spec.css]
    counts = requests_by_name(spec)
    first_scripts = min(spec.js, max(spec.js - (spec.names - 1), spec.js // 4))
    kinds[0] += ["js"] * first_scripts
    scripts, images = spec.js - first_scripts, spec.png
    for count in counts[1:]:
        kinds.append(["js"] if scripts else ["png"])
        scripts, images = (scripts - 1, images) if scripts else (scripts, images - 1)
        kinds[-1] += ["png"] * (count - 1)
        images -= count - 1
    for owner in kinds[1:]:
        # Scripts that are left take images' places, so that every name keeps its count.
        if scripts and len(owner) > 1:
            owner[1], scripts, images = "js", scripts - 1, images + 1
    kinds[0] += ["png"] * images
    totals = {"css": CSS_BYTES, "js": JS_BYTES, "png": OTHER_BYTES}
    left = {kind: sizes(kind, getattr(spec, kind), round(totals[kind] * spec.share)) for kind in totals}
    return [
        PageFile(owner, f"{kind}{at:02}.{kind}", left[kind].pop())
        for owner, own in enumerate(kinds)
        for at, kind in enumerate(own)
    ]


def steps_of(spec: PageSpec) -> list[int]:
    """Return the step of each name's discovery: the document's in 0, the others in 1 to `depth`, spread evenly."""
    others = spec.names - 1
    return [0, *(1 + number * spec.depth // others for number in range(others))]


def names_page(page: str) -> dict[str, bytes]:
    """Make every file of a page, by its path below the page's folder."""
    spec = SPECS[page]
    files, steps = files_of(spec), steps_of(spec)
    told = [file for file in files if steps[file.owner] <= 1]
    made = {"sites/00/index.html": _document(page, told)}
    for file in files:
        text = ""
        if file.kind == "js":
            text = "window.ran=(window.ran||0)+1;\n" + _asks(page, file, files, steps)
        made[f"sites/{file.owner:02}/{file.name}"] = _content(file, text)
    made["page.toml"] = _description(page, spec, sum(map(len, made.values()))).encode()
    return made


def _document(page: str, told: list[PageFile]) -> bytes:
    urls = {file: f"https://{host(page, file.owner)}/{file.name}" for file in told}
    by_kind = {kind: [urls[file] for file in told if file.kind == kind] for kind in ("css", "js", "png")}
    head = "".join(f'<link rel="stylesheet" href="{url}">\n' for url in by_kind["css"])
    head += "".join(f'<script src="{url}" defer></script>\n' for url in by_kind["js"])
    body = "".join(f'<img src="{url}" width="48" height="36" alt="">\n' for url in by_kind["png"])
    html = HEAD.format(title=page) + head + "</head><body>\n" + body + "</body></html>\n"
    return padded(html, "<!--", "-->\n", HTML_BYTES)


def _asks(page: str, script: PageFile, files: list[PageFile], steps: list[int]) -> str:
    """Write a script's requests: the first script of a step's first name requests all files of the next step."""
    step = steps[script.owner]
    asker = next(file for file in files if steps[file.owner] == step and file.kind == "js")
    wanted = [file for file in files if steps[file.owner] == step + 1]
    if step == 0 or script != asker or not wanted:
        return ""
    names = sorted({file.owner for file in wanted})
    lists = ",".join(
        f"'{host(page, owner)}':'{' '.join(file.name for file in wanted if file.owner == owner)}'" for owner in names
    )
    # In a block: scripts of one document share their outermost names.
    return (
        f"{{const wanted={{{lists}}};\n"
        "for(const name in wanted)for(const file of wanted[name].split(' ')){"
        "const one=document.createElement(file.endsWith('.js')?'script':'img');"
        "one.src='https://'+name+'/'+file;document.body.appendChild(one)}}\n"
    )


def _content(file: PageFile, text: str) -> bytes:
    if file.kind == "png":
        return png(48, 36, 64 + 5 * file.owner, file.size_bytes)
    return padded(text, "/*", "*/\n", file.size_bytes)


def _description(page: str, spec: PageSpec, total_bytes: int) -> str:
    found = "all of them in the document"
    if spec.depth > 1:
        found = f"found one after the other in {spec.depth} steps, by scripts of the step before"
    lines = [
        f'description = "{spec.names} host names, {found}: {spec.requests} requests, {total_bytes:,} bytes."',
        f'source = "{SOURCE}"',
        f'host = "{host(page, 0)}"',
        'folder = "sites/00"',
        'path = "/"',
        f"request_count = {spec.requests}",
        "",
        "[hosts]",
        *(f'"{host(page, number)}" = "sites/{number:02}"' for number in range(1, spec.names)),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write every page to its folder."""
    for page in SPECS:
        for name, content in names_page(page).items():
            file = ROOT / page / name
            file.parent.mkdir(parents=True, exist_ok=True)
            Path(file).write_bytes(content)


if __name__ == "__main__":
    main()
