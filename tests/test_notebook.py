"""The notebook among the examples runs from top to bottom, and its results show themselves."""

import json
import os
import subprocess
import sys
from pathlib import Path

import scalewise as sw
from processes import ROOT

NOTEBOOK = ROOT / "examples" / "notebook.ipynb"
RUN = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": sys.argv[2]}}).execute()
nbformat.write(notebook, sys.argv[3])
"""


def in_a_kernel(code: str, *arguments: Path) -> str:
    """Run code that starts a kernel, and return what it prints."""
    # In a kernel that knows of pytest, nobody sees what workers print.
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    ended = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_notebook_runs(tmp_path: Path) -> None:
    done = tmp_path / "done.ipynb"
    in_a_kernel(RUN, NOTEBOOK, tmp_path, done)
    outputs = [output for cell in json.loads(done.read_text())["cells"] for output in cell.get("outputs", ())]
    pages = ["".join(output["data"]["text/html"]) for output in outputs if "text/html" in output.get("data", ())]
    for beginning in ("Run: python:Spirals", "Gradient noise scale", "Curve: ", "Bench: ", "Plan: ", "Report: "):
        assert any(f"<h4>{beginning}" in page for page in pages), beginning
    assert sum("data:image/png;base64," in page for page in pages) >= 4
    streams = [output for output in outputs if output["output_type"] == "stream"]
    assert {output["name"] for output in streams} == {"stdout"}, "nothing alarming"
    assert "\x1b" not in json.dumps(streams), "no signs that steer a terminal"
    assert "step 0  val/classification_error 0.5 (target <0.05)" in json.dumps(streams), "workers show their progress"


INTERRUPT = """
import sys
from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(cwd=sys.argv[1])
client.execute_interactive('''
import scalewise as sw, torch
from torch import nn
class Circle(sw.Classification):
    def data(self):
        points = torch.randn(640, 2, generator=torch.Generator().manual_seed(0))
        labels = (points.norm(dim=1) < 1).long()
        return {"train": (points[:512], labels[:512]), "val": (points[512:], labels[512:])}
    def model(self):
        return nn.Linear(2, 2)
for_ever = dict(stop=dict(steps=10**9), settings={"performance.compile": False})
''', timeout=120)
for workers in (1, 2):
    asked = client.execute(f"sw.train(Circle(), **for_ever, workers={workers}, out='run{workers}')")
    lines, ended = 0, False
    while not ended:
        message = client.get_iopub_msg(timeout=120)
        kind, content = message["msg_type"], message["content"]
        lines += kind == "stream"  # lines of workers belong to no cell
        if lines == 6 and kind == "stream":
            manager.interrupt_kernel()
        if kind == "error":
            print(content["ename"], content["evalue"])
        ended = message["parent_header"].get("msg_id") == asked and content.get("execution_state") == "idle"
manager.shutdown_kernel(now=True)
"""


def test_interrupting_the_kernel_keeps_what_was_trained(tmp_path: Path) -> None:
    output = in_a_kernel(INTERRUPT, tmp_path)
    said = [line.split() for line in output.splitlines() if line.startswith("Interrupted")]
    assert [words[4] for words in said] == ["run1", "run2"]
    for folder in ("run1", "run2"):
        run = sw.Run(tmp_path / folder)
        assert run.status is sw.Status.INCOMPLETE and run.steps > 0


def test_it_is_kept_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    assert all(not cell.get("outputs") and not cell.get("execution_count") for cell in cells)
