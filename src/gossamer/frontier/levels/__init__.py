"""Levels of queued URLs: what brought nothing new comes later, and is refused in the end.

guard.py      what each host has brought (`policies/traps/`), kept with the state
demoting.py   moves queued URLs to the places of their levels
"""
