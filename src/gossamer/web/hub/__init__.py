"""The server of a hub: HTTP for units, and pages and JSON for people, on one TLS port."""
