"""The live page and the exported run in a real browser: Debian's chromium, without a screen."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops

from cap import Session
from cap.trace.export.pages import html
from cap.trace.export.run_record import RunRecord
from cap.trace.trace import Trace
from tests.fakes.visitor import Served, Visitor, served

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(300),
    # The browser's driver ends its own processes when it is stopped, some later than it says.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
WAIT_MS = 90_000
WEBGL = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if (chromium := shutil.which("chromium")) is None:
        pytest.skip("there is no chromium: apt-get install chromium")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=chromium, args=WEBGL)
        yield started
        started.close()


class Tab:
    """A page in a browser, and all it complained of."""

    def __init__(self, browser: Any, **options: Any) -> None:
        options = {"viewport": {"width": 1200, "height": 800}, **options}
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(WAIT_MS)
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "console",
            lambda told: self.errors.append(told.text) if told.type == "error" else None,
        )

    def told(self, part: str) -> str:
        return str(self.page.locator(f"[data-cap={part}]").inner_text())

    def wait_for(self, part: str, text: str) -> None:
        self.page.locator(f"[data-cap={part}]", has_text=text).wait_for()

    def seen(self) -> Image.Image:
        """Return what is drawn of the scene, left of the panel."""
        shot = Image.open(io.BytesIO(self.page.screenshot()))
        return shot.convert("RGB").crop((0, 160, 860, 800))


def differs(one: Image.Image, other: Image.Image) -> int:
    """Return how many pixels are plainly otherwise."""
    gray = ImageChops.difference(one, other).convert("L").point(lambda v: 255 if v > 40 else 0)
    return gray.histogram()[255]


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Served]:
    pytest.importorskip("viser", reason="the extra 'web' is not installed")
    with served("--speed", "1", "--out", "run", cwd=tmp_path) as page:
        yield page


def settled(tab: Tab) -> Image.Image:
    """Return the scene once it is drawn and no longer changes."""
    last = tab.seen()
    for _ in range(60):
        tab.page.wait_for_timeout(500)
        now = tab.seen()
        colored = max(high - low for low, high in now.getextrema())
        if differs(last, now) == 0 and colored > 150:
            return now
        last = now
    raise AssertionError("the scene does not come to rest")


def test_a_sentence_typed_moves_a_block_that_two_browsers_see(browser: Any, page: Served) -> None:
    pytest.importorskip("mujoco", reason="the extra 'sim' is not installed")
    tab, other = Tab(browser), Tab(browser, viewport={"width": 400, "height": 850})
    with Visitor(page) as visitor:
        tab.page.goto(page.link)
        other.page.goto(page.link)
        assert "token" not in tab.page.url
        tab.wait_for("status", "ready")
        before = settled(tab)
        begin = visitor.until(lambda v: v.positions.get("/objects/red block"))
        words = tab.page.get_by_role("textbox").first
        words.fill("put the red block in the blue bowl")
        words.press("Enter")
        tab.wait_for("turns", "moved red block")
        visitor.until(lambda v: "✓ 1." in v.text)  # it has heard of the whole motion
        visitor.until(lambda v: v.positions["/objects/red block"] != begin)
        end = visitor.until(lambda v: v.positions["/objects/red block"])
        bowl = visitor.positions["/objects/blue bowl"]
        assert abs(end[0] - bowl[0]) < 0.03
        assert abs(end[1] - bowl[1]) < 0.03
        assert differs(before, settled(tab)) > 150  # a block of some 20 by 20 pixels went away
        assert "put_first_on_second" in tab.told("program")
        assert "put_first_on_second" in tab.told("calls")
        other.page.get_by_text("moved red block").first.wait_for(state="attached")
    assert tab.errors == other.errors == []


def asked(folder: Path) -> list[str]:
    """Return the instructions of a run, as they were carried out."""
    events = (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    told = [
        event["data"]["text"]
        for event in map(json.loads, events)
        if event["depth"] == 0 and event["kind"] == "instruction"
    ]
    return list(map(str, told))


def test_however_fast_it_is_typed_no_part_of_an_instruction_is_carried_out(
    browser: Any, page: Served, tmp_path: Path
) -> None:
    tab, sent = Tab(browser, viewport={"width": 320, "height": 300}), []
    tab.page.goto(page.link)
    tab.wait_for("status", "ready")
    field = tab.page.get_by_role("textbox").first
    for delay_ms in (0, 30, 100):
        for number in range(4):
            sent.append(f"move d{delay_ms} k{number} end")
            field.click()
            tab.page.keyboard.type(sent[-1], delay=delay_ms)
            tab.page.keyboard.press("Enter")
            tab.wait_for("turns", f"{len(sent)}. {sent[-1]}")
            tab.page.wait_for_function("document.querySelector('textarea').value === ''")
    tab.page.keyboard.type("move first", delay=30)
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_timeout(100)
    tab.page.keyboard.type("move second thing", delay=100)
    tab.wait_for("turns", "13. move first")
    tab.page.wait_for_function("document.querySelector('textarea').value === 'move second thing'")
    tab.page.keyboard.press("Enter")
    tab.wait_for("turns", "14. move second thing")
    assert asked(tmp_path / "run") == [*sent, "move first", "move second thing"]
    assert tab.errors == []


CLIPPED = """[...document.querySelectorAll('[data-cap], [data-cap] *')].filter(e =>
    e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display != 'inline').length"""


def test_no_line_is_clipped_at_any_width_in_either_colour(browser: Any, tmp_path: Path) -> None:
    with (
        served("--mode", "instant", "--ask", "--out", "run", cwd=tmp_path) as page,
        Visitor(page) as visitor,
    ):
        visitor.ask("put the blocks in the bowls with matching colors")
        visitor.until(lambda v: "waiting for your answer" in v.text)
        for width, scheme in ((400, "light"), (400, "dark"), (800, "dark"), (1400, "light")):
            size = {"width": width, "height": 900}
            tab = Tab(browser, viewport=size, color_scheme=scheme)
            tab.page.goto(page.link)
            tab.wait_for("program", "put_first_on_second")
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
            assert tab.page.evaluate(CLIPPED) == 0
            shown = tab.page.locator("html").get_attribute("data-mantine-color-scheme")
            assert shown == scheme
            assert tab.page.get_by_role("button", name="Yes, run it").is_visible()
            tab.page.get_by_text("A program waits for your answer").wait_for()
            if width == 400:  # the scene above, the panel below it, as wide as the screen
                told = tab.page.locator("[data-cap=turns]").bounding_box()
                code = tab.page.locator("[data-cap=program]").bounding_box()
                canvas = tab.page.locator("canvas").first.bounding_box()
                assert told["y"] < code["y"]
                assert told["width"] > 0.85 * width
                assert canvas["y"] + canvas["height"] <= 0.45 * size["height"]
            assert tab.errors == []
            tab.context.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of a hundred turns."""
    folder = tmp_path_factory.mktemp("report") / "run"
    words = ["put the red block in the blue bowl", "stack all the blocks", "undo that"]
    with Session.open("ravens", mode="instant", trace=Trace(folder)) as session:
        for number in range(100):
            session.run(words[number % 3])
            picture = session.robot.render(480, 480)  # type: ignore[attr-defined]
            picture.save(folder / f"turn-{number + 1}.png")
    path = folder / "run.html"
    path.write_text(html(RunRecord.read(folder)), encoding="utf-8")
    return path


