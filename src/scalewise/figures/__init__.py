"""Charts and tables as plain values, described once and rendered for a terminal, as a picture and in a page."""
