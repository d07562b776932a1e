"""Two processes do not work on one dataset."""

import subprocess
import sys

import msgspec
import pytest
from rich.console import Console
from synthetic_dataset import PLAN_TEXT, make_dataset, make_plan

from resolab.basics.errors import ConfigurationError
from resolab.campaign import resume_campaign, run_campaign
from resolab.campaign.blocks.one_block import run_block
from resolab.campaign.lock import dataset_lock
from resolab.store import create_dataset_folder, load_manifest, save_manifest


def test_a_second_process_is_refused_and_the_lock_goes_with_its_holder(tmp_path):
    hold = "import sys\nfrom pathlib import Path\nfrom resolab.campaign.lock import dataset_lock\n"
    hold += "with dataset_lock(Path(sys.argv[1])):\n    print('held', flush=True)\n    sys.stdin.read()\n"
    holder = subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(ConfigurationError, match="another resolab"), dataset_lock(tmp_path):
        pass
    holder.kill()
    holder.wait()
    with dataset_lock(tmp_path):
        pass


@pytest.mark.parametrize("begin", [run_campaign, lambda *args: run_block(*args, 0)])
def test_who_is_refused_leaves_what_another_has_begun(tmp_path, begin):
    folder = tmp_path / "d"
    create_dataset_folder(folder)
    # Another process is still starting its testbed: there is no manifest yet.
    with dataset_lock(folder):
        with pytest.raises(ConfigurationError, match="another resolab"):
            begin(make_plan(PLAN_TEXT), folder, Console(quiet=True))
        assert sorted(one.name for one in folder.iterdir()) == [".lock", "trials"]


def test_a_manifest_is_read_by_who_holds_the_lock(tmp_path, monkeypatch):
    folder = make_dataset(tmp_path / "d", make_plan(PLAN_TEXT))

    class Ending:
        """The run that had it ends just before it lets go of the lock."""

        def __init__(self, _folder):
            pass

        def __enter__(self):
            save_manifest(folder, msgspec.structs.replace(load_manifest(folder), warnings=["one path from now on"]))

        def __exit__(self, *_):
            pass

    monkeypatch.setattr("resolab.campaign.run.dataset_lock", Ending)
    assert resume_campaign(folder, Console(quiet=True)).manifest.warnings == ["one path from now on"]
