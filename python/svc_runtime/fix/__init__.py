"""Old spellings in author files: found by reading, never by running, and rewritten in place.

`source` has the text and its positions, `places` the tree with what surrounds each node, one module per kind of spelling says
what it finds (`findings`), `scan` puts them together and `rewrite` applies them until nothing is left.
"""
