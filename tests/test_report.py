"""Reports: of real folders of every kind, looked at in a real browser."""

import dataclasses
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import Browser, Page, browser
from processes import group, train
from reading import read_line
from scalewise.errors import UserError
from scalewise.report.report import PICTURES, Report
from scalewise.report.report import report as report_as_asked
from scalewise.requests import AnalyzeRequest, ReportRequest
from scalewise.study.batch_plan import Stage, plan_study
from studies import complete, study_request

DIGITS = "digits/fc_64_64"
EASY = "val/classification_error<0.2"
WIDE, PHONE = 1280, 375
EVIL = '</script><script>window.hacked = 1</script><img src="https://example.org/x.png" onerror="window.hacked = 1">'

DRAWN = """[...document.querySelectorAll("figure.chart")].map((figure) => {
  const plots = [...figure.querySelectorAll(".plot svg")];
  const all = (selector) => plots.flatMap((svg) => [...svg.querySelectorAll(selector)]);
  const outside = (shape) => {
    const [mark, box] = [shape, shape.ownerSVGElement].map((one) => one.getBoundingClientRect());
    return mark.left < box.left - 8 || mark.right > box.right + 8 || mark.top < box.top - 8
      || mark.bottom > box.bottom + 8;
  };
  return {
    name: figure.dataset.name,
    plots: plots.length,
    marks: all(".mark, .piece").length,
    wrong: all("*").filter((shape) => /NaN|Infinity|undefined/.test(shape.outerHTML)).length,
    outside: all(".mark, .piece, .line, .span, .rule-label").filter(outside).length,
    ticks: all(".tick").map((tick) => tick.textContent),
    series: new Set(all(".series").map((group) => group.dataset.index)).size,
  };
})"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


def report(*folders: Path) -> Report:
    return report_as_asked(ReportRequest(folders=folders))


def a_run(folder: Path) -> Path:
    settings = ("noise_scale.every_steps=1", "stop.steps=60", "evaluate.every_steps=12")
    words = [word for setting in settings for word in ("--set", setting)]
    return train(1, DIGITS, folder, *words).path


def a_bench(folder: Path) -> Path:
    ended = group(1, "bench", DIGITS, "--workers", "1,2", "--microbatch", 32, "--seconds", 1, "--out", folder)
    assert ended.exit_code == 0, ended.output
    return folder


def a_comparison(folder: Path) -> Path:
    batches = ("--global-batch", 256, "--baseline-batch", 64, "--learning-rate", 0.1)
    asked = ("--recipes", "naive,linear", *batches, "--epochs", 2, "--seeds", 2, "--out", folder)
    ended = group(1, "compare", DIGITS, *asked)
    assert ended.exit_code == 0, ended.output
    return folder


def a_study(folder: Path) -> Path:
    return complete(study_request(folder, batch_sizes=(64, 128, 256), trials=5, target=EASY, max_epochs=5.0))


def point(workers: int, hours: float, cost: float | None, **more: Any) -> dict[str, Any]:
    times = {"hours": hours, "low_hours": 0.9 * hours, "high_hours": 1.2 * hours, "step_seconds": 0.2}
    place = {"cluster": "cloud", "nodes": 1, "workers": workers, "global_batch": 64 * workers, "learning_rate": None}
    known = {"steps": 1000, "cost": cost, "reliability": 0.95, "runs": 20, "predicted": workers > 4}
    return {**place, **times, **known, **more}


def a_plan(folder: Path, name: str = "digits/fc_64_64") -> Path:
    points = [point(1, 8.0, 8.0), point(2, 4.4, 8.8), point(4, 2.6, 10.4), point(8, 1.9, 15.2)]
    dominated = point(8, 6.0, 48.0, global_batch=64)
    content = {
        "asked": {"workload": name, "target": "val/classification_error<0.05", "budget": 12.0, "clusters": "c.yaml"},
        "currency": "EUR",
        "fastest": points[3],
        "cheapest": points[0],
        "fastest_within_budget": points[2],
        "cheapest_within_deadline": None,
        "frontier": points,
        "candidates": [*points, dominated],
        "scaling": [{"cluster": "cloud", "points": points, "worth_up_to": 4}],
        "says": [f"the fastest for {name} has 8 workers: 1.9 h for 15.20 EUR"],
        "left_out": ["cloud with 16 workers: nobody measured it"],
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plan.json").write_text(json.dumps(content))
    return folder


KINDS: dict[str, tuple[Callable[[Path], Path], list[str]]] = {
    "Run": (a_run, ["cross_entropy_error", "classification_error", "noise_scale"]),
    "Bench": (a_bench, ["speedup", "phases"]),
    "Comparison": (a_comparison, ["curves"]),
    "Study": (a_study, ["steps", "learning_rate", "scatter"]),
    "Plan": (a_plan, ["frontier", "scaling"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_in_a_browser(kind: str, tmp_path: Path, chromium: Browser) -> None:
    make, charts = KINDS[kind]
    written = report(make(tmp_path / "results"))
    assert [section.kind for section in written.sections] == [kind]
    assert [figure.name for figure in written.sections[0].figures] == charts
    page = chromium.open(written.html, WIDE)
    check_charts(page, charts)
    check_pointing(page)
    check_legend(page)
    page.resize(PHONE)
    page.settle()
    check_charts(page, charts)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
    assert page.pdf().startswith(b"%PDF")
    assert page.complaints() == []
    assert page.requests() == [written.html.resolve().as_uri()]
    check_markdown(written.markdown, written.pictures)
    for command in written.sections[0].commands:
        read_line(command)
        assert f"\n    {command}\n" in written.markdown.read_text()


def check_charts(page: Page, names: list[str]) -> None:
    """Every chart has marks, all of them inside of it, and ticks that are numbers."""
    charts = page.evaluate(DRAWN)
    assert [chart["name"] for chart in charts] == names
    for chart in charts:
        assert (chart["marks"] > 0, chart["wrong"], chart["outside"]) == (True, 0, 0), chart
        assert len(chart["ticks"]) >= 2 * chart["plots"] > 0
        assert all(re.fullmatch(r"-?[\d,]+(\.\d+)?(e-\d+)?M?", tick) for tick in chart["ticks"]), chart["ticks"]


def middle(page: Page, selector: str) -> tuple[float, float]:
    """Bring something into sight and return where it is."""
    found = page.evaluate(
        f"""(() => {{
          const found = document.querySelector({json.dumps(selector)});
          found.scrollIntoView({{block: "center", behavior: "instant"}});
          const box = found.getBoundingClientRect();
          return [box.left + box.width / 2, box.top + box.height / 2];
        }})()"""
    )
    return found[0], found[1]


def shown_tips(page: Page) -> list[str]:
    tips: list[str] = page.evaluate("[...document.querySelectorAll('.tip:not([hidden])')].map((tip) => tip.innerText)")
    return tips


def check_pointing(page: Page) -> None:
    page.hover(*middle(page, ".plot .mark, .plot .piece"))
    page.settle()
    (tip,) = shown_tips(page)
    assert re.search(r"\w+\n.*\d", tip), tip
    page.hover(2, 2)
    page.settle()
    assert shown_tips(page) == []
    page.evaluate("document.querySelector('.plot svg').focus()")
    page.press("ArrowRight")
    page.press("ArrowRight")
    assert len(shown_tips(page)) == 1
    page.press("Escape")
    assert shown_tips(page) == []


def check_legend(page: Page) -> None:
    before = page.evaluate(DRAWN)
    for shown in (False, True):
        page.click(*middle(page, ".legend button"))
        page.settle()
        pressed = page.evaluate("document.querySelector('.legend button').getAttribute('aria-pressed')")
        assert pressed == json.dumps(shown)
        difference = sum(chart["series"] for chart in before) - sum(chart["series"] for chart in page.evaluate(DRAWN))
        assert difference == (0 if shown else 1)


def check_markdown(file: Path, pictures: list[Path]) -> None:
    text = file.read_text()
    linked = [file.parent / name for name in re.findall(r"!\[[^]]*\]\(([^)]*)\)", text)]
    assert linked == pictures
    assert all(picture.read_bytes().startswith(b"\x89PNG") for picture in pictures)
    for heading in ("What was asked", "Methods", "Where it comes from"):
        assert f"\n## {heading}\n" in text


def test_ticks_are_where_a_reader_expects_them(tmp_path: Path, chromium: Browser) -> None:
    page = chromium.open(report(a_plan(tmp_path)).html, WIDE)
    found = {
        "logTicks(0.8, 120, 8, false)": [1, 2, 5, 10, 20, 50, 100],
        "logTicks(0.0008, 1200, 8, false)": [0.001, 0.01, 0.1, 1, 10, 100, 1000],
        "logTicks(1, 1e12, 5, false)": [1, 1e3, 1e6, 1e9, 1e12],
        "logTicks(41, 59, 8, false)": [45, 50, 55],
        "logTicks(7, 70000, 8, true)": [8, 32, 128, 512, 2048, 8192, 32768],
        "linearTicks(0, 0.7, 7, false)": [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7],
        "linearTicks(0, 3, 12, true)": [0, 1, 2, 3],
        "linearTicks(-1, 1, 4, false)": [-1, -0.5, 0, 0.5, 1],
        "[0, 0.0005, 0.00001, 0.3, 2500, 2500000].map(tickText)": ["0", "0.0005", "1e-5", "0.3", "2,500", "2.5M"],
    }
    assert {call: page.evaluate(call) for call in found} == found


def test_light_dark_and_without_javascript(tmp_path: Path, chromium: Browser) -> None:
    written = report(a_plan(tmp_path))
    colours = []
    for scheme in ("light", "dark"):
        page = chromium.open(written.html, WIDE, media={"prefers-color-scheme": scheme})
        colours.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert colours[0] != colours[1]
    page = chromium.open(written.html, WIDE)
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    chromium.events.clear()
    page.call("Page.reload")
    chromium.wait_for("Page.loadEventFired", page.session)
    text = page.evaluate("document.body.innerText")
    assert "The charts need JavaScript; the tables show the same values." in text
    assert "fastest within the budget" in text and "15.20 EUR" in text
    assert page.evaluate("getComputedStyle(document.querySelector('figure')).display") == "none"


def test_what_files_say_is_shown_and_never_run(tmp_path: Path, chromium: Browser) -> None:
    written = report(a_plan(tmp_path, EVIL))
    page = chromium.open(written.html, WIDE)
    check_charts(page, ["frontier", "scaling"])
    assert page.evaluate("document.querySelector('h2').textContent") == EVIL
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert page.evaluate("document.images.length") == 0
    assert page.requests() == [written.html.resolve().as_uri()]
    assert page.complaints() == []
    assert not re.search(r"(?<!\\)<(script|img|/script)", written.markdown.read_text())


def test_the_page_may_not_use_the_network(tmp_path: Path, chromium: Browser) -> None:
    """Even if something got in: the page's own policy forbids it."""
    page = chromium.open(report(a_plan(tmp_path)).html, WIDE)
    refused = page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')")
    assert refused == "refused"
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.ran = 1'}))")
    assert page.evaluate("typeof window.ran") == "undefined"
    assert all("Content Security Policy" in complaint or "CSP" in complaint for complaint in page.complaints())


