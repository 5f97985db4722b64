"""What roastcoffea costs, as ratios to something measured in the same run.

`make bench` runs all of it; `python -m bench sections payload` runs some of it. Each topic is one
module with one function, `rows`, that measures and yields rows of one table.
"""
