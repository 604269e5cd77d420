"""Cards and links, laid out in layers, drawn as SVG, DOT or a page: no word of lattices here."""
