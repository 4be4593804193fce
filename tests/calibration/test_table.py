"""Table calibration on drawn pictures, whose true geometry is known."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import cv2
import numpy as np
import pytest

from calibration.table import check, measured, solve, white_gains
from calibration.table_targets import (
    Board,
    CalibrationError,
    Pairs,
    from_board,
    from_markers,
    from_points,
    lens_from_boards,
)
from controller.cli import main
from vision.layout import Layout, LayoutError, Lens, View, built_in, load, save
from vision.simulated.felt import Felt
from vision.simulated.render import MARKER_MM, Conditions, Renderer, marker_points
from vision.simulated.scene import scene

SIZE = (1280, 720)


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    return Renderer(scene("baccarat"), SIZE, 11)


@pytest.fixture(scope="module")
def pictures(renderer: Renderer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same table with markers, without, in play, and after somebody bumped the camera."""
    folder = tmp_path_factory.mktemp("table")
    felt = Felt(scene("baccarat"), Random(1), speed=0)
    wanted = {"markers": Conditions(markers=True), "empty": Conditions(), "bumped": Conditions(shift=(14, 5, 0.4))}
    images = {name: renderer.frame([], [], conditions, 0) for name, conditions in wanted.items()}
    felt.place("KH", "player/0", 0)
    felt.place("3C", "banker/2", 0)
    images["play"] = renderer.frame(felt.lying(0), [], Conditions(light=0.7), felt.version)
    for name, image in images.items():
        cv2.imwrite(str(folder / f"{name}.png"), image)
    return {name: folder / f"{name}.png" for name in images}


def read(path: Path) -> Any:
    return cv2.imread(str(path))


def true_error_mm(layout: Layout) -> float:
    """How far the layout is off at the farthest position."""
    points = np.concatenate([np.asarray(polygon) for polygon in layout.positions.values()])
    seen = scene("baccarat").layout(SIZE).geometry().to_px(points)
    return float(np.linalg.norm(layout.geometry().to_mm(seen) - points, axis=1).max())


def markers(source: Path) -> list[str]:
    words = ["--from", str(source), "--marker-mm", f"{MARKER_MM:g}"]
    for number, (x, y) in marker_points(scene("baccarat")).items():
        words += ["--marker", f"{number}={x:g},{y:g}"]
    return words


