"""One module per command. Each loads what it needs only when it runs: `--help` stays quick."""
