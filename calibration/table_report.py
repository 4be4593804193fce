"""The report of a table calibration: pictures a person can judge by, and the figures behind them."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.table import Solved
from calibration.table_targets import Pairs
from vision.annotate import draw_positions
from vision.geometry import project
from vision.layout import Layout, View

Image = NDArray[np.uint8]
_MARGIN_MM = 40.0
_RED = (60, 60, 230)
_GREEN = (80, 210, 80)


def write(folder: Path, layout: Layout, image: Image, pairs: Pairs, solved: Solved) -> Path:
    """Write ``positions.png``, ``rectified.png`` and ``report.html`` into ``folder``; the page's path.
    Raises ``OSError``."""
    folder.mkdir(parents=True, exist_ok=True)
    picture = View(layout).apply(image)
    drawn = picture.copy()
    draw_positions(drawn, layout)
    _draw_points(drawn, layout, pairs, solved)
    _save(folder / "positions.png", drawn)
    _save(folder / "rectified.png", rectified(layout, picture))
    page = folder / "report.html"
    page.write_text(_page(layout, pairs, solved), "utf-8")
    return page


def rectified(layout: Layout, picture: Image, px_per_mm: float = 1.0) -> Image:
    """The felt from straight above, with a ruler of 100 mm squares and the positions."""
    points = np.concatenate([np.asarray(polygon) for polygon in layout.positions.values()])
    low, high = points.min(axis=0) - _MARGIN_MM, points.max(axis=0) + _MARGIN_MM
    view = np.array([[px_per_mm, 0, -low[0] * px_per_mm], [0, px_per_mm, -low[1] * px_per_mm], [0, 0, 1]])
    size = (round(float(high[0] - low[0]) * px_per_mm), round(float(high[1] - low[1]) * px_per_mm))
    to_felt = np.linalg.inv(layout.geometry().matrix)
    flat: Any = cv2.warpPerspective(picture, view @ to_felt, size, flags=cv2.INTER_LINEAR)
    for axis in (0, 1):
        for mm in range(int(np.ceil(low[axis] / 100)) * 100, int(high[axis]) + 1, 100):
            at = round(float(mm - low[axis]) * px_per_mm)
            begin, end = ((at, 0), (at, size[1])) if axis == 0 else ((0, at), (size[0], at))
            cv2.line(flat, begin, end, (120, 120, 120), 1)
    for polygon in layout.positions.values():
        shape = np.round(project(view, np.asarray(polygon))).astype(np.int32)
        cv2.polylines(flat, [shape], True, _GREEN, 1, cv2.LINE_AA)
    return np.asarray(flat, np.uint8)


def _draw_points(canvas: Image, layout: Layout, pairs: Pairs, solved: Solved) -> None:
    """Each known point where the calibration puts it, with its error."""
    for point, error in zip(layout.geometry().to_px(pairs.mm), solved.errors_mm, strict=True):
        x, y = round(float(point[0])), round(float(point[1]))
        cv2.drawMarker(canvas, (x, y), _RED, cv2.MARKER_CROSS, 14, 2)
        font: Any = cv2.FontFace("sans")
        cv2.putText(canvas, f"{error:.2f}", (x + 8, y - 4), _RED, font, 13, 600)
    for column, row in layout.reference.points:
        cv2.circle(canvas, (round(column), round(row)), 3, _GREEN, 1, cv2.LINE_AA)


def _page(layout: Layout, pairs: Pairs, solved: Solved) -> str:
    was = layout.reference
    lens = "not measured" if layout.lens is None else f"distortion {[round(k, 4) for k in layout.lens.distortion]}"
    rows = {
        "Layout": layout.name,
        "Picture": f"{layout.size[0]} x {layout.size[1]} px",
        "Card": f"{layout.card_mm[0]:g} x {layout.card_mm[1]:g} mm",
        "Positions": ", ".join(layout.positions),
        "Known points": str(len(pairs.mm)),
        "Error": f"{solved.rms_mm:.2f} mm typical, {solved.max_mm:.2f} mm at most",
        "Lens": lens,
        "White gains (blue, green, red)": ", ".join(f"{gain:.3f}" for gain in layout.white),
        "Print kept for the camera-moved check": f"{len(was.points)} points",
        "Sharpness, brightness": f"{was.sharpness:.3f}, {was.brightness:.0f}",
    }
    if len(pairs.mm) == 4:
        rows["Note"] = "Four points fit any way: their error says nothing. Look at the rectified picture."
    table = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in rows.items())
    name = html.escape(layout.name)
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Table calibration: {name}</title>
<style>body{{font:16px/1.5 sans-serif;margin:2rem auto;max-width:70rem}}th{{text-align:left;padding-right:1rem}}
img{{max-width:100%}}</style>
<h1>Table calibration: {name}</h1><table>{table}</table>
<h2>Positions over the picture</h2>
<p>Red crosses: the known points where the calibration puts them, with their error in mm. Green rings: the print by
which a moved camera is noticed. Every outline must lie around its place.</p>
<img src="positions.png" alt="The camera's picture with every position outlined">
<h2>The felt from straight above</h2>
<p>Lines every 100 mm. Straight edges of the table must be straight here, and cards must have right angles.</p>
<img src="rectified.png" alt="The felt as seen from straight above, with a grid of 100 millimetres">
</html>
"""


def _save(path: Path, image: Image) -> None:
    good, data = cv2.imencode(".png", image)
    if not good:
        raise OSError(f"{path}: the picture cannot be encoded")
    path.write_bytes(data.tobytes())
