"""The hardware axis: seconds per step against workers and batch, and where the time goes."""
