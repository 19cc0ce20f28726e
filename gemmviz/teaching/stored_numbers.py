"""Numbers of captions that are stored with the shipped lessons."""

import hashlib

from gemmviz.files.codec import to_json, to_plain
from gemmviz.run.stored import stored_answers
from gemmviz.state.shot import Shot
from gemmviz.teaching.quantities.quantity import QuantityValue

_KEY_LENGTH = 16


def number_key(shot: Shot, quantity: str) -> str:
    """Key of a quantity's value among the answers about a shot's setup: a hash of the quantity and of all other parts of the
    shot that a value may depend on.
    """
    parts = (quantity, shot.view, shot.focus, shot.at, shot.trial, shot.chart, shot.against)
    return hashlib.sha256(to_json([to_plain(each) for each in parts])).hexdigest()[:_KEY_LENGTH]


def stored_number(shot: Shot, quantity: str) -> QuantityValue | None:
    """The stored value of a quantity of a shot; None if there is none."""
    answers = stored_answers(shot.setup)
    return None if answers is None else answers.numbers.get(number_key(shot, quantity))
