"""What records show: steps to target, the critical batch size, the speed model, with their intervals."""
