"""What a caller may count on, as protocols: the app is written against these, and a scripted engine can stand in.

Every method may be called from any thread and returns at once; what happens later arrives at the sink as events.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Protocol

from engine.api.events import Sink
from engine.api.hub import HubAccess, HubQuery, SearchId
from engine.api.types import CountId, DownloadId, EngineState, Request, RequestId, Speculation


class ChatEngine(Protocol):
    """Loads models and writes replies.

    Each call that takes a sink ends in one last event: load and set_draft in ModelReady or ModelFailed for each model
    that they were given, unload in ModelUnloaded of the main model, set_draft(None) in ModelUnloaded of the draft (also
    when there was none), submit in Finished or Failed, count_tokens in TokensCounted. That holds after close(), too,
    and when the engine is broken.
    """

    def load(
        self, folder: Path | str, sink: Sink, draft: Path | str | None = None, *, end_replies: bool = False
    ) -> None:
        """Load a main model, then `draft`, in place of the loaded pair. Aborts whatever is being loaded.

        The loaded pair goes, which ModelUnloaded tells, when weights are about to be read. What cannot be loaded for a
        reason that shows before (files, tokenizer, memory) fails and changes nothing; its draft fails with LoadAborted.
        While replies are written it is refused with RepliesUnderWay and changes nothing, unless `end_replies`: then
        they end with MODEL_CHANGED; a background one does in any case. Those that wait for their turn are written with
        the new model.
        """

    def set_draft(self, folder: Path | str | None, sink: Sink) -> None:
        """Load a draft for the main model, in place of the present one, or drop it. Aborts a draft being loaded."""

    def unload(self, sink: Sink) -> None:
        """Drop the loaded pair. Aborts whatever is being loaded."""

    def submit(self, request: Request, sink: Sink) -> RequestId:
        """Queue a request; `sink` hears its events."""

    def count_tokens(self, text: str, sink: Sink) -> CountId:
        """Count what `text` takes of the main model's context, beside replies under way; TokensCounted tells."""

    def cancel(self, request: RequestId) -> None:
        """Finish a request early. Unknown and finished ones are ignored."""

    def set_speculation(self, request: RequestId, speculation: Speculation) -> None:
        """Have a request draft otherwise from its next round on; its text stays the same. Raises InvalidRequest.

        How drafts are accepted stays as it was asked for. Unknown and finished requests are ignored.
        """

    def keep_only(self, conversations: Collection[str]) -> None:
        """Forget what is kept of every other conversation, in memory and on disk, as of one that was deleted.

        Replies under way of those are written, but leave nothing. Requests of no conversation are not concerned.
        """

    def subscribe(self, sink: Sink) -> Callable[[], None]:
        """Send every model event to `sink` from now on, whoever caused it. The answer ends that.

        A sink that is also given to a call hears each event of that call once.
        """

    def state(self) -> EngineState:
        """What is loaded and under way. At least as new as the last event that any sink has heard."""

    def close(self, timeout_s: float = 10.0) -> bool:
        """Finish every request as cancelled and unload; True when all of it is done in time."""


class ModelLibrary(Protocol):
    """Knows what models are on disk and fetches new ones. One sink, given at construction, hears everything.

    A download that was paused or failed goes on where it was when its repository is installed again, under a new id;
    cancelling it instead removes what it kept and reports DownloadStopped. The first scan reports downloads that an
    earlier run of the program left behind as DownloadStopped, too.
    """

    def scan(self) -> None: ...

    def install(self, repository: str, revision: str = "main") -> DownloadId: ...

    def pause(self, download: DownloadId) -> None: ...

    def cancel(self, download: DownloadId) -> None: ...

    def delete(self, folder: Path | str) -> None: ...

    def verify(self, folder: Path | str) -> None:
        """Compare an installed model's files with what was downloaded: VerifyProgress, then ModelVerified."""

    def stop_verifying(self, folder: Path | str) -> None:
        """Then nothing more is told of it."""

    def read_template(self, folder: Path | str) -> None:
        """TemplateRead tells the chat template of a model, as its files have it."""

    def check_for_update(self, folder: Path | str) -> None:
        """Ask the hub whether it has a newer commit: UpdateChecked."""

    def try_now(self, download: DownloadId) -> None:
        """A download that waits before it asks the hub again need not."""
        ...

    def search(self, query: HubQuery) -> SearchId:
        """Ask the hub; SearchResults or SearchFailed say what it knows. Ends the search before it."""
        ...

    def more(self, search: SearchId) -> None:
        """The next results of the latest search; others are over."""
        ...

    def read_page(self, repository: str) -> None:
        """PageRead or PageFailed. Ends the reading of another page."""
        ...

    def set_hub(self, access: HubAccess) -> None:
        """For what is asked from now on, also by a download that waits for its next try.

        Offline mode pauses all downloads at once, and fails what else a hub is being asked with HubOffline.
        """
        ...

    def set_limit(self, bytes_per_second: int) -> None:
        """Of all downloads together, at once; 0: none."""
        ...

    def check_pair(self, main: Path | str, draft: Path | str) -> None:
        """Compare the files of two models thoroughly; PairChecked is the answer."""
        ...

    def set_folders(self, folders: Sequence[Path | str]) -> None: ...

    def close(self, timeout_s: float = 10.0) -> bool: ...
