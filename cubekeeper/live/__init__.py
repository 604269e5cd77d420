"""Live views: SQL to triggers that keep a result up to date while its tables change."""
