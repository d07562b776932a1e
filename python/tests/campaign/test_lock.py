"""Two processes do not work on one dataset."""

import subprocess
import sys

import pytest

from resolab.campaign.lock import dataset_lock
from resolab.errors import ConfigurationError


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
