"""Checks of `verify` for single tables."""
