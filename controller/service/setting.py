"""What a table of this file does not change while it runs."""

from __future__ import annotations

from controller.config import Loaded
from controller.table.draft import Setting
from controller.table.state import Traits
from drivers.registry import open_shoe


def setting_of(loaded: Loaded) -> Setting:
    """The table's setting: its id, rules, book and what its shoe can tell. Opens no device. Raises ``SettingsError``
    for a shoe that the file does not describe."""
    config, told = loaded.config, open_shoe(loaded.shoe).capabilities
    traits = Traits(positions=told.positions, results=told.results, standby=told.standby, actions=told.actions)
    sources, within_ms = config.validation.sources, config.validation.confirm_within_ms
    return Setting(config.table.id, config.game, traits, config.book(), sources, within_ms, salt=config.table.id)
