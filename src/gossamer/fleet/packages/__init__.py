"""Packages of a job: filter, build, send in pieces; receive, check, unpack under limits."""
