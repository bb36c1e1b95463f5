"""The contracts of engine and library, as protocols: the app depends on these, so a scripted engine can replace them.

Every method may be called from any thread and returns at once; what happens later arrives at the sink as events.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Protocol

from engine.api.events import Sink
from engine.api.hub import HubAccess, HubQuery, PeerModel, SearchId
from engine.api.modes import RankMode
from engine.api.ranks import Helping
from engine.api.station import StationPlace
from engine.api.types import CountId, DownloadId, EngineState, Request, RequestId, Speculation


class ChatEngine(Protocol):
    """Loads models and writes replies.

    Each call with a sink ends in one last event: load and set_draft in ModelReady or ModelFailed for each given model,
    unload in ModelUnloaded of the main model, set_draft(None) in ModelUnloaded of the draft (also if there was none),
    submit in Finished or Failed, count_tokens in TokensCounted. That holds after close(), too, and when the engine is
    broken.
    """

    def load(
        self,
        folder: Path | str,
        sink: Sink,
        draft: Path | str | None = None,
        *,
        end_replies: bool = False,
        helping: Sequence[Helping] = (),
        mode: RankMode | None = None,
    ) -> None:
        """Load a main model, then `draft`, in place of the loaded pair. Aborts any load in progress.

        The loaded pair is dropped, with ModelUnloaded, right before weights are read. A failure before that (files,
        tokenizer, memory) changes nothing; the draft then fails with LoadAborted. While replies run it is refused with
        RepliesUnderWay and changes nothing, unless `end_replies`: then they end with MODEL_CHANGED, as background ones
        and guests do in any case. Queued requests run with the new model.

        `helping`: experimental, machines that hold some of its layers: how many, is planned as it loads, in `mode` or,
        without one, in the faster one. One that does not help is a failure with MachineUnavailable. One that is lost
        ends replies with RankLost, and the model is loaded again by itself, later each time; ModelFailed says when.
        """

    def set_draft(self, folder: Path | str | None, sink: Sink) -> None:
        """Load a draft for the main model, replacing the present one; None: drop it. Aborts a draft being loaded."""

    def unload(self, sink: Sink) -> None:
        """Drop the loaded pair. Aborts any load in progress."""

    def submit(self, request: Request, sink: Sink) -> RequestId:
        """Queue a request; `sink` gets its events."""

    def count_tokens(self, text: str | Request, sink: Sink) -> CountId:
        """Count `text`, or a request's prompt, in the main model's tokens, beside running replies: TokensCounted."""

    def cancel(self, request: RequestId) -> None:
        """Finish a request early. Unknown and finished ones are ignored."""

    def answer_now(self, request: RequestId) -> None:
        """Have a request's thinking end and its answer begin.

        Ignored where it does not think, or no longer does, and for models whose end of thinking is not known.
        """

    def set_speculation(self, request: RequestId, speculation: Speculation) -> None:
        """Change how a request drafts, from its next round on; its text stays the same. Raises InvalidRequest.

        How drafts are accepted does not change. Unknown and finished requests are ignored.
        """

    def keep_only(self, conversations: Collection[str]) -> None:
        """Forget what is kept of all other conversations, in memory and on disk: they were deleted.

        Running replies of those go on, but nothing of them is kept. Requests without a conversation are not affected.
        """

    def set_sparing(self, on: bool, *, on_battery: bool = False) -> None:
        """While on, forwards are not timed and drafters not examined: the machine is hot or saves energy. On battery no
        more of a pair is measured than its first prices take.
        """

    def set_station(self, place: StationPlace | None) -> None:
        """Have a draft model compute at this place as well, in the background, with every pair that is loaded from now
        on and the present one; None: nowhere else. It drafts where that is faster. Drafters stay here.
        """

    def note_race(self, source: str, longer: float) -> None:
        """A race of the loaded pair, by the clock, found that its passes with drafts of `source` take this many times
        as long as the race's own statistics say.
        """

    def subscribe(self, sink: Sink) -> Callable[[], None]:
        """Send every model event to `sink` from now on, also those of other callers' commands. Call the result to
        unsubscribe.

        A sink that is also given to a call gets each event of that call once.
        """

    def state(self) -> EngineState:
        """What is loaded and running. At least as new as the last event that any sink has got."""

    def close(self, timeout_s: float = 10.0) -> bool:
        """Finish every request as cancelled and unload; True if all of it is done in time."""


class ModelLibrary(Protocol):
    """Lists the models on disk and downloads new ones. One sink, given at construction, gets all events.

    A paused or failed download continues when its repository is installed again, under a new id. Cancelling it removes
    what it kept, and sends DownloadStopped. The first scan sends DownloadStopped for downloads that an earlier run of
    the program left.
    """

    def scan(self) -> None: ...

    def install(self, repository: str, revision: str = "main") -> DownloadId: ...

    def pause(self, download: DownloadId) -> None: ...

    def cancel(self, download: DownloadId) -> None: ...

    def delete(self, folder: Path | str) -> None: ...

    def verify(self, folder: Path | str) -> None:
        """Compare an installed model's files with what was downloaded: VerifyProgress, then ModelVerified."""

    def stop_verifying(self, folder: Path | str) -> None:
        """No further events of that come."""

    def read_template(self, folder: Path | str) -> None:
        """Read a model's chat template from its files: TemplateRead."""

    def check_for_update(self, folder: Path | str) -> None:
        """Ask the hub for a newer commit: UpdateChecked."""

    def try_now(self, download: DownloadId) -> None:
        """End the wait of a download before its next try."""

    def search(self, query: HubQuery) -> SearchId:
        """Ask the hub: SearchResults or SearchFailed. Ends the search before it."""

    def more(self, search: SearchId) -> None:
        """The next results of the latest search; earlier searches have ended."""

    def read_page(self, repository: str) -> None:
        """PageRead or PageFailed. Ends the reading of another page."""

    def set_hub(self, access: HubAccess) -> None:
        """Applies to all later questions, also the next try of a waiting download.

        Offline mode pauses all downloads at once, and ends other questions to a hub with HubOffline.
        """

    def set_peer_model(self, model: PeerModel | None) -> None:
        """A download of that commit takes files from `model` while it can; each has to match the hub's checksum.

        Where neither the hub nor a mirror can be reached, the list with the checksums is that machine's, too.
        """

    def set_limit(self, bytes_per_second: int) -> None:
        """Of all downloads together, at once; 0: no limit."""

    def check_pair(self, main: Path | str, draft: Path | str) -> None:
        """Compare the files of two models thoroughly: PairChecked."""

    def set_folders(self, folders: Sequence[Path | str]) -> None: ...

    def close(self, timeout_s: float = 10.0) -> bool: ...
