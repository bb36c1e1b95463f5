"""Settings → Models: which hub models come from, and the token for it."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.controllers.models import ModelController
from app.settings import Settings
from app.theme import Theme
from app.views.widgets.cards import Card, Row
from app.views.widgets.fields import LineField, Switch
from app.views.widgets.translated import Translated

_FIELD_PX = 260  # whatever the text's size, so that large text leaves a page its width


class HubCard(Translated, Card):
    def __init__(
        self, theme: Theme, settings: Settings, models: ModelController, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, parent)
        self._settings = settings
        self._models = models
        self.endpoint = LineField(theme)
        self.token = LineField(theme)
        self.token_in_clear = Switch(theme)
        self.token.setEchoMode(LineField.EchoMode.Password)
        self._endpoint_row = Row(theme, self.endpoint)
        self._token_row = Row(theme, self.token)
        self._token_in_clear_row = Row(theme, self.token_in_clear)
        for row in (self._endpoint_row, self._token_row, self._token_in_clear_row):
            self.add(row)
        self.endpoint.setText(settings.hub_endpoint)
        self.token.setText(settings.hub_token)
        for field in (self.endpoint, self.token):
            field.setMinimumWidth(_FIELD_PX)
            field.editingFinished.connect(self._keep)
        self.token_in_clear.setChecked(settings.hub_token_in_clear)
        self.token_in_clear.toggled.connect(models.allow_token_in_clear)
        self._retranslate()

    def _keep(self) -> None:
        if (self.endpoint.text(), self.token.text()) != (self._settings.hub_endpoint, self._settings.hub_token):
            self._models.set_hub(self.endpoint.text(), self.token.text())
            self.endpoint.setText(self._settings.hub_endpoint)

    def _retranslate(self) -> None:
        self._endpoint_row.set_words(self.tr("Address"), self.tr("Leave empty for the public hub."))
        self.endpoint.setPlaceholderText("https://huggingface.co")
        self._token_row.set_words(self.tr("Token"), self.tr("Only for private and gated models. Kept on this machine."))
        self._token_in_clear_row.set_words(
            self.tr("Send the token unencrypted"),
            self.tr("For an http address on another machine. Anyone on the way can read the token."),
        )
