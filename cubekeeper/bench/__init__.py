"""Workloads and timers: how long cubekeeper itself takes, and how that grows."""
