"""What every test shares."""

import os

# Read once, when the process that groups are forked from imports torch: waiting threads must not spin.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "0")
