"""What the owners of a warehouse declared, resolved and frozen."""
