"""`python -m cubekeeper` is the command `cubekeeper`."""

from cubekeeper.cli.main import main

if __name__ == "__main__":
    main()
