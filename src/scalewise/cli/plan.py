"""`scalewise plan`."""

import gc

from scalewise.cli.show import show, show_json, show_tables
from scalewise.plan.plan import Plan, plan
from scalewise.plan.plan_tables import choices_table, size_table
from scalewise.requests import PlanRequest


def perform(request: PlanRequest) -> None:
    """Plan, and show what is recommended."""
    gc.disable()  # of ten thousand candidates none is garbage before the command ends
    planned = plan(request)
    if request.as_json:
        show_json(planned.file.plain(), indent=None)  # which may be long: ten thousand candidates
    else:
        _show(planned)
        show(f"pictures and recipes in {request.out}")


def _show(planned: Plan) -> None:
    show_tables(choices_table(planned.file), size_table(planned.file))
    for sentence in [*planned.says, *planned.left_out]:
        show(sentence)
    for one in planned.recommended:
        show(f"{one.name.replace('_', ' ')}: {one.command}")
