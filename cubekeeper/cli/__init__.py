"""The commands: thin verbs over the rooms inside. `main` is where a process starts and ends."""
