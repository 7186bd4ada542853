"""The density of a Gamma distribution, written down directly."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, lgamma, log


def gamma_density(shape: float, scale: float) -> Callable[[float], float]:
    """Of shape α and scale β: β^α / Γ(α) · x^(α-1) exp(-βx)."""

    def density(x: float) -> float:
        return exp(shape * log(scale) - lgamma(shape) + (shape - 1) * log(x) - scale * x)

    return density
