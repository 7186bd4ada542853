"""A month on many machines, from costs that were measured on this one: `gossamer lab scale`.

costs.py      what a page costs: measured by crawls, or read from a file
sites.py      how large the largest sites are, and what politeness allows there
model.py      how far each resource of a machine is used
compare.py    all sizes of the web and numbers of machines: the experiment
"""
