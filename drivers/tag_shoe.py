"""What the drivers of RFID readers share: the registries, and how a shoe's change reaches the decoder."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

from drivers.decoder import Decoder
from drivers.errors import SettingsError
from drivers.mouth import LEAVE_S, Mouth
from drivers.polled import POLL_S, PolledTags
from drivers.settings import READS_CARDS, Capabilities, ShoeSettings
from drivers.shoe import ShoeDriver
from drivers.tags import Shoes, load_registry


class TagShoe(ShoeDriver):
    """A shoe with an antenna at its mouth: every card has a tag, the registry knows which."""

    capabilities: ClassVar[Capabilities] = READS_CARDS

    def __init__(self, settings: ShoeSettings, shoes: Shoes | None = None) -> None:
        """``shoes`` None: the registries that ``settings.tags`` names. Raises ``SettingsError``."""
        if shoes is None:
            if not settings.tags:
                raise SettingsError(
                    f"tags is missing: {self.protocol} reads tags, so name the registry of each shoe, such as "
                    'tags = ["red.toml"] (dealerd calibrate tags makes them)'
                )
            shoes = Shoes(load_registry(Path(name)) for name in settings.tags)
        self._shoes = shoes
        super().__init__(settings)

    def make_decoder(self) -> Decoder:
        """See ``ShoeDriver.make_decoder``. Raises ``SettingsError`` for a window of less than two polls."""
        poll_s = POLL_S if self.settings.poll_s is None else self.settings.poll_s
        window = self.settings.window(LEAVE_S)
        if window < 2 * poll_s:
            raise SettingsError(
                f"repeat_window_s is {window}: {self.protocol} needs {2 * poll_s:g} or more, two polls, or a tag "
                "that is missed once counts twice"
            )
        return self.make_reader(Mouth(self._shoes, window), poll_s)

    @abstractmethod
    def make_reader(self, mouth: Mouth, poll_s: float) -> PolledTags:
        """The decoder of this reader."""

    def new_shoe(self, gone: frozenset[str] = frozenset()) -> None:
        """See ``ShoeDriver.new_shoe``."""
        if isinstance(self._decoder, PolledTags):
            self._decoder.new_shoe(gone)
