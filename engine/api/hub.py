"""What a caller asks of a hub, and what the hub says of models there. Values only; all fields were checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

from engine.api.types import DrafterKind, ModelInfo

PUBLIC_HUB = "https://huggingface.co"
NEWEST = "main"  # the default branch of a repository
SearchId = NewType("SearchId", int)
# Values of `HubQuery.family`: the names of most models, the newest of a maker first.
HUB_FAMILIES = (
    "Qwen3.8",
    "Qwen3.6",
    "Qwen3.5",
    "Qwen3",
    "Qwen2.5",
    "Llama",
    "Gemma",
    "Mistral",
    "gpt-oss",
    "GLM",
    "DeepSeek",
    "LFM2.5",
    "LFM2",
    "SmolLM",
)


class HubSort(StrEnum):
    DOWNLOADS = "downloads"
    LIKES = "likes"
    UPDATED = "updated"


class HubKind(StrEnum):
    ANY = "any"
    CHAT = "chat"
    DRAFTER = "drafter"


@dataclass(frozen=True, slots=True)
class HubAccess:
    """Which hub to use, and how to reach it."""

    endpoint: str = ""  # "": the public hub
    token: str = field(default="", repr=False)
    token_in_clear: bool = False  # also over plain http to another machine
    mirrors: tuple[str, ...] = ()  # asked in this order if the hub cannot be reached; never sent the token
    proxy: str = field(default="", repr=False)  # its address may contain a password; "": as in the environment
    offline: bool = False  # ask no hub


@dataclass(frozen=True, slots=True)
class PeerModel:
    """One commit of a repository that a paired machine supplies, at an address that speaks as a hub."""

    repository: str
    revision: str
    endpoint: str
    fingerprint: str  # of that machine's certificate
    identity: str  # the folder with the key that it knows this one by


@dataclass(frozen=True, slots=True)
class HubQuery:
    """Words and limits; a field at its default sets no limit."""

    text: str = ""
    author: str = ""
    family: str = ""  # as in names of its models: "Qwen3"
    bits: int = 0  # of quantized weights; 16: not quantized
    most_bytes: int = 0  # of weights; also the most that may have to fit into memory
    kind: HubKind = HubKind.ANY
    drafts_for: ModelInfo | None = None  # only possible drafts for this main model
    sort: HubSort = HubSort.DOWNLOADS


@dataclass(frozen=True, slots=True)
class HubModel:
    """A repository in a list of the hub; 0 and "" where the hub gives no value, or an invalid one."""

    repository: str
    model_type: str = ""
    parameters: int = 0
    bits: float = 0.0  # 16 where the weights are not quantized
    size_bytes: int = 0  # of the weights
    size_is_estimated: bool = False  # computed from parameters and bits
    downloads: int = 0
    likes: int = 0
    updated_at: float = 0.0  # seconds since 1970
    gated: bool = False
    license: str = ""
    drafter: DrafterKind | None = None
    base_models: tuple[str, ...] = ()  # what it was made from; of a drafter: its main model
    sees: bool = False  # pictures, by its tags, and the engine knows its vision part

    @property
    def author(self) -> str:
        return self.repository.partition("/")[0]

    @property
    def name(self) -> str:
        return self.repository.partition("/")[2]


@dataclass(frozen=True, slots=True)
class HubFile:
    name: str
    size_bytes: int
    is_installed: bool  # installed by an installation


@dataclass(frozen=True, slots=True)
class HubPage:
    model: HubModel
    address: str  # for a browser
    card: str  # Markdown, not trusted
    files: tuple[HubFile, ...]
    drafters: tuple[str, ...] = ()  # in folders of their own within it; each can be installed by this name

    @property
    def download_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files if file.is_installed)


@dataclass(frozen=True, slots=True)
class FileProgress:
    name: str
    done_bytes: int
    total_bytes: int
    bytes_per_second: float
    seconds_left: float | None


@dataclass(frozen=True, slots=True)
class Retry:
    """A download waits: the connection was lost, or the hub has asked to wait."""

    in_s: float
    hub_is_busy: bool
