"""The application: all commands together, and the exit code that fits the result."""

import contextlib
import importlib
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from scalewise import __version__
from scalewise.cli.reading import reader
from scalewise.cli.show import READER_GONE, prepare_streams, show, to_standard_output
from scalewise.cluster.machine_memory import keep_freed_memory
from scalewise.cluster.signals import ignore_stop_signals
from scalewise.errors import Diverged, ExitCode, Failed, Interrupted, PeerLost, UserError
from scalewise.requests import KINDS, Request

NAMES = tuple(dict.fromkeys(kind.command for kind in KINDS))


class _PlainHelp:
    """Shows arguments and flags without typer's `<str>` and `<bool>`, which say nothing to a user."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the arguments and options; typer itself adds `--help` and the options of completion."""
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for one in found:
            if getattr(one, "is_flag", False):
                one.metavar = ""
            if one.param_type_name == "argument":
                one.display_type = lambda ctx: ""
        return found

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        with to_standard_output():
            super().format_help(ctx, formatter)  # type: ignore[misc]


class _Command(_PlainHelp, TyperCommand):
    pass


class _Group(_PlainHelp, TyperGroup):
    pass


def make_app(then: Callable[[Request], object], names: Sequence[str] = NAMES) -> typer.Typer:
    """Return the application that reads a request from the command line, and then does something with it."""
    app = typer.Typer(
        help="Train neural networks faster by scaling out, without losing model quality.",
        epilog="For example:\n\nscalewise advise digits/fc_64_64 --minutes 2 --out runs/demo",
        cls=_Group,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        callback=_options_of_all,
        result_callback=lambda request, **options: then(request),
    )
    for name in names:
        kinds = [kind for kind in KINDS if kind.command == name]
        examples = "\n\n".join(["For example:", *kinds[0].examples])
        app.command(name, cls=_Command, epilog=examples)(reader(kinds))
    return app


def _options_of_all(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            is_eager=True,
            callback=lambda asked: _print_version() if asked else None,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Hold the options that belong to no command."""


def _print_version() -> None:
    show(f"scalewise {__version__}")
    raise typer.Exit


def _perform(request: Request) -> None:
    command = importlib.import_module(f"scalewise.cli.{request.command}")
    raise typer.Exit(command.perform(request) or ExitCode.COMPLETE)


def main() -> None:
    """Run the command line and exit with the code that fits the result."""
    prepare_streams()
    _prepare_process()
    exit_code = _run()
    ignore_stop_signals()
    exit_code = _flushed(exit_code)
    # Not sys.exit: threads of torch's backends that still run while Python shuts down can abort the process,
    # and a worker of a broken group has nothing to clean up.
    os._exit(exit_code)


def _prepare_process() -> None:
    """Set what only the owner of a process may set; library code does not change it."""
    keep_freed_memory()
    # Studies are read on all cores, each by one thread: parsers with several threads each would only wait for each
    # other. Polars reads this once, when it is imported.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")


def _run() -> int:
    try:
        make_app(_perform, _typed(sys.argv[1:]))(prog_name="scalewise")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else ExitCode.COMPLETE
    except UserError as error:
        print(f"scalewise: {error}", file=sys.stderr)
        _tell_launcher(error)
        return ExitCode.MISTAKE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Interrupted as stopped:
        print(f"stopped; {stopped}", file=sys.stderr)
        return ExitCode.STOPPED
    except Diverged as error:
        print(f"scalewise: {error}", file=sys.stderr)
        return ExitCode.DIVERGED
    except Failed as failed:
        return failed.exit_code
    except PeerLost as error:
        print(f"scalewise: this worker lost another one: {error}", file=sys.stderr)
        return ExitCode.PEER_LOST
    except Exception as error:
        traceback.print_exc()
        _tell_launcher(error)
        return ExitCode.BUG
    return ExitCode.COMPLETE


def _tell_launcher(error: Exception) -> None:
    """Leave what went wrong for our own launcher: it may be in a notebook, which does not show what workers print."""
    from scalewise.cluster.failure_message import leave_failure_message
    from scalewise.cluster.world import World

    with contextlib.suppress(UserError, OSError):
        meeting = World.from_environment().meeting
        if meeting is not None:
            leave_failure_message(error, meeting.parent)


def _typed(words: Sequence[str]) -> Sequence[str]:
    """Return the only command that is needed, if there is one: workers then start a hundredth of a second earlier."""
    return words[:1] if words[:1] and words[0] in NAMES else NAMES


def _flushed(exit_code: int) -> int:
    """Flush the output; its reader may be gone."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        return exit_code or READER_GONE
    except OSError:  # which was reported when it was first written
        return exit_code or ExitCode.MISTAKE
    return exit_code
