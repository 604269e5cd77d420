"""Pictures as text: structure, escaping, and nothing from outside."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from cubekeeper.declare import load
from cubekeeper.derive import build_lattice, choose, cost_table
from cubekeeper.report import (
    cost_text,
    lattice_dot,
    lattice_html,
    lattice_svg,
    lattice_text,
    plan_html,
    plan_text,
)
from cubekeeper.report.diagram.faces import face_of
from cubekeeper.report.diagram.measure import text_width
from cubekeeper.report.diagram.model import Card, Diagram, Link, Tone
from cubekeeper.report.diagram.page import Json, diagram_html, embedded_json
from cubekeeper.report.diagram.styles import schemes
from cubekeeper.report.diagram.svg import diagram_svg, draw
from cubekeeper.report.picture import lattice_diagram
from cubekeeper.report.words import visible
from cubekeeper.schedule.build import build_plan
from tests.unit.report.samples import (
    SID,
    STORE,
    lattice_of,
    odd,
    random_lattice,
    retail,
    view,
)

SVG = "{http://www.w3.org/2000/svg}"
EXAMPLES = Path(__file__).parents[3] / "lattice"
EVIL = "</script><script>alert('x')</script><img src=x onerror=alert(1)>&\"'"


def inside(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.DOTALL)
    assert match is not None
    return match[1]


def data_of(page: str) -> Any:
    return json.loads(inside(r'<script type="application/json" id="data">(.*?)</script>', page))


def links_of(diagram: Diagram) -> dict[tuple[str, str], tuple[bool, str]]:
    return {(link.source, link.target): (link.strong, link.label) for link in diagram.links}


def test_links_are_those_of_figure_9_with_labels_and_costs():
    assert links_of(lattice_diagram(*retail())) == {
        ("fact pos", "SID_sales"): (True, "11,000"),
        ("SID_sales", "sCD_sales"): (True, "⋈ stores · 1,100"),
        ("SID_sales", "SiC_sales"): (True, "⋈ items · 2,000"),
        ("sCD_sales", "sR_sales"): (True, "110"),
        ("SiC_sales", "sR_sales"): (False, "⋈ stores"),
    }


def test_cards_show_group_by_measures_rows_and_hidden_columns():
    cards = {card.id: card for card in lattice_diagram(*retail()).cards}
    assert cards["fact pos"].tone is Tone.BASE
    card = cards["sCD_sales"]
    assert [(chip.text, chip.ghost) for chip in card.chips] == [
        ("city", False),
        ("date", False),
        ("__stores_region", True),
    ]
    assert card.figure == "10,000 rows"
    assert card.lines == ("TotalCount, TotalQuantity",)
    hues = {chip.text: chip.hue for card in cards.values() for chip in card.chips}
    assert hues["city"] == hues["storeID"] == hues["region"]
    assert len({hues["city"], hues["itemID"], hues["date"]}) == 3


def test_a_table_that_is_always_rebuilt_stands_out():
    cards = {card.id: card for card in lattice_diagram(*odd()).cards}
    assert cards["distinct_prices"].tone is Tone.REBUILT
    assert cards["distinct_prices"].remark == "always rebuilt"
    assert any("cannot be told" in note for note in cards["distinct_prices"].detail.notes)


@pytest.mark.parametrize("seed", range(8))
def test_cards_and_labels_of_random_lattices_do_not_overlap(seed):
    drawing = draw(lattice_diagram(*random_lattice(seed, 18), queries=False))
    for one, two in combinations(drawing.layout.boxes, 2):
        assert (
            one.right < two.left or two.right < one.left or one.bottom < two.y or two.bottom < one.y
        )


@pytest.mark.parametrize("name", ["retail", "retail_cube", "snowflake", "ssb"])
def test_the_examples_can_be_drawn(name):
    loaded = load(EXAMPLES / name)
    lattice = build_lattice(loaded.warehouse)
    maintenance = choose(lattice, loaded.statistics)
    assert set(lattice.nodes) <= set(texts(lattice_svg(lattice, maintenance)))
    tree = lattice_text(lattice, maintenance, width=120)
    assert all(re.search(rf"[├└]─ .*\b{view}\b", tree) for view in lattice.nodes)
    plan = plan_text(build_plan(lattice, maintenance), lattice, width=120)
    assert all(view in plan for view in lattice.nodes)
    cost = cost_text(cost_table(lattice, loaded.statistics), width=120)
    for line in (tree + plan + cost).splitlines():
        assert visible(line) <= 120
        assert line == line.rstrip()


@pytest.mark.parametrize("seed", range(6))
def test_every_way_shown_is_a_derivation_and_none_is_missing(seed):
    lattice, maintenance = random_lattice(seed, 12)
    diagram = lattice_diagram(lattice, maintenance)
    shown = {(link.source, link.target) for link in diagram.links}
    for source, target in shown:
        assert source == "fact pos" or lattice.derives(target, source)
    for child, parents in lattice.covers.items():
        for parent in parents:
            equals = lattice.derives(parent, child)
            assert (parent, child) in shown or equals
    assert {link.target for link in diagram.links if link.strong} == set(lattice.nodes)


def texts(svg: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(svg.encode()).iter(f"{SVG}text")]


@pytest.mark.parametrize("made", [retail, odd, lambda: random_lattice(2, 20)])
def test_svg_is_valid_and_complete(made):
    lattice, maintenance = made()
    svg = lattice_svg(lattice, maintenance)
    root = ElementTree.fromstring(svg.encode())
    assert root.find(f"{SVG}title") is not None
    assert "computed from" in (root.findtext(f"{SVG}desc") or "")
    words = texts(svg)
    assert set(lattice.nodes) <= set(words)
    assert "pos" in words
    assert "prefers-color-scheme: dark" in svg
    assert "var(--" not in svg
    assert not re.search(r"(href|src)=|@import|url\((?!#)", svg)


def test_text_is_set_to_the_width_that_was_measured():
    svg = ElementTree.fromstring(lattice_svg(*retail()).encode())
    title = next(node for node in svg.iter(f"{SVG}text") if node.text == "SID_sales")
    assert float(title.get("textLength", "0")) == pytest.approx(
        text_width("SID_sales", 13, bold=True), abs=0.1
    )


@pytest.mark.parametrize(
    "name", [EVIL, "\x00\x01\ud800control", "東京の売上", "a" * 300, "", "--> ]]> ${x} $title"]
)
def test_names_are_text_and_nothing_else(name):
    card = Card("one", name, Tone.VIEW, name, lines=(name,), remark=name)
    diagram = Diagram(
        name, name, (card, Card("two", "two", Tone.BASE)), (Link("two", "one", True, name),)
    )
    root = ElementTree.fromstring(diagram_svg(diagram).encode())
    assert not root.findall(f".//{SVG}script")
    page = diagram_html(diagram)
    assert page.count("<script") == 2
    assert "<img" not in page
    assert data_of(page)["cards"][0]["title"] == name


def test_a_view_with_a_script_for_a_name_is_harmless():
    page = lattice_html(*lattice_of(SID, view(EVIL, (STORE,))))
    assert page.count("<script") == 2
    assert "<img" not in page
    assert "&lt;/script&gt;" in page


def test_embedded_json_reads_back():
    value: Json = {"a": EVIL, "b": ["\u2028\u2029", 1.5, None, True]}
    text = embedded_json(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)


@pytest.mark.parametrize("made", [retail, odd])
def test_the_page_needs_nothing_from_outside(made):
    lattice, maintenance = made()
    for page in (
        lattice_html(lattice, maintenance),
        plan_html(build_plan(lattice, maintenance), lattice),
    ):
        outside = re.findall(r"https?://[^\s\"'<]+", page)
        assert set(outside) <= {"http://www.w3.org/2000/svg"}
        assert not re.search(r"@import|<link|\ssrc=|url\((?!#)", page)
        policy = inside(r'Content-Security-Policy" content="([^"]*)"', page)
        script = inside(r"<script>(.*?)</script>", page)
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert policy.startswith("default-src 'none'")
        assert f"script-src 'sha256-{digest}'" in policy


def test_the_page_holds_the_query_of_every_edge():
    page = lattice_html(*retail())
    data = data_of(page)
    queries = {
        tuple(data["cards"][end]["id"] for end in link["ends"]): link["detail"]["code"][0][1]
        for link in data["links"]
    }
    assert len(queries) == 5
    assert "JOIN stores" in queries["SID_sales", "sCD_sales"]
    assert "JOIN" not in queries["sCD_sales", "sR_sales"]
    assert "FROM pos" in queries["fact pos", "SID_sales"]


def test_pictures_are_the_same_every_time():
    assert lattice_html(*retail()) == lattice_html(*retail())
    assert lattice_svg(*retail()) == lattice_svg(*retail())
    assert lattice_dot(*retail()) == lattice_dot(*retail())


def test_dot_has_every_table_and_edge():
    dot = lattice_dot(*retail())
    assert dot.startswith('digraph "retail: the lattice of its summary tables" {')
    assert len(re.findall(r"^  n\d+ \[label=", dot, re.MULTILINE)) == 5
    assert len(re.findall(r"-> n\d+ \[style=bold", dot)) == 4
    assert len(re.findall(r"-> n\d+ \[style=dashed", dot)) == 1
    assert 'label="⋈ stores · 1,100"' in dot
    assert dot.rstrip().endswith("}")


def test_dot_strings_end_where_they_should():
    dot = lattice_dot(*lattice_of(SID, view('x"; evil [label="', (STORE,))))
    assert '"x\\"; evil [label=\\"\\nstoreID' in dot


def test_a_large_lattice_has_compact_cards_and_only_chosen_links(monkeypatch):
    monkeypatch.setattr("cubekeeper.report.picture.FULL_CARDS", 3)
    monkeypatch.setattr("cubekeeper.report.picture.MANY_QUERIES", 3)
    diagram = lattice_diagram(*retail())
    assert diagram.compact
    assert [link.drawn for link in diagram.links] == [link.strong for link in diagram.links]
    assert [bool(link.detail.code) for link in diagram.links] == [
        link.strong for link in diagram.links
    ]
    assert max(face_of(card, compact=True).height for card in diagram.cards) < 30
    assert set(retail()[0].nodes) <= set(texts(diagram_svg(diagram)))


def test_plan_page_has_a_card_for_every_stage():
    lattice, maintenance = retail()
    plan = build_plan(lattice, maintenance)
    page = plan_html(plan, lattice)
    for title in ("propagate sCD_sales", "apply pos", "refresh SiC_sales", "recompute SiC_sales"):
        assert f"{title}" in page
    data = data_of(page)
    assert {stage.id for stage in plan.stages} <= {card["id"] for card in data["cards"]}


def contrast(one: str, two: str) -> float:
    def light(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (
            part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    bright, dark = sorted((light(one), light(two)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("colours", schemes(), ids=["light", "dark"])
def test_words_can_be_read_in_both_schemes(colours):
    pairs = [("--ink", "--paper"), ("--ink", "--plate"), ("--muted", "--plate")]
    pairs += [("--muted", "--paper"), ("--base-ink", "--base"), ("--base-muted", "--base")]
    pairs += [("--strong", "--strong-tint"), ("--warn", "--warn-tint")]
    pairs += [("--muted", "--day-tint"), ("--muted", "--night-tint")]
    pairs += [(f"--h{hue}-ink", f"--h{hue}") for hue in range(8)]
    for ink, ground in pairs:
        assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
