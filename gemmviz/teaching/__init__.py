"""Lessons as data: steps, captions, quantities, exercises and quizzes, and the checks that they are true."""
