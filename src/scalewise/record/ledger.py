"""The ledger of a study: a line for every time that a trial was trained, from which step to which, and how long."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from scalewise.errors import FolderError
from scalewise.record.study_folder import OWN
from scalewise.storage import LocalStore, Store

_LEDGER = f"{OWN}/ledger.csv"


def note_training(store: Store, study: Sequence[str | int], trial_id: int, steps: range, seconds: float) -> None:
    """Add a line; a study is named by its workload and its batch size."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow([*study, trial_id, steps.start, steps.stop, round(seconds, 3)])
    store.append(_LEDGER, line.getvalue().encode())


def examples_trained(out: Path) -> int:
    """Count the examples that all trials of a study together were trained on."""
    try:
        lines = csv.reader(io.StringIO((LocalStore(out).read(_LEDGER) or b"").decode()))
        return sum(int(size) * (int(last) - int(first)) for *_, size, _, first, last, _ in lines)
    except (ValueError, csv.Error) as error:
        raise FolderError(f"{out / _LEDGER} is damaged and cannot be read: {error}") from None
