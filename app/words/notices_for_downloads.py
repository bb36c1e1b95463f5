"""Every refusal of a download or of a hub in words: what could not be fetched, why, and what to do."""

from __future__ import annotations

import engine
from app.words.notice_rows import QT_TRANSLATE_NOOP, Row
from app.words.notices import NoticeAction

DOWNLOAD_TABLE = (
    Row(
        engine.RepositoryNotFound,
        QT_TRANSLATE_NOOP("Messages", "Repository not found"),
        QT_TRANSLATE_NOOP("Messages", "The hub knows no repository %1."),
        QT_TRANSLATE_NOOP("Messages", "Check the spelling; a private one needs a token in Settings."),
        NoticeAction.OPEN_MODELS,
        values=("repository",),
    ),
    Row(
        engine.AccessDenied,
        QT_TRANSLATE_NOOP("Messages", "No access"),
        QT_TRANSLATE_NOOP("Messages", "%1 asks you to accept its terms first."),
        QT_TRANSLATE_NOOP("Messages", "Accept them on its page on the hub, then put your token in Settings."),
        NoticeAction.OPEN_MODELS,
        values=("repository",),
        when=lambda error: error.gated,
    ),
    Row(
        engine.AccessDenied,
        QT_TRANSLATE_NOOP("Messages", "No access"),
        QT_TRANSLATE_NOOP("Messages", "%1 is private, or this token has no access."),
        QT_TRANSLATE_NOOP("Messages", "Put a token that may read it in Settings."),
        NoticeAction.OPEN_MODELS,
        values=("repository",),
    ),
    Row(
        engine.HubUnreachable,
        QT_TRANSLATE_NOOP("Messages", "Hub not reachable"),
        QT_TRANSLATE_NOOP("Messages", "%1 does not answer: %2"),
        QT_TRANSLATE_NOOP("Messages", "Check the connection and try again; what has arrived is kept."),
        NoticeAction.RETRY,
        values=("endpoint", "detail"),
    ),
    Row(
        engine.HubOffline,
        QT_TRANSLATE_NOOP("Messages", "Offline mode is on"),
        QT_TRANSLATE_NOOP("Messages", "Hunch asks no hub while offline mode is on."),
        QT_TRANSLATE_NOOP(
            "Messages", "Installed models work as usual. Turn offline mode off in Settings to get others."
        ),
        NoticeAction.OPEN_MODELS,
    ),
    Row(
        engine.HubCannotSearch,
        QT_TRANSLATE_NOOP("Messages", "Search not available"),
        QT_TRANSLATE_NOOP("Messages", "%1 has no list of models to search in."),
        QT_TRANSLATE_NOOP("Messages", "A model can still be installed by its repository's name."),
        NoticeAction.OPEN_MODELS,
        values=("endpoint",),
    ),
    Row(
        engine.HubMisbehaved,
        QT_TRANSLATE_NOOP("Messages", "Hub not trusted"),
        QT_TRANSLATE_NOOP("Messages", "The hub sent something that it must not send: %1"),
        QT_TRANSLATE_NOOP("Messages", "Check the hub address in Settings."),
        NoticeAction.OPEN_MODELS,
        values=("detail",),
    ),
    Row(
        engine.TokenInClear,
        QT_TRANSLATE_NOOP("Messages", "Token not sent"),
        QT_TRANSLATE_NOOP("Messages", "%1 is not encrypted: anyone on the way could read the token."),
        QT_TRANSLATE_NOOP("Messages", "Use an https address, or allow it in Settings."),
        NoticeAction.OPEN_MODELS,
        values=("endpoint",),
    ),
    Row(
        engine.ChecksumMismatch,
        QT_TRANSLATE_NOOP("Messages", "Download damaged"),
        QT_TRANSLATE_NOOP("Messages", "%1 does not match its checksum and was thrown away."),
        QT_TRANSLATE_NOOP("Messages", "Try again; the other files are kept."),
        NoticeAction.RETRY,
        values=("file",),
    ),
    Row(
        engine.NothingToInstall,
        QT_TRANSLATE_NOOP("Messages", "Nothing to install"),
        QT_TRANSLATE_NOOP("Messages", "%1 has no MLX weights, only %2."),
        QT_TRANSLATE_NOOP("Messages", "Look for the same model from mlx-community."),
        NoticeAction.OPEN_MODELS,
        values=("repository", "formats"),
        when=lambda error: bool(error.formats),
    ),
    Row(
        engine.NothingToInstall,
        QT_TRANSLATE_NOOP("Messages", "Nothing to install"),
        QT_TRANSLATE_NOOP("Messages", "%1 has no MLX weights."),
        QT_TRANSLATE_NOOP("Messages", "Look for the same model from mlx-community."),
        NoticeAction.OPEN_MODELS,
        values=("repository",),
    ),
    Row(
        engine.DiskFull,
        QT_TRANSLATE_NOOP("Messages", "Not enough disk space"),
        QT_TRANSLATE_NOOP("Messages", "%1 needs %2 on the disk; %3 are free, of which other downloads still need %4."),
        QT_TRANSLATE_NOOP("Messages", "Cancel one of them, or delete a model that you no longer use."),
        NoticeAction.OPEN_MODELS,
        values=("repository", "needed_bytes", "available_bytes", "promised_bytes"),
        when=lambda error: error.promised_bytes > 0,
    ),
    Row(
        engine.DiskFull,
        QT_TRANSLATE_NOOP("Messages", "Not enough disk space"),
        QT_TRANSLATE_NOOP("Messages", "%1 needs %2 on the disk; %3 are free."),
        QT_TRANSLATE_NOOP("Messages", "Delete a model that you no longer use."),
        NoticeAction.OPEN_MODELS,
        values=("repository", "needed_bytes", "available_bytes"),
    ),
    Row(
        engine.StorageFailed,
        QT_TRANSLATE_NOOP("Messages", "Models folder not usable"),
        QT_TRANSLATE_NOOP("Messages", "%1 cannot be written to: %2"),
        QT_TRANSLATE_NOOP("Messages", "Check that its disk is connected and that you may write to it."),
        NoticeAction.RETRY,
        values=("folder", "detail"),
    ),
)
