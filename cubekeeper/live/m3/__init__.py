"""M3, the language of maps and triggers.

- `nodes`: programs.
- `text`: programs as text; `cubekeeper.parse.calculus` reads them back.
"""
