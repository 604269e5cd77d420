"""The nightly plan as frozen data."""
