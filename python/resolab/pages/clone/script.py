"""Scripts of a clone: each computes for its time, then sends the requests of the page's script at their times.

For: the text of a script, in its own file or in a document. Not for: the owner of each request (`roles`).

Every script has its own copy of the request functions: browsers name as discoverer the file of the topmost function on
the stack. Requests before the load event hold the event back, as the page's own computing did. An empty frame is kept
open until then; the frame makes no request (found in both browsers). Requests after the load event wait for the event.
"""

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from resolab.pages.clone.names import make_url
from resolab.pages.model import Cors, Kind, PageModel, Resource

_NOW_ENOUGH_MS = 1
_WORDS = {
    Kind.SCRIPT: "s",
    Kind.IMAGE: "i",
    Kind.STYLESHEET: "c",
    Kind.DOCUMENT: "f",
    Kind.XHR: "x",
    Kind.BEACON: "b",
}
"""The function for each kind; all other kinds use fetch. Of a font or a film only the bytes matter, and `FontFace`
hides the requesting script."""
_CREDENTIALS = {Cors.NO: "include", Cors.ANONYMOUS: "same-origin", Cors.CREDENTIALS: "include"}
_CROSSORIGIN = {Cors.NO: "", Cors.ANONYMOUS: "anonymous", Cors.CREDENTIALS: "use-credentials"}
_SIMPLE_METHODS = ("GET", "HEAD", "POST")
_BEFORE_LOAD, _AFTER_LOAD = 1, 2

_ASKERS = {
    "s": "s:function(u,o){var e=d.createElement('script');if(o)e.crossOrigin=o;e.src=u;d.head.appendChild(e)}",
    "i": "i:function(u,o){var e=new Image;if(o)e.crossOrigin=o;e.src=u;k.push(e)}",
    "c": "c:function(u,o){var e=d.createElement('link');e.rel='stylesheet';if(o)e.crossOrigin=o;e.href=u;"
    "d.head.appendChild(e)}",
    "f": "f:function(u){var e=d.createElement('iframe');e.style.cssText='position:fixed;left:0;top:0;width:20px;"
    "height:20px;border:0';e.src=u;(d.body||d.documentElement).appendChild(e)}",
    "x": "x:function(u,c,m,n,p,e){var r=new XMLHttpRequest;r.open(m,u);r.withCredentials=c=='include';"
    "if(p)r.setRequestHeader('x-preflight','1');if(e){W(e,1);r.onloadend=function(){E(r.responseText,u);W(e,-1)}}"
    "r.send(n?'a'.repeat(n):null)}",
    "b": "b:function(u,n){var t='a'.repeat(n);navigator.sendBeacon(u,t)||"
    "fetch(u,{method:'POST',mode:'no-cors',credentials:'include',body:t})}",
    "h": "h:function(u,c,m,n,p,e){fetch(u,{method:m,credentials:c,body:n?'a'.repeat(n):undefined,"
    "headers:p?{'x-preflight':'1'}:{}}).then(function(r){return e?r.text():r.arrayBuffer()})"
    ".then(function(t){if(e)E(t,u)}).catch(function(){}).then(function(){if(e)W(e,-1)});if(e)W(e,1)}",
}
"""The functions read bodies: an unread body stops arriving when the browser's buffer is full."""

_HOLD = (
    "function H(n){var f;w.__n=(w.__n||0)+n;"
    "if(w.__n>0&&!w.__f){f=w.__f=d.createElement('iframe');f.style.cssText='position:fixed;width:1px;height:1px;border:0';"
    "d.documentElement.appendChild(f);f.contentDocument.open()}"
    "if(w.__n<=0&&w.__f){f=w.__f;w.__f=null;f.contentDocument.close()}}"
)
_RUN_TEXT = "function E(t,u){(0,eval)(t+'\\n//# sourceURL='+u)}"
"""Runs a fetched text under the name of its URL."""
_HOLD_FOR_TEXT = "function W(e,n){if(e==1)H(n)}"
"""Before the load event the event is held back until the text has run: the text's requests came before the event."""
_NO_HOLD = "function W(){}"
_BURN = "for(var e=performance.now()+%s;performance.now()<e;);"
_SINCE_RUN = "performance.now()"
_SINCE_FIRST_BYTE = "performance.getEntriesByType('navigation')[0].responseStart"


