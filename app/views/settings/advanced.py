"""Settings → Advanced: drafting, the hub, where everything is kept, resetting, and Qt's own style, which is hidden."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices

from app.controllers.models import ModelController
from app.settings import Settings
from app.system.energy import knows_battery
from app.system.machine import can_use_openblas, has_gpu, system_proxy
from app.system.paths import Paths
from app.theme import Theme
from app.views.settings.options import OptionRow
from app.views.settings.speculation_controls import SpeculationControls
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import PillButton
from app.views.widgets.cards import Card, Page, SettingRow
from app.views.widgets.dialog import Dialog, DialogText, ask
from app.views.widgets.fields import LineField, Switch, WholeField
from app.views.widgets.translated import Translated
from app.words.formats import fill, sentences
from app.words.tools import problem_text

_FIELD_PX = 260  # whatever the text's size, so that large text leaves a page its width
_MEGABYTE = 1_000_000
_MOST_MEGABYTES = 10_000


class SpeculationCard(Translated, Card):
    """How much is drafted, and when."""

    def __init__(self, theme: Theme, settings: Settings, models: ModelController) -> None:
        super().__init__(theme)
        self._settings = settings
        self._models = models
        self.controls = SpeculationControls(theme, offers_fixed=True)
        self.controls.explanation.hide()  # the row has it
        self.row = SettingRow(theme, self.controls)
        self.tokens_row = SettingRow(theme, self.controls.tokens)  # of its own, so that the choices keep their place
        self.on_button = PillButton(theme)
        self.off_row = SettingRow(theme, self.on_button)
        self.battery = Switch(theme)
        self.battery_row = OptionRow(theme, settings, "draft_on_battery", self.battery)
        self.light = Switch(theme)
        self.light_row = OptionRow(theme, settings, "light_drafters", self.light)
        self.add(self.row)
        arrange(self.column, self.tokens_row, self.off_row)
        for row, is_there in ((self.battery_row, knows_battery()), (self.light_row, has_gpu())):
            if is_there:
                self.add(row)
            else:
                row.setParent(None)
        self.controls.chosen.connect(models.choose_speculation)
        self.controls.explained.connect(self._explain)
        settings.changed.connect(self._show)
        models.pair_changed.connect(self._show)
        self.on_button.clicked.connect(lambda: models.set_off_for_pair(False))
        self._show()
        self._retranslate()

    def _show(self) -> None:
        pair = self._models.pair
        self.controls.set_value(str(pair.speculation.mode), self._settings.speculation_tokens)
        self.off_row.setVisible(pair.off_for_pair)

    def _explain(self, words: str) -> None:
        self.row.set_words(self.tr("Use a draft"), words)
        self.tokens_row.setVisible(self.controls.modes.value == "fixed")

    def _retranslate(self) -> None:
        self._explain(self.controls.explanation.text())
        self.tokens_row.set_words(self.tr("Tokens to draft"))
        self.on_button.setText(self.tr("Turn on"))
        self.battery_row.set_words(self.tr("Draft on battery"), self.tr("Off pauses it in chats until power is back."))
        self.light_row.set_words(
            self.tr("Drafters at 4 bits"),
            self.tr("Faster, a third of the memory, nearly as many guesses right. Needs a restart."),
        )
        self.off_row.set_words(self.tr("Off for this pair"), self.tr("You turned it off: drafting was slower."))


class AdvancedPage(Translated, Page):
    def __init__(self, theme: Theme, settings: Settings, models: ModelController, paths: Paths) -> None:
        super().__init__(theme)
        self._settings = settings
        self._paths = paths
        self.speculation = SpeculationCard(theme, settings, models)
        self.hub = HubCard(theme, settings)
        self.data_button = PillButton(theme)
        self.log_button = PillButton(theme)
        self.reset_button = PillButton(theme)
        self.openblas = Switch(theme)
        self.fusion = Switch(theme)
        self._data_row = SettingRow(theme, self.data_button)
        self._log_row = SettingRow(theme, self.log_button)
        self._reset_row = SettingRow(theme, self.reset_button)
        self.openblas_row = OptionRow(theme, settings, "use_openblas", self.openblas)
        self.fusion_row = OptionRow(theme, settings, "use_fusion", self.fusion)
        self._arrange()
        self.data_button.clicked.connect(lambda: _show_folder(paths.data))
        self.log_button.clicked.connect(lambda: _show_folder(paths.logs))
        self.reset_button.clicked.connect(self.ask_to_reset)
        settings.changed.connect(self._show)
        self._show()
        self._retranslate()

    def _arrange(self) -> None:
        kept, speed, reset, style = (Card(self.theme) for _ in range(4))
        kept.add(self._data_row, self._log_row)
        speed.add(self.openblas_row)
        if not can_use_openblas():
            speed.hide()
        reset.add(self._reset_row)
        style.add(self.fusion_row)
        style.shown_by_search = True  # it helps where the system's style has drawing errors
        style.hide()
        self._speculation_heading = self.add_heading()
        self.column.addWidget(self.speculation)
        self._hub_heading = self.add_heading()
        self.column.addWidget(self.hub)
        self._rest_heading = self.add_heading()
        for card in (kept, speed, reset, style):
            self.column.addWidget(card)
        self.end()

    def _show(self) -> None:
        if self._settings.use_fusion and (card := self.fusion_row.parentWidget()) is not None:
            card.show()

    def ask_to_reset(self) -> Dialog:
        return ask(self.theme, self, self._question, self._settings.reset_all)

    def _question(self) -> DialogText:
        return DialogText(
            self.tr("Reset all settings?"),
            self.tr("Chats, models, presets, system prompt and hub access stay."),
            "",
            self.tr("Reset"),
            self.tr("Cancel"),
        )

    def _retranslate(self) -> None:
        self._speculation_heading.setText(self.tr("Drafting"))
        self._hub_heading.setText(self.tr("Hub"))
        self._rest_heading.setText(self.tr("Hunch"))
        for button in (self.data_button, self.log_button):
            button.setText(self.tr("Show"))
        self.reset_button.setText(self.tr("Reset…"))
        self._data_row.set_words(self.tr("Data folder"), str(self._paths.data))
        self._data_row.explanation.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._log_row.set_words(self.tr("Log"), self.tr("Errors, never chat text."))
        self._reset_row.set_words(self.tr("Reset all settings"))
        self.openblas_row.set_words(
            self.tr("Use OpenBLAS"),
            self.tr("Much faster, but a draft may change replies. Needs a restart."),
        )
        self.fusion_row.set_words(
            self.tr("Use Fusion style"),
            self.tr("If controls look wrong."),
        )


def _show_folder(folder: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


class HubCard(Translated, Card):
    """The hub, its mirrors and proxy, and its token."""

    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__(theme)
        self._settings = settings
        self.endpoint, self.mirrors, self.proxy, self.token = (LineField(theme) for _ in range(4))
        self.token_in_clear = Switch(theme)
        self.offline = Switch(theme)
        self.limit = WholeField(theme, 0, _MOST_MEGABYTES, 110)
        self.token.setEchoMode(LineField.EchoMode.Password)
        self._endpoint_row = SettingRow(theme, self.endpoint)
        self._token_row = SettingRow(theme, self.token)
        self._token_in_clear_row = SettingRow(theme, self.token_in_clear)
        self._mirrors_row = SettingRow(theme, self.mirrors)
        self.proxy_row = SettingRow(theme, self.proxy)
        self._limit_row = SettingRow(theme, self.limit)
        self._offline_row = OptionRow(theme, settings, "hub_offline", self.offline)
        self._show_settings()
        self._arrange()
        self._retranslate()
        settings.changed.connect(self._on_setting)

    def _arrange(self) -> None:
        self.add(self._endpoint_row, self._token_row, self._token_in_clear_row, self._mirrors_row)
        self.add(self.proxy_row, self._limit_row, self._offline_row)
        for field in (self.endpoint, self.token, self.mirrors, self.proxy):
            field.setMinimumWidth(_FIELD_PX)
        self.endpoint.editingFinished.connect(self._keep_endpoint)
        self.token.editingFinished.connect(self._keep_token)
        self.mirrors.editingFinished.connect(self._keep_mirrors)
        self.proxy.editingFinished.connect(self._keep_proxy)
        self.limit.chosen.connect(lambda value: setattr(self._settings, "download_limit", value * _MEGABYTE))
        self.token_in_clear.chosen.connect(lambda on: setattr(self._settings, "hub_token_in_clear", on))

    def _show_settings(self) -> None:
        for show in self._shown_by.values():
            show()

    def _on_setting(self, name: str) -> None:
        """Options also change elsewhere, as by a reset; a field's old text would be saved when it loses the focus."""
        if name in self._shown_by:
            self._shown_by[name]()

    @cached_property
    def _shown_by(self) -> dict[str, Callable[[], object]]:
        """The field of each option. Only one is updated: the user may be typing in another."""
        settings = self._settings
        return {
            "hub_endpoint": self._show_hub,
            "hub_token": self._show_token,
            "hub_mirrors": lambda: self.mirrors.setText(" ".join(settings.hub_mirrors)),
            "hub_proxy": self._show_proxy,
            "download_limit": lambda: self.limit.set_value(settings.download_limit // _MEGABYTE),
            "hub_token_in_clear": lambda: self.token_in_clear.set_value(settings.hub_token_in_clear),
        }

    def _show_hub(self) -> None:
        self.endpoint.setText(self._settings.hub_endpoint)
        self._show_token()

    def _show_token(self) -> None:
        """Show the token of this address; if only another address has one, say that it is not sent here."""
        self._shown_token = self._settings.hub_token
        self.token.setText(self._shown_token)
        self._say_token()

    def _say_token(self) -> None:
        words = self.tr("For private and gated models.")
        if not self._settings.hub_token and (others := self._settings.hubs_with_token):
            words = fill(self.tr("The token for %1 is never sent here."), others[-1])
        self._token_row.set_words(self.tr("Token"), words)

    def _show_proxy(self) -> None:
        self.proxy.setText(self._settings.hub_proxy)
        self._say_proxy()

    def _say_proxy(self) -> None:
        in_force = "" if self._settings.hub_proxy else system_proxy()
        now = fill(self.tr("Now %1."), in_force) if in_force else ""
        self.proxy_row.set_words(self.tr("Proxy"), sentences(self.tr("Empty: system proxy."), now))

    def _keep_endpoint(self) -> None:
        if self.endpoint.text() != self._settings.hub_endpoint:
            self._settings.hub_endpoint = self.endpoint.text()
            self.endpoint.setText(self._settings.hub_endpoint)

    def _keep_token(self) -> None:
        """Save the typed token; one that could not be read before stays."""
        if self.token.text() != self._shown_token:
            self._settings.hub_token = typed = self.token.text().strip()
            if self._settings.hub_token != typed:
                self._token_row.set_words(self.tr("Token"), problem_text("value", self.tr("Token")))

    def _keep_proxy(self) -> None:
        self._settings.hub_proxy = self.proxy.text()
        self.proxy.setText(self._settings.hub_proxy)

    def _keep_mirrors(self) -> None:
        self._settings.hub_mirrors = tuple(self.mirrors.text().replace(",", " ").split())
        self.mirrors.setText(" ".join(self._settings.hub_mirrors))

    def _retranslate(self) -> None:
        self._endpoint_row.set_words(self.tr("Address"))
        self.endpoint.setPlaceholderText("https://huggingface.co")
        self._say_token()
        self._token_in_clear_row.set_words(
            self.tr("Send token unencrypted"),
            self.tr("For http. Others can read it."),
        )
        self._mirrors_row.set_words(
            self.tr("Mirrors"),
            self.tr("Separate with spaces. Your token is never sent to them."),
        )
        self._say_proxy()
        self._limit_row.set_words(self.tr("Download limit"), self.tr("MB per second."))
        self.limit.setSpecialValueText(self.tr("None"))
        self._offline_row.set_words(self.tr("Offline mode"), self.tr("Installed models keep working."))
