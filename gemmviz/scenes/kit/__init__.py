"""Building blocks of every scene: primitives, text, boxes, tables, charts, themes."""
