"""What a record may take follows the memory that there is."""

import subprocess
import sys

import psutil
import pytest

from gemmviz.run.engine import record_limit

LIMITED = """
import resource
from gemmviz.run.engine import record_limit
for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
    resource.setrlimit(kind, ({most}, -1))
    print(record_limit())
    resource.setrlimit(kind, (-1, -1))
"""


def test_a_record_may_take_half_of_what_is_free() -> None:
    before, limit, after = psutil.virtual_memory().available, record_limit(), psutil.virtual_memory().available
    assert 0.4 * min(before, after) < limit < 0.6 * max(before, after)


@pytest.mark.skipif(sys.platform != "linux", reason="the system tells no limits")
def test_a_record_keeps_to_the_limits_of_its_process() -> None:
    most = 3 << 30
    code = LIMITED.format(most=most)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = [int(each) for each in done.stdout.split()]
    assert len(found) == 2
    assert all(256 << 20 <= each < most // 2 for each in found), found