def test_a_run_that_diverged_and_one_that_goes_on(tmp_path: Path, chromium: Browser) -> None:
    settings = ("recipe.learning_rate=1e30", "evaluate.every_steps=1")
    run = train(1, DIGITS, tmp_path, *(word for setting in settings for word in ("--set", setting)), expect=3)
    written = report(tmp_path)
    assert re.match(r"The run diverged after \d+ steps?, .* on 1 worker\.", written.sections[0].answer[0])
    page = chromium.open(written.html, WIDE)
    check_charts(page, [figure.name for figure in written.sections[0].figures])
    assert page.complaints() == []
    (tmp_path / "metadata.json").write_text(json.dumps({**run.metadata, "status": "INCOMPLETE", "stopped_by": None}))
    assert "The run is unfinished after" in report(tmp_path).sections[0].answer[0]
    (tmp_path / "metadata.json").unlink()
    assert report(tmp_path).sections[0].answer == ["The run has started and has not recorded anything yet."]


def test_several_folders_and_an_advice_in_one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    advice = tmp_path / "advice"
    a_plan(advice / "plan")
    (advice / "pilot").mkdir()
    (advice / "advise.json").write_text(json.dumps({"workload": DIGITS, "says": ["use 4 workers"], "seconds": 60}))
    written = report(advice, a_plan(tmp_path / "other"))
    assert written.html == Path("runs/report/report.html")
    assert [section.kind for section in written.sections] == ["Advice", "Plan", "Plan"]
    assert written.sections[0].answer == ["Use 4 workers."]
    text = written.markdown.read_text()
    assert text.startswith("# Report\n") and "## Advice: digits/fc_64_64" in text
    assert len({picture.name for picture in written.pictures}) == 4


