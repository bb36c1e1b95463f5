"""What a caller asks of a hub and learns about models there. Values only; nothing in them was believed unchecked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

from engine.api.types import DrafterKind, ModelInfo

PUBLIC_HUB = "https://huggingface.co"
SearchId = NewType("SearchId", int)
# What a query may ask for as `family`: the names that most models go by, the newest of a maker first.
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
    """Which hub, and how it is reached."""

    endpoint: str = ""  # "": the public hub
    token: str = ""
    token_in_clear: bool = False  # also over plain http to another machine
    mirrors: tuple[str, ...] = ()  # asked in this order where the hub cannot be reached; never told the token
    proxy: str = ""  # "": what the environment says
    offline: bool = False  # ask nobody


@dataclass(frozen=True, slots=True)
class HubQuery:
    """Words and limits; what is left at its default limits nothing."""

    text: str = ""
    author: str = ""
    family: str = ""  # as models of it are called: "Qwen3"
    bits: int = 0  # of quantized weights; 16: not quantized
    most_bytes: int = 0  # of weights; also what must fit into memory
    kind: HubKind = HubKind.ANY
    drafts_for: ModelInfo | None = None  # only what may draft for this main model
    sort: HubSort = HubSort.DOWNLOADS


@dataclass(frozen=True, slots=True)
class HubModel:
    """A repository as a list of the hub shows it; 0 and "" where the hub does not say, or says nonsense."""

    repository: str
    model_type: str = ""
    parameters: int = 0
    bits: float = 0.0  # 16 where the weights are not quantized
    size_bytes: int = 0  # of the weights
    size_is_estimated: bool = False  # from parameters and bits
    downloads: int = 0
    likes: int = 0
    updated_at: float = 0.0  # seconds since 1970
    gated: bool = False
    license: str = ""
    drafter: DrafterKind | None = None
    base_models: tuple[str, ...] = ()  # what it was made from; of a drafter: its main model

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
    is_installed: bool  # an installation would fetch it


@dataclass(frozen=True, slots=True)
class HubPage:
    model: HubModel
    address: str  # for a browser
    commit: str
    card: str  # Markdown of anybody
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
    """A download waits: the line was lost, or the hub has asked to be left alone for a while."""

    in_s: float
    hub_is_busy: bool