def test_markers_give_a_layout_true_to_a_millimetre_with_a_report(
    pictures: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, report = tmp_path / "table.layout.toml", tmp_path / "report"
    words = ["calibrate", "table", str(target), *markers(pictures["markers"])]
    assert main([*words, "--positions", "studio-baccarat", "--report", str(report)]) == 0
    assert "17 positions; error 0." in capsys.readouterr().out
    layout = load(target)
    assert true_error_mm(layout) < 1.0
    assert layout.reference.error_max_mm < 0.5
    page = (report / "report.html").read_text()
    assert "mm typical" in page
    assert read(report / "positions.png").shape == (720, 1280, 3)
    flat = read(report / "rectified.png")
    # Seen from straight above, a millimetre is a pixel: the layout's width and its margins.
    assert flat.shape[1] == pytest.approx(835 + 80, abs=2)


@pytest.mark.parametrize(("picture", "status"), [("empty", 0), ("play", 0), ("bumped", 1)])
def test_the_check_fails_when_the_camera_has_moved(
    pictures: dict[str, Path], picture: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["calibrate", "table", "studio-baccarat", "--check", "--from", str(pictures[picture])]
    assert main(words) == status
    told = capsys.readouterr()
    assert ("holds; moved 0." in told.out) == (status == 0)
    assert ("the camera has moved" in told.err) == (status == 1)


def test_the_check_by_markers_measures_how_far(pictures: dict[str, Path], renderer: Renderer) -> None:
    image = renderer.frame([], [], Conditions(markers=True, shift=(13, 0, 0)), 99)
    pairs = from_markers(image, marker_points(scene("baccarat")), MARKER_MM)
    found = check(load("studio-baccarat"), image, pairs)
    assert found.fault.startswith("the camera has moved")
    assert found.moved_mm == pytest.approx(13 / 1.32, rel=0.12)
    still = from_markers(read(pictures["markers"]), marker_points(scene("baccarat")), MARKER_MM)
    assert check(load("studio-baccarat"), read(pictures["markers"]), still).moved_mm < 1


def test_the_print_that_is_kept_is_not_that_of_the_markers(pictures: dict[str, Path]) -> None:
    image = read(pictures["markers"])
    pairs = from_markers(image, marker_points(scene("baccarat")), MARKER_MM)
    layout = measured(load("studio-baccarat"), image, solve(pairs), pairs.aids)
    for area in pairs.aids:
        for point in layout.reference.points:
            assert cv2.pointPolygonTest(area.astype(np.float32), point, True) < 2


def test_a_marker_in_the_wrong_place_is_named(pictures: dict[str, Path]) -> None:
    middles = marker_points(scene("baccarat")) | {2: (800.0, 436.0)}
    pairs = from_markers(read(pictures["markers"]), middles, MARKER_MM)
    with pytest.raises(CalibrationError, match="measured or numbered wrongly"):
        solve(pairs)


def test_too_few_markers_are_told_with_those_that_are_seen(pictures: dict[str, Path]) -> None:
    with pytest.raises(CalibrationError, match=r"of the markers 8, 9 the picture shows none \(all it shows: 0, 1"):
        from_markers(read(pictures["markers"]), {8: (0, 0), 9: (1, 1)}, MARKER_MM)


def board_picture(board: Board, matrix: Any) -> Any:
    pattern, _ = board.detector()
    scale = 8
    size = (board.columns * int(board.square_mm) * scale, board.rows * int(board.square_mm) * scale)
    sheet = cv2.cvtColor(pattern.generateImage(size), cv2.COLOR_GRAY2BGR)
    sheet = cv2.copyMakeBorder(sheet, 160, 160, 160, 160, cv2.BORDER_CONSTANT, value=(255, 255, 255))
    to_mm = np.array([[1 / scale, 0, board.at[0] - 20], [0, 1 / scale, board.at[1] - 20], [0, 0, 1]])
    image = np.full((SIZE[1], SIZE[0], 3), 90, np.uint8)
    return cv2.warpPerspective(sheet, matrix @ to_mm, SIZE, image, cv2.INTER_AREA, cv2.BORDER_TRANSPARENT)


def test_a_charuco_board_gives_the_same_table() -> None:
    board = Board(columns=9, rows=6, square_mm=40, marker_mm=30, at=(250, 120))
    image = board_picture(board, scene("baccarat").camera(SIZE))
    solved = solve(from_board(image, board))
    truth = scene("baccarat").layout(SIZE)
    points = np.array([[120, 20], [800, 60], [600, 450]])
    seen = truth.geometry().to_px(points)
    inverse: Any = np.linalg.inv(solved.matrix)
    back = cv2.perspectiveTransform(seen.reshape(-1, 1, 2), inverse).reshape(-1, 2)
    assert np.linalg.norm(back - points, axis=1).max() < 1.5


def test_the_lens_is_found_from_tilted_boards_and_taken_out() -> None:
    camera = np.array([[1100.0, 0, 640], [0, 1100, 360], [0, 0, 1]])
    bend = np.array([-0.22, 0.05, 0, 0, 0])
    board = Board(columns=9, rows=6, square_mm=40, marker_mm=30)
    pattern, _ = board.detector()
    # The detector is OpenCV's; here the corners it would find are computed, bent by a known lens.
    corners = np.asarray(pattern.getChessboardCorners(), np.float32)
    views, objects = [], []
    for tilt in ((0, 0, 0), (0.4, 0, 0.1), (-0.4, 0.2, 0), (0, 0.45, -0.2), (0.2, -0.4, 0.3), (0.3, 0.3, 0)):
        seen, _ = cv2.projectPoints(corners, np.array(tilt, np.float64), np.array([-180.0, -120, 620]), camera, bend)
        views.append(seen.astype(np.float32))
        objects.append(corners)
    _, found, distortion, _, _ = cv2.calibrateCamera(objects, views, SIZE, None, None)
    k = [float(value) for value in np.asarray(distortion).reshape(-1)[:5]]
    rows = [tuple(float(value) for value in row) for row in found]
    lens = Lens(camera=(rows[0], rows[1], rows[2]), distortion=(k[0], k[1], k[2], k[3], k[4]))  # type: ignore[arg-type]
    flat, _ = cv2.projectPoints(corners, np.zeros(3), np.array([-180.0, -120, 700]), camera, bend)
    pairs = Pairs(corners[:, :2].astype(np.float64), flat.reshape(-1, 2).astype(np.float64))
    assert solve(pairs, lens).max_mm < 0.3
    assert solve(pairs).max_mm > 5 * solve(pairs, lens).max_mm


def test_a_lens_needs_views_that_show_the_board() -> None:
    board = Board(columns=9, rows=6, square_mm=40, marker_mm=30)
    with pytest.raises(CalibrationError, match="0 of 2 pictures show the board"):
        lens_from_boards([np.zeros((720, 1280, 3), np.uint8)] * 2, board)


def test_four_points_fit_any_way_and_are_said_to() -> None:
    truth = scene("baccarat").layout(SIZE).geometry()
    mm = np.array([[20, 20], [880, 20], [880, 486], [20, 486]])
    given = [((float(x), float(y)), (float(a), float(b))) for (x, y), (a, b) in zip(truth.to_px(mm), mm, strict=True)]
    assert solve(from_points(given)).max_mm < 0.01
    with pytest.raises(CalibrationError, match="at least four"):
        from_points(given[:3])
    line = [((10.0 * n, 10.0 * n), (5.0 * n, 5.0 * n)) for n in range(4)]
    with pytest.raises(CalibrationError, match="one line"):
        solve(from_points(line))


def test_positions_drawn_in_pixels_become_millimetres(pictures: dict[str, Path], tmp_path: Path) -> None:
    truth = scene("baccarat").layout(SIZE)
    polygon = truth.geometry().to_px(truth.positions["player/0"]).round(2).tolist()
    (tmp_path / "p.toml").write_text(f'unit = "px"\n[positions]\n"player/0" = {polygon}\n')
    target = tmp_path / "t.json"
    words = [
        "calibrate",
        "table",
        str(target),
        *markers(pictures["markers"]),
        "--positions",
        str(tmp_path / "p.toml"),
    ]
    assert main(words) == 0
    assert np.abs(np.subtract(load(target).positions["player/0"], truth.positions["player/0"])).max() < 1


def test_white_is_balanced_by_a_card(renderer: Renderer) -> None:
    felt = Felt(scene("baccarat"), Random(1), speed=0)
    felt.place("AS", "player/0", 0)
    warm = renderer.frame(felt.lying(0), [], Conditions(warmth=0.2, light=0.8), felt.version)
    truth = scene("baccarat").layout(SIZE)
    middle = truth.geometry().to_px([truth.middle_mm("player/0")])[0]
    card = middle + np.array([[-30, -40], [30, -40], [30, 40], [-30, 40]])
    gains = white_gains(warm, card)
    assert gains[0] > 1.15
    assert gains[2] < 0.9
    import msgspec

    layout = msgspec.structs.replace(load("studio-baccarat"), white=gains)
    x, y = middle.astype(int)
    paper = View(layout).apply(warm)[y - 40 : y + 40, x - 30 : x + 30].reshape(-1, 3)
    paper = paper[paper.sum(axis=1) > np.percentile(paper.sum(axis=1), 70)]
    assert np.ptp(paper.mean(axis=0)) < 6
    with pytest.raises(CalibrationError, match="change the exposure"):
        white_gains(np.full((720, 1280, 3), 255, np.uint8), card)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["t.toml", "--from", "{empty}"], 2, "--positions is missing"),
        (["t.yaml", "--from", "{empty}"], 2, "name the layout .toml or .json"),
        (["t.toml", "--from", "{empty}", "--positions", "studio-baccarat"], 2, "in one way"),
        (["t.toml", "--from", "/nowhere.png", "--positions", "studio-baccarat"], 2, "no such video file"),
        (["t.toml", "--from", "{empty}", "--positions", "/nowhere.toml"], 2, "cannot be read"),
        (["t.toml", "--from", "{empty}", "--positions", "studio-baccarat", "--point", "1=2"], 2, "--point"),
        (["t.toml", "--from", "{empty}", "--positions", "studio-baccarat", "--marker", "1=2,3"], 2, "--marker-mm"),
        (["t.toml", "--from", "{empty}", "--positions", "studio-baccarat", "--board", "3x3"], 2, "needs --board"),
        (["t.toml", "--from", "{empty}", "--positions", "studio-baccarat", "--card", "big"], 2, "--card 'big'"),
        (
            [
                "t.toml",
                "--from",
                "{empty}",
                "--positions",
                "studio-baccarat",
                "--marker",
                "1=2,3",
                "--marker-mm",
                "9",
            ],
            1,
            "the picture shows none",
        ),
        (["{missing}", "--check", "--from", "{empty}"], 2, "cannot be read"),
    ],
)
def test_wrong_input_is_told(
    pictures: dict[str, Path],
    tmp_path: Path,
    words: list[str],
    status: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"empty": pictures["empty"], "missing": tmp_path / "missing.toml"}
    assert main(["calibrate", "table", *(word.format(**names) for word in words)]) == status
    assert message in capsys.readouterr().err
    assert not (tmp_path / "t.toml").exists()


@pytest.mark.parametrize("name", built_in())
def test_built_in_layouts_are_good_and_survive_writing(name: str, tmp_path: Path) -> None:
    layout = load(name)
    assert layout.name == name
    for suffix in ("toml", "json"):
        save(layout, tmp_path / f"x.{suffix}")
        again = load(tmp_path / f"x.{suffix}")
        assert again.positions == layout.positions
        assert np.allclose(again.matrix, layout.matrix, rtol=1e-7)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('name = "x"\nsice = 3', "sice"),
        ("not toml", "neither TOML nor JSON"),
        ("", "missing required field"),
    ],
)
def test_a_wrong_layout_file_is_told(tmp_path: Path, change: str, message: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(change)
    with pytest.raises(LayoutError, match=message):
        load(path)
    with pytest.raises(LayoutError, match="no built-in layout"):
        load("no-such-layout")
