"""Starts coverage in the processes that tests start, once torch is there: tracing its import takes seconds."""

import os

if configuration := os.environ.get("SCALEWISE_TEST_COVERAGE"):
    import coverage
    import torch  # noqa: F401

    os.environ["COVERAGE_PROCESS_START"] = configuration
    coverage.process_startup()
    del os.environ["COVERAGE_PROCESS_START"]  # processes of this one come here by themselves
