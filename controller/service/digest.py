"""The digest of this program: SHA-256 over every file it is made of, as they lie on disk now (REG-33)."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_PACKAGES: Final = ("calibration", "controller", "drivers", "vision")


def program_digest() -> str:
    """Hex. The same for the same files, wherever they are installed. Raises ``OSError`` if one cannot be read."""
    whole = hashlib.sha256()
    for package in _PACKAGES:
        spec = find_spec(package)
        assert spec is not None
        for folder in spec.submodule_search_locations or ():
            root = Path(folder)
            for path in sorted(root.rglob("*")):
                if path.is_file() and path.suffix != ".pyc":
                    name = f"{package}/{path.relative_to(root).as_posix()}"
                    content = hashlib.sha256(path.read_bytes()).hexdigest()
                    whole.update(f"{name}\0{content}\n".encode())
    return whole.hexdigest()
