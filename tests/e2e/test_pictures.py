"""The pages in a real browser: they load, fetch nothing, and show what is pointed at."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import pytest

from cubekeeper.declare import load
from cubekeeper.derive import build_lattice, choose
from cubekeeper.report import lattice_html, lattice_svg, plan_html
from cubekeeper.schedule.build import build_plan
from tests.e2e.browser import Page, browser, chromium
from tests.unit.report.samples import SID, STORE, lattice_of, random_lattice, retail, view

EXECUTABLE = chromium()
EXAMPLES = Path(__file__).parents[2] / "lattice"
EVIL = "</script><script>document.title='broken'</script><img src=x onerror=\"alert(1)\">"

pytestmark = pytest.mark.skipif(
    EXECUTABLE is None, reason="no Chromium on this machine: install it to test the pages"
)


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    assert EXECUTABLE is not None
    with browser(EXECUTABLE) as tab:
        yield tab


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    lattice, maintenance = retail()
    (folder / "retail.html").write_text(lattice_html(lattice, maintenance), "utf-8")
    (folder / "retail.svg").write_text(lattice_svg(lattice, maintenance), "utf-8")
    plan = build_plan(lattice, maintenance)
    (folder / "plan.html").write_text(plan_html(plan, lattice), "utf-8")
    evil = lattice_of(SID, view(EVIL, (STORE,)), name=EVIL)
    (folder / "evil.html").write_text(lattice_html(*evil), "utf-8")
    (folder / "many.html").write_text(lattice_html(*random_lattice(5, 24)), "utf-8")
    return folder


def panel(page: Page) -> str:
    return str(page.ask("document.getElementById('panel').textContent"))


def hash_of(page: Page) -> str:
    return str(page.ask("location.hash"))


def middle_of(page: Page, selector: str) -> tuple[float, float]:
    box = page.ask(
        f"(() => {{ const b = document.querySelector({selector!r}).getBoundingClientRect();"
        " return [b.left + b.width / 2, b.top + b.height / 2]; })()"
    )
    assert isinstance(box, list)
    return box[0], box[1]


def card(name: str) -> str:
    """The selector of a card by the name that is read out."""
    return f'[data-card][aria-label^="{name};"]'


@pytest.mark.parametrize("name", ["retail.html", "plan.html", "many.html", "evil.html"])
def test_a_page_loads_without_trouble_and_asks_for_nothing(page: Page, pages: Path, name: str):
    page.open(pages / name)
    assert page.ask("document.documentElement.dataset.ready") == "yes"
    assert page.troubles() == []
    assert page.requests() == [(pages / name).as_uri()]


@pytest.mark.parametrize("name", ["retail", "retail_cube", "snowflake", "ssb"])
def test_the_examples_have_pages(page: Page, tmp_path: Path, name: str):
    loaded = load(EXAMPLES / name)
    lattice = build_lattice(loaded.warehouse)
    file = tmp_path / "page.html"
    file.write_text(lattice_html(lattice, choose(lattice, loaded.statistics)), "utf-8")
    page.open(file)
    assert page.troubles() == []
    assert page.requests() == [file.as_uri()]
    cards = page.ask("document.querySelectorAll('[data-card]').length")
    assert cards == len(lattice.nodes) + len({n.view.fact for n in lattice.nodes.values()})


def test_a_name_full_of_markup_stays_a_name(page: Page, pages: Path):
    page.open(pages / "evil.html", "#view=" + quote(EVIL, safe=""))
    assert EVIL in str(page.ask("document.title"))
    assert page.ask("document.querySelectorAll('img').length") == 0
    assert page.ask("document.scripts.length") == 2
    assert EVIL in panel(page)
    assert page.troubles() == []


def test_an_address_leads_to_an_edge_and_its_query(page: Page, pages: Path):
    page.open(pages / "retail.html", "#edge=SID_sales,sCD_sales")
    text = panel(page)
    assert "SID_sales → sCD_sales" in text
    assert "JOIN stores ON SID_sales.storeID = stores.storeID" in text
    assert "1,100 tuple accesses" in text
    assert page.ask("document.querySelectorAll('.link.chosen').length") == 2


@pytest.mark.parametrize("fragment", ["#edge=pos,SID_sales", "#edge=fact%20pos,SID_sales"])
def test_an_edge_from_the_fact_has_an_address_too(page: Page, pages: Path, fragment: str):
    page.open(pages / "retail.html", fragment)
    assert "FROM pos" in panel(page)


@pytest.mark.parametrize("fragment", ["#view=nobody", "#edge=a,b", "#edge=%E0%A4%A", "#nonsense"])
def test_an_address_that_leads_nowhere_shows_the_overview(page: Page, pages: Path, fragment: str):
    page.open(pages / "retail.html", fragment)
    assert "summary tables4" in panel(page)
    assert page.troubles() == []


def test_a_click_on_a_card_shows_it_and_a_click_beside_it_lets_go(page: Page, pages: Path):
    page.open(pages / "retail.html")
    page.click(*middle_of(page, card("sR_sales")))
    assert hash_of(page) == "#view=sR_sales"
    assert "Ways to compute it" in panel(page)
    assert "SUM(sCD_sales.TotalCount) AS TotalCount" in panel(page)
    page.click(30, 120)
    assert hash_of(page) == ""
    assert "summary tables4" in panel(page)


def test_a_click_on_an_edge_s_label_shows_its_query(page: Page, pages: Path):
    page.open(pages / "retail.html")
    page.click(*middle_of(page, ".link.faint .tag"))
    assert hash_of(page) == "#edge=SiC_sales,sR_sales"
    assert "JOIN stores ON SiC_sales.storeID" in panel(page)
    assert "not chosen" in panel(page)


def test_pointing_shows_without_a_click(page: Page, pages: Path):
    page.open(pages / "retail.html")
    x, y = middle_of(page, card("SiC_sales"))
    page.mouse("mouseMoved", x, y)
    page.ask("new Promise((done) => setTimeout(done, 200))")
    assert "EarliestSale" in panel(page)
    assert hash_of(page) == ""


def test_ways_in_the_panel_lead_to_their_edges(page: Page, pages: Path):
    page.open(pages / "retail.html", "#view=sR_sales")
    page.ask(
        "[...document.querySelectorAll('#panel td button')]"
        ".find((made) => made.textContent === 'SiC_sales').click()"
    )
    assert hash_of(page) == "#edge=SiC_sales,sR_sales"


def view_box(page: Page) -> list[float]:
    text = str(page.ask("document.getElementById('stage').getAttribute('viewBox')"))
    return [float(part) for part in text.split()]


def test_wheel_drag_and_buttons_move_the_picture(page: Page, pages: Path):
    page.open(pages / "retail.html")
    start = view_box(page)
    page.mouse("mouseWheel", 400, 400, deltaX=0, deltaY=-120)
    closer = view_box(page)
    assert closer[2] < start[2]
    page.mouse("mousePressed", 60, 200, button="left", buttons=1, clickCount=1)
    page.mouse("mouseMoved", 160, 260, button="left", buttons=1)
    page.mouse("mouseReleased", 160, 260, button="left", clickCount=1)
    dragged = view_box(page)
    assert dragged[0] < closer[0]
    assert dragged[1] < closer[1]
    assert dragged[2] == closer[2]
    page.click(*middle_of(page, "#fit"))
    assert view_box(page) == start


def test_the_keyboard_reaches_cards_edges_and_the_search(page: Page, pages: Path):
    page.open(pages / "retail.html")
    page.ask("document.querySelector('[data-card][tabindex=\"0\"]').focus()")
    for key in ("ArrowDown", "ArrowDown"):
        page.press(key)
    assert hash_of(page) in ("#view=sCD_sales", "#view=SiC_sales")
    page.press("ArrowRight")
    page.press("ArrowLeft")
    assert hash_of(page) == "#view=sCD_sales"
    page.press("e", "e")
    assert hash_of(page) == "#edge=SID_sales,sCD_sales"
    page.press("Escape")
    assert hash_of(page) == ""
    page.press("/", "/")
    assert page.ask("document.activeElement.id") == "search"
    page.call("Input.insertText", text="region")
    assert page.ask("document.getElementById('found').value") == "2 found"
    assert page.ask("document.querySelectorAll('.card.hit').length") == 2
    page.press("Enter")
    assert hash_of(page) == "#view=sR_sales"
    page.press("Escape")
    assert page.ask("document.querySelectorAll('.card.hit').length") == 0


def test_one_card_at_a_time_can_be_reached_by_tab(page: Page, pages: Path):
    page.open(pages / "many.html")
    assert page.ask("document.querySelectorAll('[data-card][tabindex=\"0\"]').length") == 1


def test_cards_and_texts_do_not_overlap_on_the_screen(page: Page, pages: Path):
    page.open(pages / "many.html", width=2400, height=1800)
    boxes = page.ask(
        "[...document.querySelectorAll('#stage .plate')].map((shape) => {"
        " const b = shape.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })"
    )
    assert isinstance(boxes, list)
    assert len(boxes) == 25
    for place, one in enumerate(boxes):
        for two in boxes[place + 1 :]:
            assert one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1], (
                one,
                two,
            )
    outside = page.ask(
        "[...document.querySelectorAll('#stage .card')].flatMap((card) => {"
        " const p = card.querySelector('.plate').getBoundingClientRect();"
        " return [...card.querySelectorAll('.near text')].filter((text) => {"
        "  const b = text.getBoundingClientRect();"
        "  return b.width > 0 && (b.left < p.left - 1 || b.right > p.right + 1); })"
        " .map((text) => text.textContent); })"
    )
    assert outside == []


def test_an_address_brings_its_table_near(page: Page, pages: Path):
    page.open(pages / "many.html", "#view=v7", width=700, height=600)
    page.ask("new Promise((done) => setTimeout(done, 100))")
    assert page.ask("document.getElementById('stage').classList.contains('far')") is False
    x, y = middle_of(page, card("v7"))
    assert 0 < x < 700
    assert 0 < y < 600


def test_far_away_only_names_are_left(page: Page, pages: Path):
    page.open(pages / "many.html", width=420, height=900)
    assert page.ask("document.getElementById('stage').classList.contains('far')") is True
    assert page.ask("getComputedStyle(document.querySelector('.near')).display") == "none"
    assert page.ask("getComputedStyle(document.querySelector('text.far')).display") != "none"


def average_light(png: bytes, page: Page) -> float:
    """How light a screenshot is, from 0 to 255, as the browser itself decodes it."""
    data = base64.b64encode(png).decode()
    value = page.ask(
        "(async () => { const bytes = Uint8Array.from(atob('" + data + "'),"
        " (char) => char.charCodeAt(0));"
        " const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));"
        " const canvas = new OffscreenCanvas(16, 16); const pen = canvas.getContext('2d');"
        " pen.drawImage(image, 0, 0, 16, 16);"
        " return pen.getImageData(0, 0, 16, 16).data.reduce((sum, part, place) =>"
        " place % 4 === 3 ? sum : sum + part, 0) / (16 * 16 * 3); })()"
    )
    assert isinstance(value, int | float)
    return float(value)


@pytest.mark.parametrize("name", ["retail.html", "retail.svg"])
def test_the_scheme_of_the_reader_is_followed(page: Page, pages: Path, name: str):
    light = {}
    for scheme in ("light", "dark"):
        page.scheme(scheme)
        page.open(pages / name, width=700, height=700)
        shot = page.screenshot()
        page.open(pages / "retail.html", width=700, height=700)
        light[scheme] = average_light(shot, page)
    page.scheme("light")
    assert light["light"] > 200
    assert light["dark"] < 80


def test_the_page_prints_on_one_sheet(page: Page, pages: Path):
    page.open(pages / "retail.html")
    assert page.pdf().count(b"/Type /Page\n") <= 1


@pytest.mark.slow
def test_dragging_and_clicking_at_random_does_no_harm(page: Page, pages: Path):
    pick = random.Random(7)
    page.open(pages / "many.html")
    places = [(pick.uniform(5, 1390), pick.uniform(60, 890)) for _ in range(25)]
    for (x, y), (to_x, to_y) in pairwise(places):
        page.mouse("mouseWheel", x, y, deltaX=0, deltaY=pick.choice((-240, 240)))
        page.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        if pick.random() < 0.5:
            page.mouse("mouseMoved", to_x, to_y, button="left", buttons=1)
        page.mouse("mouseReleased", to_x, to_y, button="left", clickCount=1)
        page.press(pick.choice(["ArrowUp", "ArrowRight", "+", "-", "0", "e", "Escape", "Tab"]))
    assert page.troubles() == []
    assert all(abs(part) < 1e6 for part in view_box(page))
