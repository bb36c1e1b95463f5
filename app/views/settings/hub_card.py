"""Settings → Advanced: which hub models come from, how it is reached, and the token for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from app.controllers.models import ModelController
from app.settings import Settings
from app.system.machine import system_proxy
from app.theme import Theme
from app.views.settings.options import Kept
from app.views.widgets.cards import Card, Row
from app.views.widgets.fields import LineField, Switch, WholeField
from app.views.widgets.translated import Translated
from app.words.formats import fill, sentences

_FIELD_PX = 260  # whatever the text's size, so that large text leaves a page its width
_MEGABYTE = 1_000_000
_MOST_MEGABYTES = 10_000


class HubCard(Translated, Card):
    def __init__(self, theme: Theme, settings: Settings, models: ModelController) -> None:
        super().__init__(theme)
        self._settings = settings
        self._models = models
        self.endpoint, self.mirrors, self.proxy, self.token = (LineField(theme) for _ in range(4))
        self.token_in_clear, self.offline = Switch(theme), Switch(theme)
        self.limit = WholeField(theme, 0, _MOST_MEGABYTES, 110)
        self.token.setEchoMode(LineField.EchoMode.Password)
        self._endpoint_row = Row(theme, self.endpoint)
        self._token_row = Row(theme, self.token)
        self._token_in_clear_row = Row(theme, self.token_in_clear)
        self._mirrors_row = Row(theme, self.mirrors)
        self._proxy_row = Row(theme, self.proxy)
        self._limit_row = Row(theme, self.limit)
        self._offline_row = Row(theme, self.offline)
        self._show_settings()
        self._arrange()
        self._retranslate()
        settings.changed.connect(self._on_setting)

    def _arrange(self) -> None:
        for row in (self._endpoint_row, self._token_row, self._token_in_clear_row, self._mirrors_row):
            self.add(row)
        for row in (self._proxy_row, self._limit_row, self._offline_row):
            self.add(row)
        for field in (self.endpoint, self.token, self.mirrors, self.proxy):
            field.setMinimumWidth(_FIELD_PX)
        self.endpoint.editingFinished.connect(self._keep_endpoint)
        self.token.editingFinished.connect(self._keep_token)
        self.mirrors.editingFinished.connect(self._keep_mirrors)
        self.proxy.editingFinished.connect(self._keep_proxy)
        self.limit.chosen.connect(lambda value: setattr(self._settings, "download_limit", value * _MEGABYTE))
        Kept(self._settings, "hub_offline", self.offline)
        self.token_in_clear.chosen.connect(self._models.sources.allow_token_in_clear)

    def _show_settings(self) -> None:
        for show in self._shown_by.values():
            show()

    def _on_setting(self, name: str) -> None:
        """They change elsewhere too, as when all is reset; what a field shows would be kept again when it is left."""
        if name in self._shown_by:
            self._shown_by[name]()

    @cached_property
    def _shown_by(self) -> dict[str, Callable[[], object]]:
        """How each option is shown. One alone: the user may be typing in another field."""
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
        """Of this address; where only another one has a token, that it is not sent here."""
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
        self._proxy_row.set_words(self.tr("Proxy"), sentences(self.tr("Empty: system proxy."), now))

    def _keep_endpoint(self) -> None:
        if self.endpoint.text() != self._settings.hub_endpoint:
            self._models.sources.set_endpoint(self.endpoint.text())
            self.endpoint.setText(self._settings.hub_endpoint)

    def _keep_token(self) -> None:
        """What was typed; a token that could not be read when the field was filled stays."""
        if self.token.text() != self._shown_token:
            self._models.sources.set_token(self.token.text())

    def _keep_proxy(self) -> None:
        self._models.sources.set_proxy(self.proxy.text())
        self.proxy.setText(self._settings.hub_proxy)

    def _keep_mirrors(self) -> None:
        self._models.sources.set_mirrors(self.mirrors.text().replace(",", " ").split())
        self.mirrors.setText(" ".join(self._settings.hub_mirrors))

    def _retranslate(self) -> None:
        self._endpoint_row.set_words(self.tr("Address"), self.tr("Empty: public hub."))
        self.endpoint.setPlaceholderText("https://huggingface.co")
        self._say_token()
        self._token_in_clear_row.set_words(
            self.tr("Send token unencrypted"),
            self.tr("For http. Others can read it."),
        )
        self._mirrors_row.set_words(
            self.tr("Mirrors"),
            self.tr("Separate with spaces. Never sent the token."),
        )
        self._say_proxy()
        self._limit_row.set_words(self.tr("Download limit"), self.tr("MB per second."))
        self.limit.setSpecialValueText(self.tr("None"))
        self._offline_row.set_words(self.tr("Offline mode"), self.tr("Installed models keep working."))
