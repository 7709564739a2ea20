"""What records show: steps to target, the critical batch size, the speed model, with their intervals."""

import os

# Studies are read on all cores, each by one thread: parsers with several threads each would only wait for each other.
# Polars reads this once, when it is imported.
os.environ.setdefault("POLARS_MAX_THREADS", "1")
