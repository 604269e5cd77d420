"""M3, the language of maps and triggers.

- `nodes`: programs.
- `text`: programs as text; `cubekeeper.parse.m3` reads them back.
- `check`: what makes a program well formed.
"""
