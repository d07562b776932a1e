"""The shape of a preset, and its application to settings and loads.

For: the shapes and the pure application. Not for: the studies' settings (`browser_preset` in each study's folder).
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from resolab.basics.errors import ConfigurationError
from resolab.browser.result import LoadRequest
from resolab.browser.settings import BrowserSettings

Addresses = Mapping[str, str]
"""Addresses of the pages' hosts, for a browser with a fixed host mapping."""
Change = Callable[[BrowserSettings, Addresses], BrowserSettings]


@dataclass(frozen=True, slots=True)
class Setting:
    """One browser setting of a study."""

    name: str
    does: str
    source: str
    change: Change
    wrong: str | None = None
    """The setting's effect on the study's results; `None`: no fault is known."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A study's browser, with its settings and limits."""

    name: str
    citation: str
    browser: str
    timeout_s: float
    """Limit of a load."""
    settings: tuple[Setting, ...]
    not_reproduced: tuple[str, ...]

    @property
    def faults(self) -> tuple[str, ...]:
        """Return the names of the settings with a fault in the results."""
        return tuple(setting.name for setting in self.settings if setting.wrong is not None)

    def apply(
        self, settings: BrowserSettings, *, without: Collection[str] = (), addresses: Addresses | None = None
    ) -> BrowserSettings:
        """Change the settings to the study's, except the settings in `without`; other settings stay."""
        names = [setting.name for setting in self.settings]
        unknown = sorted(set(without) - set(names))
        if unknown:
            known = ", ".join(names)
            raise ConfigurationError(f"browser preset {self.name} has no setting {unknown[0]!r}; it has: {known}")
        for setting in self.settings:
            if setting.name not in without:
                settings = setting.change(settings, addresses or {})
        return settings

    def apply_to_load(self, request: LoadRequest, *, ticket_needed: bool) -> LoadRequest:
        """Set the load's limit, and warm up only when the measured load needs a ticket, as both studies did."""
        return replace(request, timeout_s=self.timeout_s, warmup=ticket_needed)


def preferences(values: Mapping[str, bool | int | str]) -> Change:
    """Set preferences of the browser's profile."""
    return lambda settings, _: replace(settings, extra_preferences={**settings.extra_preferences, **values})


def flags(*added: str) -> Change:
    """Add to the command line."""
    return lambda settings, _: replace(settings, extra_flags=(*settings.extra_flags, *added))
