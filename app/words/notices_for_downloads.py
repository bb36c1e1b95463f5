"""Every refusal of a download or of a hub in words: what could not be fetched, why, and what to do."""

from __future__ import annotations

from functools import partial

import engine
from app.words.notices import QT_TRANSLATE_NOOP, NoticeAction, NoticeRow
from engine import HubSilence

_unreachable = partial(
    NoticeRow, engine.HubUnreachable, QT_TRANSLATE_NOOP("Messages", "Hub not reachable"), values=("endpoint",)
)
_no_weights = partial(
    NoticeRow,
    engine.NothingToInstall,
    QT_TRANSLATE_NOOP("Messages", "Nothing to install"),
    hint=QT_TRANSLATE_NOOP("Messages", "Look for it at mlx-community."),
    action=NoticeAction.OPEN_MODELS,
)
_folder_unusable = partial(
    NoticeRow,
    engine.StorageFailed,
    QT_TRANSLATE_NOOP("Messages", "Models folder not usable"),
    action=NoticeAction.RETRY,
)

DOWNLOAD_TABLE = (
    NoticeRow(
        engine.RepositoryNotFound,
        QT_TRANSLATE_NOOP("Messages", "Repository not found"),
        QT_TRANSLATE_NOOP("Messages", "%1 is not on the hub."),
        QT_TRANSLATE_NOOP("Messages", "Check the spelling. Private ones need a token."),
        NoticeAction.OPEN_HUB,
        values=("repository",),
    ),
    NoticeRow(
        engine.AccessDenied,
        QT_TRANSLATE_NOOP("Messages", "No access"),
        QT_TRANSLATE_NOOP("Messages", "%1 has terms to accept."),
        QT_TRANSLATE_NOOP("Messages", "Accept them on its page, then add your token in Settings."),
        NoticeAction.OPEN_HUB,
        values=("repository",),
        when=lambda error: error.gated,
    ),
    NoticeRow(
        engine.AccessDenied,
        QT_TRANSLATE_NOOP("Messages", "No access"),
        QT_TRANSLATE_NOOP("Messages", "%1 is private or closed to this token."),
        QT_TRANSLATE_NOOP("Messages", "Add a token with read access."),
        NoticeAction.OPEN_HUB,
        values=("repository",),
    ),
    _unreachable(
        QT_TRANSLATE_NOOP("Messages", "%1 is not a hub address."),
        QT_TRANSLATE_NOOP("Messages", "Check the hub address in Settings."),
        NoticeAction.OPEN_HUB,
        when=lambda error: error.reason is HubSilence.ADDRESS,
    ),
    _unreachable(
        QT_TRANSLATE_NOOP("Messages", "%1 not found. This Mac may be offline."),
        QT_TRANSLATE_NOOP("Messages", "Check your connection and the hub address."),
        NoticeAction.RETRY,
        when=lambda error: error.reason is HubSilence.NAME,
    ),
    _unreachable(
        QT_TRANSLATE_NOOP("Messages", "No connection to %1."),
        QT_TRANSLATE_NOOP("Messages", "Check your connection. Downloaded data is kept."),
        NoticeAction.RETRY,
        when=lambda error: error.reason is HubSilence.NO_ROUTE,
    ),
    _unreachable(
        QT_TRANSLATE_NOOP("Messages", "%1 refused the connection."),
        QT_TRANSLATE_NOOP("Messages", "Check your connection and the hub address."),
        NoticeAction.RETRY,
        when=lambda error: error.reason is HubSilence.REFUSED,
    ),
    _unreachable(
        QT_TRANSLATE_NOOP("Messages", "%1 did not answer."),
        QT_TRANSLATE_NOOP("Messages", "Check your connection. Downloaded data is kept."),
        NoticeAction.RETRY,
        when=lambda error: error.reason is HubSilence.TIMED_OUT,
    ),
    _unreachable(
        QT_TRANSLATE_NOOP("Messages", "%1 has an untrusted certificate."),
        QT_TRANSLATE_NOOP("Messages", "Check this Mac's date, network and hub address."),
        NoticeAction.OPEN_HUB,
        when=lambda error: error.reason is HubSilence.CERTIFICATE,
    ),
    _unreachable(
        QT_TRANSLATE_NOOP("Messages", "The proxy does not reach %1."),
        QT_TRANSLATE_NOOP("Messages", "Check the proxy in Settings."),
        NoticeAction.OPEN_HUB,
        when=lambda error: error.reason is HubSilence.PROXY,
    ),
    _unreachable(
        QT_TRANSLATE_NOOP("Messages", "%1 is busy."),
        QT_TRANSLATE_NOOP("Messages", "Try again later. Downloaded data is kept."),
        NoticeAction.RETRY,
        when=lambda error: error.reason is HubSilence.BUSY,
    ),
    _unreachable(
        QT_TRANSLATE_NOOP("Messages", "Connection to %1 lost."),
        QT_TRANSLATE_NOOP("Messages", "Check your connection. Downloaded data is kept."),
        NoticeAction.RETRY,
    ),
    NoticeRow(
        engine.HubOffline,
        QT_TRANSLATE_NOOP("Messages", "Offline mode is on"),
        QT_TRANSLATE_NOOP("Messages", "Offline mode blocks the hub."),
        QT_TRANSLATE_NOOP("Messages", "Turn it off in Settings."),
        NoticeAction.OPEN_HUB,
    ),
    NoticeRow(
        engine.HubCannotSearch,
        QT_TRANSLATE_NOOP("Messages", "Search not available"),
        QT_TRANSLATE_NOOP("Messages", "%1 cannot be searched."),
        QT_TRANSLATE_NOOP("Messages", "Enter a repository name."),
        NoticeAction.OPEN_MODELS,
        values=("endpoint",),
    ),
    NoticeRow(
        engine.HubMisbehaved,
        QT_TRANSLATE_NOOP("Messages", "Hub not trusted"),
        QT_TRANSLATE_NOOP("Messages", "Invalid response from the hub."),
        QT_TRANSLATE_NOOP("Messages", "Check the hub address in Settings."),
        NoticeAction.OPEN_HUB,
    ),
    NoticeRow(
        engine.TokenInClear,
        QT_TRANSLATE_NOOP("Messages", "Token not sent"),
        QT_TRANSLATE_NOOP("Messages", "%1 is not encrypted: others could read it."),
        QT_TRANSLATE_NOOP("Messages", "Use https, or allow it in Settings."),
        NoticeAction.OPEN_HUB,
        values=("endpoint",),
    ),
    NoticeRow(
        engine.ChecksumMismatch,
        QT_TRANSLATE_NOOP("Messages", "Download damaged"),
        QT_TRANSLATE_NOOP("Messages", "%1 failed its checksum and was discarded."),
        action=NoticeAction.RETRY,
        values=("file",),
    ),
    NoticeRow(
        engine.NothingToInstall,
        QT_TRANSLATE_NOOP("Messages", "Nothing to install"),
        QT_TRANSLATE_NOOP("Messages", "%1 has only drafters, in folders: %2."),
        QT_TRANSLATE_NOOP("Messages", "Install one by name."),
        NoticeAction.OPEN_MODELS,
        values=("repository", "drafters"),
        when=lambda error: bool(error.drafters),
    ),
    NoticeRow(
        engine.FileMissing,
        QT_TRANSLATE_NOOP("Messages", "File missing"),
        QT_TRANSLATE_NOOP("Messages", "The hub lacks %1 of %2."),
        QT_TRANSLATE_NOOP("Messages", "Try again later. Downloaded data is kept."),
        NoticeAction.RETRY,
        values=("file", "repository"),
    ),
    NoticeRow(
        engine.FileUnusable,
        QT_TRANSLATE_NOOP("Messages", "File not usable"),
        QT_TRANSLATE_NOOP("Messages", "%1 of %2 has %3; limit: %4."),
        QT_TRANSLATE_NOOP("Messages", "Look for it at mlx-community."),
        NoticeAction.OPEN_MODELS,
        values=("file", "repository", "size_bytes", "limit_bytes"),
        when=lambda error: error.limit_bytes > 0,
    ),
    NoticeRow(
        engine.FileUnusable,
        QT_TRANSLATE_NOOP("Messages", "File not usable"),
        QT_TRANSLATE_NOOP("Messages", "%1 of %2 is damaged on the hub."),
        QT_TRANSLATE_NOOP("Messages", "Look for it at mlx-community."),
        NoticeAction.OPEN_MODELS,
        values=("file", "repository"),
    ),
    _no_weights(
        QT_TRANSLATE_NOOP("Messages", "%1 lacks: %2."),
        values=("repository", "lacks"),
        when=lambda error: "safetensors" in error.formats and bool(error.lacks),
    ),
    _no_weights(
        QT_TRANSLATE_NOOP("Messages", "%1 has no MLX weights, only %2."),
        values=("repository", "formats"),
        when=lambda error: bool(error.formats),
    ),
    _no_weights(
        QT_TRANSLATE_NOOP("Messages", "%1 has no MLX weights."),
        values=("repository",),
    ),
    NoticeRow(
        engine.DiskFull,
        QT_TRANSLATE_NOOP("Messages", "Not enough disk space"),
        QT_TRANSLATE_NOOP("Messages", "%1 needs %2; of %3 free, other downloads need %4."),
        QT_TRANSLATE_NOOP("Messages", "Cancel a download, or delete a model."),
        NoticeAction.OPEN_MODELS,
        values=("repository", "needed_bytes", "available_bytes", "promised_bytes"),
        when=lambda error: error.promised_bytes > 0,
    ),
    NoticeRow(
        engine.DiskFull,
        QT_TRANSLATE_NOOP("Messages", "Not enough disk space"),
        QT_TRANSLATE_NOOP("Messages", "%1 needs %2 of disk space; %3 is free."),
        QT_TRANSLATE_NOOP("Messages", "Delete a model."),
        NoticeAction.OPEN_MODELS,
        values=("repository", "needed_bytes", "available_bytes"),
    ),
    _folder_unusable(
        QT_TRANSLATE_NOOP("Messages", "Another copy of Hunch is installing %1."),
        values=("repository",),
        when=lambda error: error.in_use,
    ),
    _folder_unusable(
        QT_TRANSLATE_NOOP("Messages", "%1 is a file, not a folder."),
        QT_TRANSLATE_NOOP("Messages", "Move the file."),
        values=("folder",),
        when=lambda error: error.in_the_way,
    ),
    _folder_unusable(
        QT_TRANSLATE_NOOP("Messages", "%1 cannot be written to."),
        QT_TRANSLATE_NOOP("Messages", "Connect its disk, or allow writing."),
        values=("folder",),
    ),
)
