"""The crawler unit: polls the hub, crawls jobs, sends packages; idle rules, limits, local page."""
