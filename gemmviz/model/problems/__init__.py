"""The kinds of problems: one module each, which defines a ProblemKind."""
