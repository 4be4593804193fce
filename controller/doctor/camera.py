"""The camera: its calibration, its decks, its key, and one picture held against the calibration."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from controller.bus.errors import KeysError
from controller.bus.keys import load_secret
from controller.config import Loaded
from controller.contact import secret_of
from controller.doctor.contacts import listens
from controller.doctor.findings import Finding, failure, ok, warning
from vision.health import PATIENCE, HealthCheck
from vision.layout import Layout, LayoutError, View, load
from vision.mjpeg import shown
from vision.profiles import ProfileError, load_profile
from vision.settings import CameraSettings
from vision.sources import SourceEnded, SourceError, open_source


def camera(loaded: Loaded) -> list[Finding]:
    """Nothing for a table that neither has a camera nor needs one."""
    settings = loaded.camera
    if settings is None:
        sources = loaded.config.validation.sources
        if sources == "shoe":
            return []
        why = "every card would wait for a camera that is not there"
        return [failure("camera", f'[validation] sources = "{sources}" and no [camera]', why, "add [camera]")]
    found = [_decks(settings), _key(loaded, settings)]
    try:
        layout = load(settings.layout)
    except LayoutError as error:
        why = "without a calibration nobody knows which place a card lies at"
        return [*found, failure("calibration", str(error), why, "dealerd calibrate table")]
    places = f"{layout.name}: {len(layout.positions)} positions"
    return [*found, ok("calibration", places), _picture(settings, layout)]


def _decks(settings: CameraSettings) -> Finding:
    try:
        for name in settings.profiles:
            load_profile(name)
    except ProfileError as error:
        return failure(
            "decks", str(error), "cards are read by the profile of their deck", "correct [camera] profiles"
        )
    return ok("decks", ", ".join(Path(name).name for name in settings.profiles))


def _key(loaded: Loaded, settings: CameraSettings) -> Finding:
    try:
        load_secret(secret_of(loaded.keys, "camera", settings.person))
    except KeysError as error:
        do = f"dealerd keys person {loaded.keys} camera {settings.person}"
        return failure("camera key", str(error), "the table would not listen to its camera", do)
    return ok("camera key", settings.person)


def _picture(settings: CameraSettings, layout: Layout) -> Finding:
    address = settings.address()
    if address is not None and address[1] and listens(f"tcp://{address[0]}:{address[1]}"):
        # A device gives its pictures to one program only.
        return ok("camera", f"the camera service has it; its pictures: http://{settings.http}")
    source = open_source(settings)
    try:
        source.open()
        health = _look(source.read().image(), layout)
    except (SourceError, SourceEnded) as error:
        why = 'the table does not see the felt; with sources = "both" it holds'
        return failure("camera", str(error), why, "plug, power, the name in [camera] source")
    finally:
        with contextlib.suppress(SourceError):
            source.close()
    if health:
        why = "cards would be read badly, or at the wrong place"
        return warning(
            "camera", health, why, "clean and focus it, mend the light, or: dealerd calibrate table --check"
        )
    return ok("camera", f"{shown(settings.source)}: sharp, lit and where it was calibrated")


def _look(image: NDArray[np.uint8], layout: Layout) -> str:
    check, picture = HealthCheck(layout), View(layout).apply(image)
    # It believes a fault when it was seen so often in a row.
    return [check.look(picture) for _ in range(PATIENCE)][-1].reason
