"""The pages and access profiles available to a plan, and the included plans: folders and files, read by name.

For: the existence and location of each. Not for: the content of a `page.toml` (`pages.page_file`).
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.basics.installation import project_root
from resolab.basics.records import LinkProfile
from resolab.pages.clone.clone_cache import find_or_make_clone, find_or_make_clone_of_model
from resolab.pages.clone.names import host_name
from resolab.pages.file import ENDING, read_model
from resolab.pages.generated import generate
from resolab.pages.model import PageModel
from resolab.plan.pages.own_pages import GeneratedPage, PlanPageSource, is_model
from resolab.plan.pages.page_file import Page, read_pages

PROJECT_ROOT = project_root()


@dataclass(frozen=True, slots=True)
class Corpus:
    """Pages under `root/pages`, profiles under `root/profiles`, plans under `root/plans`."""

    root: Path
    own_pages: Mapping[str, PlanPageSource] = field(default_factory=dict)
    """Page folders outside the corpus, page models, or pages drawn by a seed, by their name in the plan."""

    @classmethod
    def from_project(cls, own_pages: Mapping[str, PlanPageSource] | None = None) -> Self:
        """Open the corpus of this code's installation, for any working folder; a plan may have further pages."""
        return cls(PROJECT_ROOT, own_pages or {})

    def pages(self) -> tuple[str, ...]:
        """Return the names of all pages: folders with a `page.toml`, page models, then a plan's own."""
        folders = (file.parent.name for file in (self.root / "pages").glob("*/page.toml"))
        return (*sorted(folders), *self.models(), *self.own_pages)

    def models(self) -> Mapping[str, Path]:
        """Return the files of the included page models, by name; a plan loads their clones."""
        files = sorted((self.root / "pages").glob(f"*/*{ENDING}"))
        return {file.name.removesuffix(ENDING): file for file in files}

    def model_file(self, page: str) -> Path:
        """Return the file of an included page model; raise ConfigurationError for an unknown name."""
        models = self.models()
        if page not in models:
            raise ConfigurationError(_unknown("page model", page, tuple(models)))
        return models[page]

    def profiles(self) -> tuple[str, ...]:
        """Names of all access profiles."""
        return tuple(sorted(file.stem for file in (self.root / "profiles").glob("*.toml")))

    def plans(self) -> tuple[str, ...]:
        """Return the names of the included plans."""
        return tuple(sorted(file.stem for file in (self.root / "plans").glob("*.toml")))

    def plan_file(self, wanted: Path) -> Path:
        """Find a plan: a file, or else an included plan by name."""
        named = self.root / "plans" / f"{wanted.name.removesuffix('.toml')}.toml"
        is_name = wanted.parent == Path() and not wanted.exists()
        return named if is_name and named.is_file() else wanted

    def page_folder(self, page: str) -> Path:
        """Return the folder of a page; for a page model, the folder of its clone."""
        if page not in self.pages():
            raise ConfigurationError(_unknown("page", page, self.pages()))
        place = self._place(page)
        if isinstance(place, GeneratedPage):
            return find_or_make_clone_of_model(generate(place.seed, place.number))
        return find_or_make_clone(place) if is_model(place) else place

    def is_model(self, page: str) -> bool:
        """Return True when a page is a model, loaded as a clone."""
        place = self._place(page)
        return isinstance(place, GeneratedPage) or is_model(place)

    def model(self, page: str) -> PageModel:
        """Read or draw the model of a page."""
        place = self._place(page)
        return generate(place.seed, place.number) if isinstance(place, GeneratedPage) else read_model(place)

    def hosts_of_model(self, page: str) -> list[str]:
        """Name the hosts of a model's clone, without making the clone."""
        model = self.model(page)
        return [host_name(model, host) for host in sorted({one.host for one in model.resources})]

    def _place(self, page: str) -> PlanPageSource:
        return self.own_pages.get(page) or self.models().get(page, self.root / "pages" / page)

    def read_pages(self, pages: Sequence[str]) -> list[Page]:
        """Read a plan's pages."""
        return read_pages([self.page_folder(page) for page in pages])

    def profile_file(self, profile: str) -> Path:
        """File of an access profile."""
        if profile not in self.profiles():
            raise ConfigurationError(_unknown("profile", profile, self.profiles()))
        return self.root / "profiles" / f"{profile}.toml"

    def profile(self, profile: str) -> LinkProfile:
        """Read an access profile."""
        file = self.profile_file(profile)
        try:
            link = msgspec.convert(tomllib.loads(file.read_text("utf-8-sig")), LinkProfile)
        except (OSError, ValueError, RecursionError) as error:
            raise ConfigurationError(f"failed to read profile {file}: {error}") from error
        if link.name != profile:
            problem = f"its name is {link.name!r}; it must be the file's name, {profile!r}"
            raise ConfigurationError(f"failed to read profile {file}: {problem}")
        return link


def _unknown(kind: str, name: str, known: tuple[str, ...]) -> str:
    return f"unknown {kind} {name!r}; known: {', '.join(known) or 'none'}"
