"""The README of a lesson's pack and the lecturer's notes, as Markdown."""

import re
from collections.abc import Sequence

from gemmviz import __version__
from gemmviz.model.words import many
from gemmviz.teaching.lesson import Lesson, LessonStep

_MARKUP = re.compile(r"([\\`*_\[\]<>#|])")
_COMMANDS = (
    ('pip install "gemmviz[film,slides]"', ""),
    ("gemmviz {name}.toml", "open the lesson in a window; edit and save it"),
    ("gemmviz lesson check {name}.toml", "recompute every number in it"),
    ("gemmviz lesson pack {name}.toml -o {name}.zip", "this archive"),
    ("gemmviz export {name}.toml -o {name}.pptx", "slides alone; also .pdf, .html and .mp4"),
    ("gemmviz export {name}.toml --answers -o answers.pdf", "a handout with answers"),
)
_README = """\
# {title}

{about}

{steps}, {minutes:g} minutes. Made with gemmviz {version}.

| file | contents |
|---|---|
{rows}

Give `students/` to your students. The rest is for you.

## Make it again, or change it

```
{commands}
```

## Licence

gemmviz with its lessons and kernels is under the MIT licence. You may share the pictures, slides and pages that it draws under
CC BY 4.0; name gemmviz as their source.
"""


def unmarked(text: str) -> str:
    """A text in which nothing is Markdown's or HTML's markup."""
    return " ".join(_MARKUP.sub(r"\\\1", text).split())


def readme_text(lesson: Lesson, name: str, rows: Sequence[tuple[str, str]]) -> str:
    """The README of a pack. ``rows``: names of files and their contents."""
    table = "\n".join(f"| `{file}` | {contents} |" for file, contents in rows)
    commands = [(command.format(name=name), purpose) for command, purpose in _COMMANDS]
    width = max(len(command) for command, _ in commands)
    lines = "\n".join(f"{command:{width}}    # {purpose}" if purpose else command for command, purpose in commands)
    return _README.format(
        title=unmarked(lesson.title), about=unmarked(lesson.about), steps=many(len(lesson.stops), "step"),
        minutes=lesson.minutes, version=__version__, rows=table, commands=lines,
    )  # fmt: skip


def notes_text(lesson: Lesson, steps: Sequence[LessonStep]) -> str:
    """The notes of each step, with numbers, minutes, the right answer of a question and the task of an exercise."""
    parts, minutes = [f"# {unmarked(lesson.title)}\n"], 0.0
    for number, step in enumerate(steps, 1):
        parts.append(f"## {number}. {unmarked(step.title)}\n\n*Minute {minutes:g}, {step.minutes:g} minutes.*\n")
        parts += [f"{unmarked(text)}\n" for text in (step.caption, step.text, step.notes) if text]
        if step.question is not None:
            right = step.question.choices[step.question.right]
            parts.append(
                f"**Question.** {unmarked(step.question.text)} **Answer:** {unmarked(right.text)}. {unmarked(right.why)}\n"
            )
        if step.exercise is not None:
            hints = "".join(f"\n- Hint: {unmarked(hint)}" for hint in step.exercise.hints)
            parts.append(f"**Exercise.** {unmarked(step.exercise.task)}\n{hints}\n")
        minutes += step.minutes
    return "\n".join(parts)
