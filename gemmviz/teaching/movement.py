"""Whether anything moves when a lecture comes to a step: its picture plays a motion, or it is revealed in parts."""

from gemmviz.scenes.catalog import view_named
from gemmviz.shots.export import ExportOptions, Prepared, frame_at
from gemmviz.teaching.lesson import LessonStep
from gemmviz.teaching.reveal import parts_of

_INSTANTS = (0.0, 0.25, 0.5, 0.75)  # moments of a motion that are compared with its end


def moves(stop: LessonStep, stage: Prepared) -> bool:
    """Whether something moves on the way to a step's finished picture. ``stage``: the step's shot, prepared."""
    return is_revealed(stop, stage) or plays(stage)


def is_revealed(stop: LessonStep, stage: Prepared) -> bool:
    """Whether a step has several pictures, one after the other; the answer to a question is not one of them."""
    return stop.question is None and len({id(part.shot) for part in parts_of(stop, stage.replay)}) > 1


def plays(stage: Prepared) -> bool:
    """Whether a step's picture changes while its moment, or the time of its launch, passes."""
    if not stage.is_launch and not (view_named(stage.shot.view).moves and stage.shot.moment == 1.0):
        return False
    options, last = ExportOptions(), stage.steps - 1
    if stage.is_launch:
        end = frame_at(stage, last, 1.0, options).scene
        return any(frame_at(stage, round(share * last), 1.0, options).scene != end for share in _INSTANTS)
    end = frame_at(stage, stage.step, 1.0, options).scene
    return any(frame_at(stage, stage.step, share, options).scene != end for share in _INSTANTS)
