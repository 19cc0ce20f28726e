"""Kinds of questions: a module ends with ``QUIZ_KIND = QuizKind(...)``, or with QUIZ_KINDS by name, which FAMILIES lists."""

FAMILIES = {
    "elements": ("barrier", "element", "owner", "tile"),
    "requests": ("bank", "lane", "sectors", "wavefronts"),
}
