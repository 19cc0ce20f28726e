from collections.abc import Iterator
from pathlib import Path

import pytest

from gemmviz.analysis.replay.focus import Focus
from gemmviz.cuda.launch.launch_form import GivenLaunch, LaunchForm
from tests.app_model import TestModel
from tests.conftest import sure

PLAIN = Path(__file__).parent.parent / "data" / "plain"


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMMVIZ_HOME", str(tmp_path / "home"))


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.cu"
    path.write_text((PLAIN / "student.cu").read_text().replace(": 1024", ": 128").replace("SIZE 16", "SIZE 8"))
    return path


@pytest.fixture
def model() -> Iterator[TestModel]:
    made = TestModel()
    made.opening.start(None)
    made.settle()
    yield made
    made.opening.close()
    made.session.close()


def texts(model: TestModel) -> list[str]:
    return [notice.text for notice in model.session.notices.all]


def open_and_settle(model: TestModel, path: Path) -> None:
    model.open(path)
    model.settle()


def test_a_file_that_can_not_be_read_leaves_everything_as_it_is(model: TestModel, tmp_path: Path) -> None:
    shot, setup = model.session.shot, sure(model.session.shown).setup
    (tmp_path / "bad.cu").write_text("__global__ void f(float* a) { a[0] = undeclared; }\nvoid g(float* a) { f<<<1, 1>>>(a); }")
    open_and_settle(model, tmp_path / "bad.cu")
    assert (model.session.shot, sure(model.session.shown).setup) == (shot, setup)
    assert "bad.cu" in texts(model)[-1]
    assert "undeclared" in texts(model)[-1]


def test_another_file_is_shown_from_its_first_block(model: TestModel, mine: Path) -> None:
    open_and_settle(model, mine)
    model.commands.watch(Focus((1, 1, 0), thread=3))
    model.settle()
    model.opening.reload()
    model.settle()
    assert model.session.shot.focus.block == (1, 1, 0)
    other = mine.with_name("other.cu")
    other.write_text(mine.read_text() + "\n")
    open_and_settle(model, other)
    assert model.session.shot.focus == Focus()


def test_a_file_is_read_again_when_it_is_saved_and_keeps_its_launch(model: TestModel, mine: Path) -> None:
    open_and_settle(model, mine)
    good = mine.read_text()
    mine.write_text(good.replace("k < BLOCK_SIZE; k++", "k < BLOCK_SIZE - 1; k++"))  # a mistake, while one types
    model.opening.reload()
    model.settle()
    kernel = model.session.shot.setup.kernel
    assert (kernel.args, kernel.problem.sizes) == (("A", "B", "C", "N"), {"M": 16, "N": 16, "K": 16})
    assert not sure(model.session.shown).trace.check.passed
    mine.write_text(good.replace("sum +=", "sum += undeclared *"))
    model.opening.reload()
    model.settle()
    assert model.session.shot.setup.kernel == kernel
    assert "undeclared" in texts(model)[-1]
    mine.write_text(good)
    model.opening.reload()
    model.settle()
    assert sure(model.session.shown).trace.check.passed
    assert texts(model) == []


def test_a_corrected_launch_is_kept_while_the_file_changes(model: TestModel, mine: Path) -> None:
    open_and_settle(model, mine)
    forms: list[LaunchForm] = []
    model.opening.form_requested.connect(forms.append)
    model.opening.edit_launch()
    values = {field.name: field.value for field in forms[0].fields} | {"grid.x": "N / BLOCK_SIZE", "grid.y": "1"}
    model.opening.choose_kernel(forms[0].file, forms[0].given(values, frozenset()))
    model.settle()
    assert model.session.shot.setup.kernel.grid[1] == "1"
    mine.write_text(mine.read_text() + "\n// more\n")
    model.opening.reload()
    model.settle()
    assert model.session.shot.setup.kernel.grid[1] == "1"
    assert model.session.shot.setup.kernel.launch_from == "given"


def test_the_launch_is_inserted_as_a_header(model: TestModel, mine: Path) -> None:
    text = mine.read_text()
    open_and_settle(model, mine)
    assert model.opening.can_insert_header
    model.opening.insert_header()
    model.settle()
    assert mine.read_text().endswith(text)
    assert model.session.shot.setup.kernel.launch_from == "header"
    assert not model.opening.can_insert_header
    assert sure(model.session.shown).trace.check.passed


def test_a_header_is_not_written_over_a_newer_text(model: TestModel, mine: Path) -> None:
    open_and_settle(model, mine)
    mine.write_text("newer")
    model.opening.insert_header()
    assert mine.read_text() == "newer"
    assert any("changed since it was read" in text for text in texts(model))


def test_a_copy_of_a_shipped_kernel_is_opened_and_followed(model: TestModel, tmp_path: Path) -> None:
    path = sure(model.opening.edit_copy())
    model.settle()
    assert path.parent == tmp_path / "home" / "kernels"
    assert model.session.shot.setup.kernel.file == str(path.resolve())
    assert model.opening.followed == path.resolve()
    assert sure(model.opening.edit_copy()) != path


def test_a_pasted_text_is_opened(model: TestModel, tmp_path: Path) -> None:
    model.opening.paste((PLAIN / "student.cu").read_text())
    model.settle()
    assert model.session.shot.setup.kernel.function == "matMulShared"
    model.opening.paste("<b>no kernel</b>")
    assert "the clipboard holds no kernel" in texts(model)[-1]


def test_a_folder_is_offered_as_a_choice_and_a_single_file_is_opened(model: TestModel, mine: Path) -> None:
    offered: list[list[Path]] = []
    model.opening.choice_requested.connect(offered.append)
    open_and_settle(model, mine.parent)
    assert offered == []
    assert model.session.shot.setup.kernel.file == str(mine)
    (mine.parent / "other.cu").write_text(mine.read_text())
    open_and_settle(model, mine.parent)
    assert offered == [[mine, mine.parent / "other.cu"]]


def test_another_kernel_of_the_file_is_chosen(model: TestModel) -> None:
    open_and_settle(model, PLAIN / "two_kernels.cu")
    assert model.opening.names == ("fill", "by_columns", "transpose")
    model.opening.choose_kernel(str(PLAIN / "two_kernels.cu"), GivenLaunch(entry="transpose"))
    model.settle()
    assert model.session.shot.setup.problem.kind.name == "transpose"
    assert sure(model.session.shown).trace.check.passed


def test_what_is_missing_is_asked_by_a_form(model: TestModel, tmp_path: Path) -> None:
    (tmp_path / "odd.cu").write_text("__global__ void odd(float* p, float* r, int n) { r[n] = p[0] - 3; }")
    forms: list[LaunchForm] = []
    model.opening.form_requested.connect(forms.append)
    before = model.session.shot
    open_and_settle(model, tmp_path / "odd.cu")
    assert model.session.shot == before
    sure(model.session.notices.all[-1].offer).take()
    assert [field.label for field in forms[0].parameters] == ["p", "r", "n"]


def test_one_size_for_all_changes_all(model: TestModel, mine: Path) -> None:
    open_and_settle(model, mine)
    model.commands.change("M", 48)
    model.settle()
    assert model.session.shot.setup.problem.sizes == {"M": 48, "N": 48, "K": 48}
    assert sure(model.session.shown).trace.check.passed
