"""Chats as other apps write them, small and by hand."""

from __future__ import annotations

from typing import Any

HIDDEN = {"is_visually_hidden_from_conversation": True}


def node(key: str, parent: str | None, role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    """A node of ChatGPT's mapping."""
    content = more.pop("content", {"content_type": "text", "parts": list(parts)})
    message = {"id": key, "author": {"role": role}, "content": content, "metadata": {}, **more}
    return {"id": key, "message": message, "parent": parent, "children": []}


def chatgpt(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    return {
        "title": "Deploys",
        "create_time": 1_700_000_000.5,
        "update_time": 1_700_000_900.0,
        "conversation_id": "c-1",
        "mapping": mapping | {each["id"]: each for each in nodes},
        **more,
    }


def pointer(file: str, **more: Any) -> dict[str, Any]:
    """A picture of ChatGPT's: where its file is."""
    return {"content_type": "image_asset_pointer", "asset_pointer": file, "width": 30, "height": 20, **more}


def drawing(key: str, parent: str, *files: str) -> dict[str, Any]:
    """A tool's pictures."""
    made = (pointer(file, metadata={"dalle": {"prompt": "A duck"}}) for file in files)
    return node(key, parent, "tool", content={"content_type": "multimodal_text", "parts": list(made)})


def lm_studio(*slots: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "Ducks", "pinned": False, "createdAt": 1_718_900_000_000, "messages": list(slots), **more}


def said(text: str, role: str = "user", *files: str) -> dict[str, Any]:
    """`files`: of pictures."""
    shown = [{"type": "file", "fileIdentifier": file, "fileType": "image", "sizeBytes": 9} for file in files]
    return {"type": "singleStep", "role": role, "content": [{"type": "text", "text": text}, *shown]}


def replied(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"type": "multiStep", "role": "assistant", "senderInfo": {"senderName": "qwen3-8b"}, "steps": list(steps)}


def step(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "contentBlock", "content": [{"type": "text", "text": text}], **more}


def slot(*versions: dict[str, Any], selected: int = 0) -> dict[str, Any]:
    return {"versions": list(versions), "currentlySelected": selected}
