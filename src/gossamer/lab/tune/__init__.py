"""One setting varied on a live crawl of this machine: `gossamer lab tune`.

factor.py     the setting and its values
crawls.py     crawls with each value in turn
local_web.py  what is crawled: the demo web, a folder, or URLs of this machine
compare.py    medians, ranges and differences, as tables and plots
"""
