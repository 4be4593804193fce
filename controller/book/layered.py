"""A mapping that is copied in the time of its own changes, whatever its size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

V = TypeVar("V")


class _Shared(Generic[V]):
    """What all copies have in common: the committed items and their keys in the order they came."""

    __slots__ = ("items", "keys", "stamp")

    def __init__(self) -> None:
        self.items: dict[str, V] = {}
        self.keys: list[str] = []
        self.stamp = 0


class Layered(Generic[V]):
    """Items shared with other copies, and changes of its own on top. Values are immutable, keys are never removed.

    ``commit`` folds the changes into the shared items: this copy goes on, every other one is superseded and says so
    when it is copied, changed, listed or compared. A copy that is dropped uncommitted leaves no trace.
    """

    __slots__ = ("_new", "_own", "_shared", "_stamp")

    def __init__(self) -> None:
        self._shared: _Shared[V] = _Shared()
        self._stamp = 0
        self._own: dict[str, V] = {}
        self._new: list[str] = []

    def _current(self) -> None:
        if self._stamp != self._shared.stamp:
            raise RuntimeError("this copy of the book was superseded by a committed one")

    def copy(self) -> Layered[V]:
        """A copy whose changes stay its own. O(uncommitted changes)."""
        self._current()
        new: Layered[V] = Layered.__new__(Layered)
        new._shared, new._stamp = self._shared, self._stamp
        new._own, new._new = dict(self._own), list(self._new)
        return new

    def commit(self) -> None:
        """Fold the changes into the shared items. O(uncommitted changes)."""
        self._current()
        if self._own:
            self._shared.items.update(self._own)
            self._shared.keys += self._new
            self._shared.stamp += 1
            self._stamp = self._shared.stamp
            self._own, self._new = {}, []

    def shed(self, count: int) -> bool:
        """Give up the last ``count`` shared items; true if any are left. For a mapping nobody reads any more: freeing
        a large one at once takes longer than a table may pause. Every copy is superseded."""
        self._shared.stamp += 1
        keys, items = self._shared.keys, self._shared.items
        for key in keys[-count:]:
            del items[key]
        del keys[-count:]
        return bool(keys)

    def get(self, key: str) -> V | None:
        """The value of ``key``, None if there is none."""
        found = self._own.get(key)
        return found if found is not None else self._shared.items.get(key)

    def set(self, key: str, value: V) -> None:
        """Give ``key`` a value; a new key goes to the end."""
        if key not in self._own:
            self._current()
            if key not in self._shared.items:
                self._new.append(key)
        self._own[key] = value

    def keys(self, start: int = 0, stop: int | None = None) -> list[str]:
        """Keys in the order they first came, from ``start`` up to ``stop``. O(keys returned)."""
        self._current()
        shared, stop = self._shared.keys, len(self) if stop is None else stop
        found = shared[start:stop]
        past = len(shared)
        if stop > past and self._new:
            found += self._new[max(0, start - past) : stop - past]
        return found

    def items(self) -> Iterator[tuple[str, V]]:
        """All items in the order of their keys."""
        for key in self.keys():
            value = self.get(key)
            if value is not None:
                yield key, value

    def __contains__(self, key: str) -> bool:
        return key in self._own or key in self._shared.items

    def __len__(self) -> int:
        return len(self._shared.keys) + len(self._new)

    def __eq__(self, other: object) -> bool:
        """The same items in the same order."""
        if not isinstance(other, Layered):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self.items(), other.items(), strict=True))

    __hash__ = None  # type: ignore[assignment]
