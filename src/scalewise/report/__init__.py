"""Any folder of results as one page to read: the answer, charts, tables, and how to repeat them."""
