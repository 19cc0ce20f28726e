"""Kinds of quiz questions, one module each, loaded by gemmviz.teaching.quiz."""
