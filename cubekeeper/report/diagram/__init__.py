"""Cards and links, laid out in layers and drawn as SVG, DOT or a page: knows nothing of lattices."""
