"""Stored summary tables, the ways to derive one from another, and what those ways cost."""
