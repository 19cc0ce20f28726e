"""Hand-ins of students and a task to points, messages and pages: each is judged by the interpreter, in its own process."""
