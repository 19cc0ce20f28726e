"""The formats of pictures, slides and pages, one file each; films are rows of a table in ``gemmviz.render.film``."""
