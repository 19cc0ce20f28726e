"""Hand-ins of students and a task to points, messages and pages: each hand-in is judged by the interpreter in its own process."""
