"""The kinds of questions of a quiz: one file each, found by gemmviz.teaching.quiz."""