def test_a_plan_needs_few_of_its_keys(tmp_path: Path) -> None:
    """Prices, intervals and everything else may be missing."""
    plan = {"fastest": {"cluster": "here", "workers": 2, "hours": 0.01}, "candidates": [{"cluster": "here"}]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    (section,) = report(tmp_path).sections
    assert section.answer == ["The fastest is here, 2 workers: 36 s."]
    assert section.figures == []
    (tmp_path / "plan.json").write_text("{}")
    assert report(tmp_path).sections[0].answer == ["There is no choice within the limits."]


def test_a_plan_of_thousands_stays_readable(tmp_path: Path) -> None:
    many = [point(1 + number % 64, 1 + number / 100, 20.0 + number) for number in range(5000)]
    plan = {"candidates": many, "frontier": many[:1], "asked": {"clusters": "c.yaml", "budget": 9.5, "deadline": None}}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    written = report(tmp_path)
    assert written.html.stat().st_size < 400_000
    assert "Every 13th of 5,000 candidates" in written.markdown.read_text()
    assert written.sections[0].commands == ["scalewise plan --clusters c.yaml --budget 9.5 --out NEW"]


def test_the_command_prints_paths_and_answers(tmp_path: Path) -> None:
    plain = group(1, "report", a_plan(tmp_path))
    assert plain.output.split() == [str(tmp_path / "report.html"), str(tmp_path / "report.md")]
    out = tmp_path / "elsewhere"
    ended = group(1, "report", tmp_path, "--out", out, "--json")
    content = json.loads(ended.output)
    assert content["html"] == str(out / "report.html")
    assert content["sections"][0]["answer"] == ["The fastest for digits/fc_64_64 has 8 workers: 1.9 h for 15.20 EUR."]
    assert sorted(file.name for file in (out / PICTURES).iterdir()) == ["1_frontier.png", "1_scaling.png"]


@pytest.mark.parametrize(
    "files, message",
    [
        ({}, "holds no results"),
        ({"bench.json": "{"}, "cannot read"),
        ({"bench.json": '{"points": [{"workers": "two"}]}'}, "workers='two' should be a number"),
        ({"bench.json": '{"points": 3}'}, "points=3 should be a list"),
        ({"plan.json": "[]"}, "it holds no keys"),
        ({"plan.json": '{"candidates": [3]}'}, "should be keys and values"),
        ({"compare.json": '{"rows": []}'}, "no baseline"),
        ({"run.yaml": "workload: [", "metadata.json": "{}"}, "is not valid YAML"),
        ({"run.yaml": "workload: digits/fc_16", "metadata.json": "{"}, "cannot read"),
        ({"run.yaml": "workload: digits/fc_16", "measurements.csv": "step,val/x\nfour,1\n"}, "cannot be read"),
        ({"study.json": "{"}, "there is no study"),
    ],
)
def test_folders_that_cannot_be_reported(files: dict[str, str], message: str, tmp_path: Path) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(UserError, match=re.escape(message)):
        report(tmp_path)
    assert not (tmp_path / "report.html").exists()


def test_a_missing_folder_is_one_sentence(tmp_path: Path) -> None:
    ended = group(1, "report", tmp_path / "nowhere")
    assert (ended.exit_code, ended.output) == (2, f"scalewise: there is no folder {tmp_path / 'nowhere'}\n")
    with pytest.raises(UserError, match="is not a folder"):
        report(Path(__file__))


def test_a_study_is_repeated_as_it_was_asked_for(tmp_path: Path) -> None:
    """Also before any trial is done, and where it was widened."""
    (tmp_path / "the space.yaml").write_text("learning_rate: {type: DISCRETE, feasible_points: [0.05, 0.1]}\n")
    settings = {"space": tmp_path / "the space.yaml", "overrides": ("recipe.microbatch=8",), "max_epochs": 3.0}
    asked = study_request(tmp_path / "study", trials=7, seed=3, racing=False, optimizer="sgd", **settings)
    plans = plan_study(asked)
    for plan in plans:
        plan.folder.describe(plan.description())
    again = dataclasses.replace(asked, out=Path("NEW"), jobs=1)
    (section,) = report(tmp_path / "study").sections
    assert list(map(read_line, section.commands)) == [again, AnalyzeRequest(folder=tmp_path / "study")]
    wider = dataclasses.replace(plans[0], stages=(*plans[0].stages, Stage(7, plans[0].space)))
    wider.folder.describe(wider.description())
    (section,) = report(tmp_path / "study").sections
    assert list(map(read_line, section.commands))[:2] == [again, dataclasses.replace(again, widen=True)]


def test_a_study_keeps_its_layout(tmp_path: Path) -> None:
    study = tmp_path / "digits" / "fc_16" / "sgd" / "32"
    (study / "0").mkdir(parents=True)
    description = {"dataset": "digits", "model": "fc_16", "optimizer": "sgd", "batch_size": 32}
    (study / "study.json").write_text(json.dumps({**description, "target": "val/classification_error<0.1"}))
    trial = {"trial_id": 0, "status": "COMPLETE", "steps": 9, "parameters": {"learning_rate": 0.1}}
    (study / "0" / "metadata.json").write_text(json.dumps(trial))
    (study / "0" / "measurements.csv").write_text("step,val/classification_error\n9,0.5\n")
    written = report(tmp_path)
    assert written.html == tmp_path / "_scalewise" / "report" / "report.html"
    assert written.sections[0].answer == ["No batch size reached the target."]
    assert [entry.name for entry in (tmp_path / "digits" / "fc_16" / "sgd").iterdir()] == ["32"]
