"""The notebook among the examples runs from top to bottom, and its results show themselves."""

import json
import subprocess
import sys
from pathlib import Path

from processes import ROOT

NOTEBOOK = ROOT / "examples" / "notebook.ipynb"
RUN = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": sys.argv[2]}}).execute()
nbformat.write(notebook, sys.argv[3])
"""


def test_the_notebook_runs(tmp_path: Path) -> None:
    done = tmp_path / "done.ipynb"
    ended = subprocess.run(
        [sys.executable, "-c", RUN, str(NOTEBOOK), str(tmp_path), str(done)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert ended.returncode == 0, ended.stderr
    outputs = [output for cell in json.loads(done.read_text())["cells"] for output in cell.get("outputs", ())]
    pages = ["".join(output["data"]["text/html"]) for output in outputs if "text/html" in output.get("data", ())]
    for beginning in ("Run: python:Spirals", "Gradient noise scale", "Curve: ", "Bench: ", "Plan: ", "Report: "):
        assert any(f"<h4>{beginning}" in page for page in pages), beginning
    assert sum("data:image/png;base64," in page for page in pages) >= 4
    streams = [output for output in outputs if output["output_type"] == "stream"]
    assert {output["name"] for output in streams} == {"stdout"}, "nothing alarming"
    assert "\x1b" not in json.dumps(streams), "no signs that steer a terminal"
    assert "step 0  val/classification_error" in json.dumps(streams), "workers tell how far they are"


def test_it_is_kept_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    assert all(not cell.get("outputs") and not cell.get("execution_count") for cell in cells)
