"""The live page and the exported run in a real browser: Debian's chromium, without a screen."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Served]:
    pytest.importorskip("viser", reason="the extra 'web' is not installed")
    with served("--speed", "1", "--out", "run", cwd=tmp_path) as page:
        yield page


def test_a_sentence_typed_moves_a_block_that_two_browsers_see(browser: Any, page: Served) -> None:
    pytest.importorskip("mujoco", reason="the extra 'sim' is not installed")
    tab, other = Tab(browser), Tab(browser, viewport={"width": 400, "height": 850})
    with Visitor(page) as visitor:
        tab.page.goto(page.link)
        other.page.goto(page.link)
        assert "token" not in tab.page.url
        tab.wait_for("status", "ready")
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
        assert "put_first_on_second" in tab.told("program")
        assert "put_first_on_second" in tab.told("calls")
        other.page.get_by_text("moved red block").first.wait_for(state="attached")
    assert tab.errors == other.errors == []


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
