"""What a record may take follows the memory that there is."""

import subprocess
import sys

import psutil
import pytest

from gemmviz.run.engine import record_limit

LIMITED = """
import resource
from gemmviz.run.engine import record_limit
resource.setrlimit(resource.{kind}, ({most}, -1))
print(record_limit())
"""


def test_a_record_may_take_half_of_what_is_free() -> None:
    before, limit, after = psutil.virtual_memory().available, record_limit(), psutil.virtual_memory().available
    assert 0.4 * min(before, after) < limit < 0.6 * max(before, after)


@pytest.mark.skipif(sys.platform != "linux", reason="the system tells no limits")
@pytest.mark.parametrize("kind", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_a_record_keeps_to_the_limits_of_its_process(kind: str) -> None:
    most = 3 << 30
    code = LIMITED.format(kind=kind, most=most)
    found = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert 256 << 20 <= found < most // 2
