"""The words of the player in pages and figures, in the language of the program: its script is the same in all languages."""

from gemmviz.model.translation import marked, tr

_WORDS = (
    marked("First step"), marked("Step back"), marked("Play or pause"), marked("Step forward"), marked("Last step"),
    marked("Step"), marked("Speed"), marked("Steps per second (+ and −)"), marked("Threads to watch"), marked("Dark or light"),
    marked("Copy a link to this moment"), marked("Full screen"), marked("Link copied"), marked("all threads"),
    marked("warp {warp}"), marked("thread {thread}"), marked("{cell}: thread {threads} of the block in this step"),
    marked("{cell}: threads {threads} of the block in this step"),
)  # fmt: skip


def player_words() -> dict[str, str]:
    """Return the translation of each word that has one, by the English word; empty in English."""
    return {word: tr(word) for word in _WORDS if tr(word) != word}
