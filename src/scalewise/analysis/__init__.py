"""Reads studies and says what they show: steps to target, the critical batch size, and how sure both are."""
