"""Charts and tables: the same in a terminal, in Markdown, in a page and as a picture, whatever names they carry."""

import dataclasses
import io
import itertools
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from matplotlib.text import Text
from PIL import Image

from browser import Browser, browser
from scalewise.analysis.curve import StepsCurve, make_curve
from scalewise.analysis.outcomes import Outcome, steps_to_target
from scalewise.analysis.step_charts import steps_figure
from scalewise.figures.bars import Bar, Bars
from scalewise.figures.figure import Chart, Figure
from scalewise.figures.picture import draw, picture
from scalewise.figures.plot import Axis, Line, Mark, Panels, Plot, Rule, Series, Shape, Span
from scalewise.figures.scales import limits
from scalewise.figures.table import Table, numbers, texts
from scalewise.figures.terminal import print_tables
from scalewise.report.markdown import markdown
from scalewise.report.page import page
from scalewise.report.section import ReportSection
from scalewise.words import printable

NAMES = ["x[/red]", "$_{$ \\frac", "[bold]b[/bold]", "a|b <i>c</i>", "bell \x07\x1b[31m", "模型 é", "n" * 300, "\ud800"]
STEPS = Axis("steps to target", log=True)
BATCH = Axis("batch size", log=True, powers_of_two=True)


def line(name: str, colour: int | None, height: float, **more: Any) -> Series:
    return Series(name, tuple(Mark(x, height / x, f"at {x}") for x in (8, 64, 512)), colour, **more)


def plot(names: list[str], **more: Any) -> Plot:
    series = [line(name, colour, 1000.0 * (colour + 1), label=f"{name}: end") for colour, name in enumerate(names)]
    return Plot("Title of a plot", BATCH, STEPS, tuple(series), **more)


CHARTS: dict[str, Chart] = {
    "hostile": dataclasses.replace(plot(NAMES), title=NAMES[1], about=NAMES[0]),
    "hostile labels": dataclasses.replace(
        plot([name[:20] for name in NAMES]),
        rules=(Rule("x", 400, NAMES[0], 1), Rule("x", 9, NAMES[1], 2), Rule("y", 50, NAMES[4])),
        spans=(Span(None, 20, NAMES[3], 0), Span(20, None, NAMES[0], 1)),
    ),
    "one mark": Plot("One", Axis("x"), Axis("y"), (Series("one", (Mark(1, 1),)),)),
    "nothing": Plot("Nothing", Axis("x"), Axis("y", log=True), (Series("diverged", (), 0, label="all: diverged"),)),
    "equal values": Plot("Flat", Axis("x", log=True), Axis("y", log=True), (Series("a", (Mark(3, 7), Mark(5, 7))),)),
    "far apart": Plot("Far", Axis("x", log=True), STEPS, (Series("a", (Mark(1e-9, 1e12), Mark(1e9, 1))),)),
    "panels": Panels("Panels", tuple(dataclasses.replace(plot(["a", name]), title=name) for name in NAMES), NAMES[1]),
    "two panels": Panels("Two", (plot(["a", "b"], rules=(Rule("x", 500, "n" * 80, 0),)), plot(["a", "b"]))),
    "long labels": dataclasses.replace(plot(["a"]), x=Axis("x" * 200, log=True), y=Axis("y" * 200, log=True)),
    "bars": Bars(NAMES[1], "ms per step", "ms", tuple(NAMES[:4]), tuple(Bar(name, (1, 2, 0, 3)) for name in NAMES)),
    "no time": Bars("Nothing", "ms", "ms", ("a", "b"), (Bar("idle", (0.0, 0.0)),)),
}


@pytest.mark.parametrize("name", CHARTS)
def test_pictures_of_anything(name: str) -> None:
    with Image.open(io.BytesIO(picture(CHARTS[name]))) as image:
        assert image.format == "PNG" and image.width > 1000
    assert picture(CHARTS[name], "svg").startswith(b"<?xml")


