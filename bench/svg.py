# SPDX-License-Identifier: Apache-2.0
"""Plots as SVG files, written by hand: bars, and lines over time."""

from html import escape
from pathlib import Path

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 720, 320, 140, 40, 40
COLORS = ("#7f7f7f", "#bcbd22", "#1f77b4", "#ff7f0e", "#98df8a", "#2ca02c", "#006d2c", "#d62728")


def _text(x: float, y: float, text: str, anchor: str = "start", size: int = 12) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'


def _file(path: Path, title: str, height: float, parts: list[str]) -> None:
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" font-family="sans-serif">'
            f'<rect width="100%" height="100%" fill="white"/>')
    path.write_text("\n".join([head, _text(10, 24, title, size=15), *parts, "</svg>\n"]), encoding="utf-8")


def bars(path: Path, title: str, values: dict[str, float]) -> None:
    most = max([*values.values(), 1e-9])
    parts = []
    for i, (name, value) in enumerate(values.items()):
        y = TOP + 26 * i
        length = (WIDTH - LEFT - 90) * value / most
        parts += [_text(LEFT - 8, y + 15, name, "end"),
                  f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="20" fill="{COLORS[i % len(COLORS)]}"/>',
                  _text(LEFT + length + 6, y + 15, f"{value:.4g}")]
    _file(path, title, TOP + 26 * len(values) + 10, parts)


def lines(path: Path, title: str, hours: float, series: dict[str, list[float]]) -> None:
    """hours: between two values."""
    longest = max(len(values) for values in series.values())
    most = max(1.0, *(value for values in series.values() for value in values))
    across, up = (WIDTH - 190) / max(1, longest - 1), (HEIGHT - TOP - BOTTOM) / most
    floor = HEIGHT - BOTTOM
    parts = [f'<path d="M50 {TOP}V{floor}H{WIDTH - 140}" fill="none" stroke="black"/>',
             _text(46, TOP + 4, f"{most:.0f}", "end"), _text(46, floor, "0", "end"),
             _text(WIDTH - 140, floor + 18, f"{longest * hours / 24:.0f} days", "end")]
    for i, (name, values) in enumerate(series.items()):
        points = " ".join(f"{50 + across * x:.1f},{floor - up * y:.1f}" for x, y in enumerate(values))
        color = COLORS[i % len(COLORS)]
        parts += [f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.5"/>',
                  f'<rect x="{WIDTH - 130}" y="{TOP + 20 * i}" width="12" height="12" fill="{color}"/>',
                  _text(WIDTH - 112, TOP + 20 * i + 11, name)]
    _file(path, title, HEIGHT, parts)