@dataclass(frozen=True, slots=True)
class _Call:
    due_ms: float
    phase: int
    word: str
    arguments: tuple[str | int, ...]


def script_text(
    model: PageModel,
    runs: Sequence[int],
    *,
    run_ms: float = 0.0,
    in_document: bool = False,
    texts: Container[int] = (),
    taken_over_ms: Mapping[int, float] = MappingProxyType({}),
) -> str:
    """Write a script with its requests, timed since its run, or in a document since the document's first byte.

    The answers to the requests `texts` are run on arrival; `taken_over_ms` has the times of a document's requests taken
    over from other discoverers.
    """
    calls = [_call(model, place, taken_over_ms.get(place), runs_text=place in texts) for place in runs]
    burn = _BURN % _number(run_ms) if run_ms > 0 else ""
    if not calls:
        return burn
    words = sorted({call.word for call in calls})
    askers = ",".join(_ASKERS[word] for word in words)
    since = _SINCE_FIRST_BYTE if in_document else _SINCE_RUN
    hold = _HOLD if any(call.phase == _BEFORE_LOAD for call in calls) else ""
    run_text = ""
    if any(place in texts for place in runs):
        run_text = _RUN_TEXT + (_HOLD_FOR_TEXT if hold else _NO_HOLD)
    return (
        f"(function(){{var w=window,d=document,k=w.__k||(w.__k=[]),t={since},A={{{askers}}};{burn}{hold}{run_text}"
        "function g(x){A[x[2]].apply(null,x.slice(3))}"
        "function l(x){d.readyState=='complete'?g(x):"
        "w.addEventListener('load',function(){setTimeout(function(){g(x)})})}"
        f"[{','.join(_write_calls(calls))}].forEach(function(x){{var n=x[0]-(performance.now()-t);"
        f"if(x[1]=={_AFTER_LOAD})setTimeout(function(){{l(x)}},n);else if(n<={_NOW_ENOUGH_MS})g(x);else{{"
        f"{'H(1);' if hold else ''}setTimeout(function(){{g(x);{'H(-1)' if hold else ''}}},n)}}}})}})();"
    )


def choose_crossorigin(one: Resource) -> str:
    """Return the value of an element's attribute `crossorigin`; empty: without the attribute."""
    return _CROSSORIGIN[one.cors]


def _call(model: PageModel, place: int, taken_over_ms: float | None, *, runs_text: bool) -> _Call:
    due_ms = model.resources[place].due_ms if taken_over_ms is None else taken_over_ms
    one, url = model.resources[place], make_url(model, place)
    word = _WORDS.get(one.kind, "h")
    if word == "b" and one.method != "POST":
        word = "h"
    phase = _AFTER_LOAD if one.after_load else _BEFORE_LOAD
    return _Call(due_ms or 0.0, phase, word, (url, *_arguments(one, word, runs_text=runs_text)))


def _arguments(one: Resource, word: str, *, runs_text: bool) -> tuple[str | int, ...]:
    match word:
        case "s" | "i" | "c":
            return (choose_crossorigin(one),)
        case "f":
            return ()
        case "b":
            return (one.request_bytes,)
        case _:
            # Methods beside these need a preflight; where the page had none they were none of a script's.
            method = one.method if one.preflight or one.method in _SIMPLE_METHODS else "POST"
            size_bytes = one.request_bytes if method not in {"GET", "HEAD"} else 0
            told = (_CREDENTIALS[one.cors], method, size_bytes, int(one.preflight))
            return (*told, _AFTER_LOAD if one.after_load else _BEFORE_LOAD) if runs_text else told


def _write_calls(calls: Iterable[_Call]) -> list[str]:
    return [
        json.dumps([_short(call.due_ms), call.phase, call.word, *call.arguments], separators=(",", ":"))
        for call in calls
    ]


def _short(value: float) -> float | int:
    return int(value) if value == int(value) else round(value, 1)


def _number(value: float) -> str:
    return json.dumps(_short(value))
