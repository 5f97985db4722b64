"""Efficiency metrics on their own, from workflow and worker metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roastcoffea import _core
from roastcoffea.aggregation import registry
from roastcoffea.metrics import Metrics


def calculate_efficiency_metrics(
    workflow_metrics: Mapping[str, Any], worker_metrics: Mapping[str, Any]
) -> dict[str, Any]:
    """Compute the efficiency metrics, the user's derived ones included.

    Both arguments may use any name that a metric has; what they lack makes the
    metrics that need it ``None``.
    """
    known = Metrics({**worker_metrics, **workflow_metrics})
    canonical = {_core.canonical_key(key) or key: value for key, value in known.items()}
    metrics = Metrics({**canonical, **_core.efficiency_metrics(canonical)})
    derived, _ = registry.derive(metrics)
    efficiency = {key: metrics[key] for key, _ in _core.metric_keys("Efficiency")}
    return Metrics({**efficiency, **derived})
