"""`python -m scalewise`: what torchrun and the local launcher start in every worker."""

from scalewise.cli import main

main()
