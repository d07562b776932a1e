"""Read `[software.NAME]`: a template, a template with another program, or a command of the user's own.

For: the tables of the software named by a plan's factors. Not for: the conditions it can have (`rules`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from resolab.basics.records import DnsTransport
from resolab.basics.servers.template import PLACEHOLDER
from resolab.plan.section import NAME, PlanSection
from resolab.plan.software.known import TEMPLATES, Template, read_configuration
from resolab.plan.software.settings import EDGE, LONGEST_READY_S, USUAL_READY_S, CacheBefore, Software

PLACEHOLDERS = ("ADDRESS", "AUTHORITY", "BEHIND", "BOTH", "CERTIFICATE", "CONFIGURATION", "FOLDER", "KEY", "NAME")
"""The words between at signs filled in by the lab."""
_CONFIGURATION = "@CONFIGURATION@"
_TRANSPORTS = tuple(str(one) for one in DnsTransport)


def read_software(section: PlanSection, names: Sequence[str], base: Path, *, at_hand: bool) -> dict[str, Software]:
    """Read the tables of these names. Other tables are allowed, so one line narrows a plan.

    Without `at_hand`, as for an old dataset, configuration files of the user are not read.
    """
    if EDGE in section:
        section.fail(EDGE, "is the name of the lab's own server; give the software another")
    for name in names:
        if name not in section:
            section.fail(name, f"is a level of a factor and declared nowhere; write [software.{name}]")
        if not NAME.fullmatch(name):
            section.fail(name, "is no name; use letters, digits, - and _")
    return {name: _read_one(section.section(name), name, base, at_hand=at_hand) for name in names}


def _read_one(section: PlanSection, name: str, base: Path, *, at_hand: bool) -> Software:
    word = section.take_optional_word("template", tuple(TEMPLATES))
    template = None if word is None else TEMPLATES[word]
    spoken = section.optional_levels("transports", _TRANSPORTS)
    command = _read_command(section, template, base)
    found = Software(
        name=name,
        template=word,
        command=command,
        configuration=_read_configuration(section, word, command, base, at_hand=at_hand),
        transports=_choose_transports(section, template, spoken),
        version=tuple(section.texts("version")) if "version" in section else template.version if template else (),
        cache=CacheBefore(section.take_optional_word("cache", tuple(CacheBefore)) or CacheBefore.WARM),
        ready_s=section.number("ready_s", above=0, high=LONGEST_READY_S, default=USUAL_READY_S),
    )
    section.allow("version")
    section.finish()
    _check_placeholders(section, found)
    return found


def _read_command(section: PlanSection, template: Template | None, base: Path) -> tuple[str, ...]:
    if template is None:
        if "command" not in section:
            section.fail("", f"needs a template or a command; templates: {', '.join(TEMPLATES)}")
        first, *rest = section.texts("command")
        return (_locate(first, base), *rest)
    if "command" in section:
        section.fail("command", "stands beside a template; give `program` for another build, or leave out the template")
    section.allow("command")
    program = section.text("program") if "program" in section else template.command[0]
    section.allow("program")
    return (_locate(program, base), *template.command[1:])


def _locate(program: str, base: Path) -> str:
    """Return a program's path relative to the plan's folder; a bare name is searched later."""
    return str((base / program).absolute()) if "/" in program else program


def _read_configuration(
    section: PlanSection, template: str | None, command: Sequence[str], base: Path, *, at_hand: bool
) -> str:
    if "configuration" not in section:
        section.allow("configuration")
        return read_configuration(template) if template else ""
    if _CONFIGURATION not in " ".join(command):
        section.fail("configuration", f"is read by nobody: name {_CONFIGURATION} in the command, or leave it out")
    file = base / section.text("configuration")
    if not at_hand:
        return ""
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        section.fail("configuration", f"failed to read {file}: {reason}; give a path relative to the plan's folder")


def _choose_transports(
    section: PlanSection, template: Template | None, spoken: tuple[str, ...] | None
) -> tuple[DnsTransport, ...]:
    if spoken is not None:
        return tuple(DnsTransport(one) for one in spoken)
    if template is None:
        section.fail("transports", f"is missing; name the transports it speaks: {', '.join(_TRANSPORTS)}")
    return template.transports


def _check_placeholders(section: PlanSection, software: Software) -> None:
    """Refuse unknown placeholders: a misspelt word would reach the program as it stands."""
    for key, text in (("command", " ".join(software.command)), ("configuration", software.configuration)):
        unknown = next((word for word in PLACEHOLDER.findall(text) if word not in PLACEHOLDERS), None)
        if unknown is not None:
            known = " ".join(f"@{word}@" for word in PLACEHOLDERS)
            section.fail(key, f"@{unknown}@ is no placeholder; allowed: {known}")


def software_schema() -> dict[str, Any]:
    """Return the JSON Schema of the tables."""
    texts = {"type": "array", "minItems": 1, "items": {"type": "string"}}
    words = {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"enum": list(_TRANSPORTS)}}
    properties = {
        "template": {"enum": list(TEMPLATES)},
        "program": {"type": "string"},
        "command": texts,
        "configuration": {"type": "string"},
        "transports": words,
        "version": texts,
        "cache": {"enum": [str(one) for one in CacheBefore]},
        "ready_s": {"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST_READY_S},
    }
    table = {"type": "object", "additionalProperties": False, "properties": properties}
    return {"type": "object", "additionalProperties": table}
