# SPDX-License-Identifier: Apache-2.0
"""A curve in plain text."""

HEIGHT = 10
STEP = 6  # columns from one point to the next


def draw(values: list[float], title: str) -> str:
    """The values from left to right as points joined by dots."""
    low, high = 0.0, max(values) * 1.05 or 1.0
    width = (len(values) - 1) * STEP + 1
    grid = [[" "] * width for _ in range(HEIGHT)]

    def mark(column: int, value: float, sign: str) -> None:
        row = round((high - value) / (high - low) * (HEIGHT - 1))
        grid[row][column] = sign

    for column in range(width):
        left, part = divmod(column, STEP)
        right = min(left + 1, len(values) - 1)
        value = values[left] + (values[right] - values[left]) * part / STEP
        mark(column, value, "." if part else "o")
    lines = [title]
    for row, cells in enumerate(grid):
        value = high - (high - low) * row / (HEIGHT - 1)
        lines.append(f"{value:8.3f} |{''.join(cells).rstrip()}")
    lines.append(" " * 9 + "+" + "-" * width)
    lines.append(" " * 10 + "".join(f"{epoch:<{STEP}}" for epoch in range(len(values))).rstrip() + "  epoch")
    return "\n".join(lines)
