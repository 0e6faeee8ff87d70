"""Metrics from a server with the Prometheus query API: one instant, measured ages, every answer judged as it came."""