def test_names_are_no_formulas_in_a_picture() -> None:
    drawn = picture(CHARTS["hostile"], "svg").decode()
    for name in NAMES[:4]:
        assert printable(name) in unescape(drawn), name  # as a comment beside the shapes of its letters


def words_in(chart: Chart) -> list[tuple[str, Any]]:
    """Return every text of a picture, with the box that it takes."""
    figure = draw(chart).figure
    figure.canvas.draw()
    found = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    shown = [text for text in found if not _is_unused_tick(text)]
    return [(text.get_text(), text.get_window_extent()) for text in shown]


def _is_unused_tick(text: Text) -> bool:
    """Say whether matplotlib keeps a text without drawing it: of ticks that it has no place for."""
    axes = text.axes
    labels = [] if axes is None else [*axes.get_xticklabels(), *axes.get_yticklabels()]
    drawn = text in labels or axes is None or text in axes.texts
    return not drawn


@pytest.mark.filterwarnings("ignore:Glyph")  # a font without a sign draws a box
@pytest.mark.parametrize("name", CHARTS)
def test_no_text_leaves_the_picture_or_covers_another(name: str) -> None:
    found = words_in(CHARTS[name])
    paper = draw(CHARTS[name]).figure.bbox
    for text, box in found:
        assert paper.x0 <= box.x0 and box.x1 <= paper.x1 and paper.y0 <= box.y0 and box.y1 <= paper.y1, text
    for (text, box), (other, beside) in itertools.combinations(found, 2):
        across = min(box.x1, beside.x1) - max(box.x0, beside.x0)
        up = min(box.y1, beside.y1) - max(box.y0, beside.y0)
        assert across < 2 or up < 2, f"{text!r} and {other!r} cover each other"


@pytest.mark.parametrize("critical", [9.0, 100.0, 500.0])
def test_the_critical_batch_size_and_what_was_not_reached_stay_inside(critical: float) -> None:
    rows = [steps_to_target(size, [Outcome(0, 50 * (1 + critical / size), 9e5)]) for size in (8, 32, 128, 512)]
    missed = [steps_to_target(4096, [Outcome(0, None, 3.0)]), steps_to_target(2, [Outcome(0, None, 4.0)])]
    curve: StepsCurve = make_curve("name", "val/error<0.1", [*rows, *missed])
    figure = steps_figure(curve)
    assert figure is not None and isinstance(figure.chart, Plot)
    (unreached,) = [series for series in figure.chart.series if series.name.startswith("not reached")]
    assert [mark.x for mark in unreached.marks] == [2, 4096]
    sheet = draw(figure.chart)
    (axes,) = sheet.figure.axes
    for mark in unreached.marks:
        assert axes.get_xlim()[0] < mark.x < axes.get_xlim()[1] and axes.get_ylim()[0] < mark.y < axes.get_ylim()[1]
    for text, box in words_in(figure.chart):
        if "B_crit " in text and "fit" not in text:
            assert axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 and box.y1 <= axes.bbox.y1
            break
    else:
        pytest.fail("the critical batch size is not named")


def rows_of(table: Table) -> list[list[str]]:
    return [[column.name for column in table.columns], *map(list, table.rows)]


def test_a_table_has_the_same_cells_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    names = [name for name in NAMES if len(name) < 40]
    columns = [*texts("name", "kind"), *numbers("steps")]
    table = Table("Title [/red]", columns, [[name, "$x$", "1,234"] for name in names])
    print_tables(table)
    printed = [re.split(r"  +", line.strip()) for line in capsys.readouterr().out.splitlines()]
    assert printed == [["Title [/red]"], *([printable(cell) for cell in row] for row in rows_of(table))]
    section = ReportSection("Kind", "title", Path("folder"), ["Answer."], {}, tables=[table])
    assert cells_of_markdown(markdown([section], "pictures")) == printed[1:]
    assert cells_of_page(page([section])) == printed[1:]