def test_names_cover_no_block_and_no_other_name_and_one_view_needs_no_play(
    browser: Any, tmp_path: Path
) -> None:
    """A block in a bowl: both are named, apart; and the block itself is seen."""
    folder = tmp_path / "run"
    with Session.open("ravens", mode="instant", trace=Trace(folder)) as session:
        session.run("put the red block in the blue bowl")
    for count in (2, 1):
        run = RunRecord.read(folder)
        run.views = run.views[:1] if count == 1 else run.views
        (tmp_path / "run.html").write_text(html(run), encoding="utf-8")
        tab = Tab(browser, viewport={"width": 400, "height": 850}, offline=True)
        tab.page.add_init_script(WORDS_DRAWN)
        tab.page.goto((tmp_path / "run.html").as_uri())
        assert tab.page.locator(".film button:visible").count() == count - 1
        if count == 2:
            tab.page.wait_for_function("window.drawn.length")
            drawn = dict(tab.page.evaluate("window.drawn"))
            red, bowl = drawn["red block"], drawn["blue bowl"]
            assert abs(red[1] - bowl[1]) >= 12 or abs(red[0] - bowl[0]) >= 40
            # The block is red from its upper to its lower edge: no word lies over it.
            assert tab.page.evaluate(
                """() => {
                    const end = frames[frames.length - 1].placements["objects/red block"];
                    const canvas = document.querySelector("canvas");
                    const pen = canvas.getContext("2d"), wide = canvas.clientWidth;
                    const high = canvas.clientHeight, ratio = window.devicePixelRatio || 1;
                    const scale = Math.min(wide / (right - left), high / (back - front));
                    const x = wide / 2 + (end[0] - (left + right) / 2) * scale;
                    const y = high / 2 - (end[1] - (front + back) / 2) * scale;
                    const reach = 0.015 * scale;
                    return [-1, -0.5, 0, 0.5, 1].every((up) => {
                        const at = [x * ratio, (y + up * reach) * ratio, 1, 1];
                        const [r, g, b] = pen.getImageData(...at).data;
                        return r > g + 60 && r > b + 60;
                    });
                }"""
            )
        assert tab.errors == []


WORDS_DRAWN = (
    "window.drawn = []; const draw = CanvasRenderingContext2D.prototype.fillText;"
    "CanvasRenderingContext2D.prototype.fillText = function (word, x, y) {"
    "  window.drawn.push([word, [x, y]]); draw.call(this, word, x, y); };"
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1200])
def test_a_run_of_a_hundred_turns_is_a_small_page_that_fits(
    browser: Any, report: Path, width: int, scheme: str
) -> None:
    assert report.stat().st_size < 10 << 20
    size = {"width": width, "height": 850}
    tab = Tab(browser, viewport=size, color_scheme=scheme, offline=True)
    tab.page.goto(report.as_uri())
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.page.locator(".turn").count() == 100
    ground = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
    light = sum(map(int, ground.removeprefix("rgb(").rstrip(")").split(","))) > 3 * 128
    assert light == (scheme == "light")
    turn = tab.page.locator(".turn").nth(1)
    turn.get_by_text("stack_objects_in_order").first.wait_for()
    film, drawn = turn.locator("canvas"), "canvas => canvas.toDataURL()"
    end = film.evaluate(drawn)
    turn.locator("button").click()
    assert film.evaluate(drawn) != end
    turn.get_by_text("▶ Play").wait_for()
    assert film.evaluate(drawn) == end
    clipped = "[...document.querySelectorAll('pre, p, li, span')].filter(e => e.scrollWidth > "
    clipped += "e.clientWidth + 1 && getComputedStyle(e).display != 'inline').length"
    assert tab.page.evaluate(clipped) == 0
    assert tab.errors == []
