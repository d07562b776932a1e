import pytest

from resolab.basics.errors import ConfigurationError
from resolab.lab.calibration import find_profiles
from resolab.plan import Corpus


def test_names_files_and_all(tmp_path):
    corpus = Corpus.from_project()
    file = tmp_path / "mine.toml"
    file.write_text("")
    assert [one.name for one in find_profiles(["dsl", str(file)], corpus)] == ["dsl", "mine"]
    assert len(find_profiles([], corpus)) == len(corpus.profiles()) > 30


@pytest.mark.parametrize("name", ["dls", "nowhere/x.toml"])
def test_what_does_not_exist_is_named(name):
    with pytest.raises(ConfigurationError, match=name):
        find_profiles([name], Corpus.from_project())