def cells_of_markdown(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| :--")]
    return [[re.sub(r"\\(.)", r"\1", cell) for cell in re.split(r" (?<!\\)\| ", line[2:-2])] for line in lines]


def cells_of_page(text: str) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", text)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]
    return [[unescape(cell.replace("<wbr>", "")) for cell in row] for row in cells]


def test_a_wide_table_in_a_narrow_terminal_loses_no_digit(capsys: pytest.CaptureFixture[str]) -> None:
    print_tables(Table("", numbers("one", "two"), [["1,234,567", "0.000891"]]), Table("", texts("a"), [["b"]]))
    assert capsys.readouterr().out.split() == ["one", "two", "1,234,567", "0.000891", "a", "b"]


def test_a_row_needs_all_its_cells() -> None:
    with pytest.raises(AssertionError, match="Title: a row has other columns"):
        Table("Title", numbers("one", "two"), [["1"]])


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


PANELS = """[...document.querySelectorAll("figure.chart")].map((figure) => ({
  plots: figure.querySelectorAll(".plot svg").length,
  titles: [...figure.querySelectorAll("h4")].map((title) => title.textContent),
  legend: [...figure.querySelectorAll(".legend button")].map((button) => button.textContent),
  marks: figure.querySelectorAll(".plot .mark").length,
  ends: [...figure.querySelectorAll(".end")].map((end) => end.textContent),
  caption: figure.querySelector("figcaption").textContent,
  wrong: /NaN|Infinity|undefined/.test(figure.querySelector(".plot").innerHTML),
}))"""


def test_panels_stairs_stars_and_what_diverged_in_a_browser(tmp_path: Path, chromium: Browser) -> None:
    shared = Axis("rate", log=True, shows=(1, 1000))
    series = (line("reached", 0, 900, line=Line.NONE), line("best", 5, 500, line=Line.NONE, shape=Shape.STAR))
    many = [Plot(f"batch {number}", shared, shared, series) for number in range(14)]
    stairs = line("stairs", 1, 300.0, line=Line.STAIRS, label="stairs")
    diverged = Series("lamb: diverged", (), 2, label="lamb: diverged")
    figures = [
        Figure("many", "Trials.", Panels("Many", tuple(many))),
        Figure("one", "One.", Plot("One", BATCH, STEPS, (stairs, diverged), spans=(Span(None, 64, "first", 0),))),
    ]
    file = tmp_path / "page.html"
    file.write_text(page([ReportSection("Kind", "title", tmp_path, ["Answer."], {}, figures=figures)]))
    shown = chromium.open(file, 1280)
    panels, one = shown.evaluate(PANELS)
    assert (panels["plots"], panels["wrong"], panels["marks"]) == (12, False, 12 * 6)
    assert panels["titles"] == [f"batch {number}" for number in range(12)]
    assert panels["legend"] == ["reached", "best"] and panels["caption"] == "Trials. The first 12 of 14 are shown."
    assert (one["ends"], one["wrong"]) == (["stairs", "lamb: diverged"], False)
    shown.evaluate("document.querySelector('.legend button').click()")
    assert shown.evaluate(PANELS)[0]["marks"] == 12 * 3  # in all panels at once
    assert shown.complaints() == []


def test_only_drawing_loads_matplotlib() -> None:
    """Everything but the renderer of pictures can be imported without it."""
    rooms = "bench.bench compare.compare analysis.analyze noise.noise_tables study.study plan.plan plan.plan_tables"
    modules = [f"scalewise.{name}" for name in [*rooms.split(), "report.report", "advise.advise", "figures.terminal"]]
    check = f"import sys, {', '.join(modules)}; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check]).returncode == 0


def test_axes_go_beyond_what_they_show() -> None:
    low, high = limits(Axis("x", log=True), [5.0])
    assert low < 5 < high
    assert limits(Axis("x"), []) == limits(Axis("x"), [1.0])
    assert limits(Axis("x", from_zero=True), [0.0, 0.0]) == (0.0, 0.06)
