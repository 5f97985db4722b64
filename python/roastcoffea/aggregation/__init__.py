"""Metrics from raw data, and the places where users add their own."""

from __future__ import annotations

from roastcoffea.aggregation import backends, efficiency, registry
from roastcoffea.aggregation.backends import get_parser, register_parser
from roastcoffea.aggregation.efficiency import calculate_efficiency_metrics
from roastcoffea.aggregation.registry import register_metric, unregister_metric

__all__ = [
    "backends",
    "calculate_efficiency_metrics",
    "efficiency",
    "get_parser",
    "register_metric",
    "register_parser",
    "registry",
    "unregister_metric",
]
