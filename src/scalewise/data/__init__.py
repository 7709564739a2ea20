"""Named data sets, the order in which their examples come, and the microbatches made of them."""
