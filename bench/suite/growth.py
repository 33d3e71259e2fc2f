# SPDX-License-Identifier: Apache-2.0
"""How a cost grows with size."""

import math


def exponent(points: list[tuple[float, float]]) -> float | None:
    """The least squares' slope of a line through the logarithms of (size, cost). None if two are not told apart."""
    logs = [(math.log(size), math.log(cost)) for size, cost in points if size > 0 and cost > 0]
    mean_x = sum(x for x, _ in logs) / len(logs) if logs else 0
    mean_y = sum(y for _, y in logs) / len(logs) if logs else 0
    spread = sum((x - mean_x) ** 2 for x, _ in logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / spread if spread else None
