"""Training itself: one step, evaluation, stopping; it yields results and writes nothing."""
