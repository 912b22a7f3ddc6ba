"""The round that each Python client does with Emend, and what it is asserted of: the bytes on disk after every
step, and the answers.

A client is an adapter of two functions (`Client`). What a library hides from its user is None in an `Answer` and
then not asserted; the handle and the edit's id are taken from what it does show, as a model would.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

NEEDED = {
    "read_file", "list_files", "search_text", "str_replace", "replace_in_files", "replace_lines",
    "apply_patch", "apply_sketch", "write_file", "move_file", "delete_file", "edit_files", "edit_preview", "apply_preview", "undo_edit", "edit_history",
}  # fmt: skip

NOTES = b"# Notes\n\n- tea\n- cake\n"
NOTES_EDITED = b"# Notes\n\n- tea\n- two cakes\n"
# Other line endings, and none after the last line: both stay as they are.
MENU = b"Menu\r\n\r\nsoup\r\nbread"
MENU_EDITED = b"Menu\r\n\r\nhot soup\r\nbread"
NEW = b"print('new')\n"

PATCH = """*** Begin Patch
*** Update File: menu.txt
@@
-soup
+hot soup
 bread
*** Add File: src/new.py
+print('new')
*** End Patch
"""


@dataclass(frozen=True)
class Server:
    """Where the server is: a command to start it, or an address and the token that it wants."""

    workspace: Path
    command: str
    arguments: list[str]
    url: str | None
    token: str | None

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


@dataclass(frozen=True)
class Answer:
    """What a tool answered, as far as the library shows it."""

    text: str | None
    structured: dict[str, Any] | None
    is_error: bool | None


class Client(Protocol):
    """A library, made to speak to the one server."""

    async def tools(self) -> set[str]: ...

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer: ...


def run(adapter: Callable[[Server], Awaitable[None]]) -> None:
    """Plays one adapter against the server that the environment names. A warning on the way is a failure."""
    said = Said()
    logging.getLogger().addHandler(said)
    workspace = Path(os.environ["EMEND_WORKSPACE"])
    arguments = ["serve", "--no-config", "--workspace", str(workspace), "--state-dir", os.environ["EMEND_STATE"]]
    url, token = os.environ.get("EMEND_URL"), os.environ.get("EMEND_TOKEN")
    asyncio.run(adapter(Server(workspace, os.environ["EMEND"], arguments, url, token)))
    assert not said.warnings, said.warnings


class Said(logging.Handler):
    """What the libraries log that a person would be worried by."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.warnings: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.warnings.append(f"{record.name}: {record.getMessage()}")


async def play(client: Client, workspace: Path) -> None:
    """The whole round."""
    notes, menu, new = workspace / "notes.md", workspace / "menu.txt", workspace / "src" / "new.py"
    kept = workspace / "kept" / "notes.md"
    notes.write_bytes(NOTES)
    menu.write_bytes(MENU)

    listed = await client.tools()
    assert NEEDED <= listed, f"not listed: {NEEDED - listed}"

    reading = done(await client.call("read_file", {"path": "notes.md"}))
    assert reading.text is not None and "     4\t- cake\n" in reading.text, reading
    assert reading.structured is None, "a reading is text alone"

    replacement = {"path": "notes.md", "old_string": "- cake", "new_string": "- two cakes"}
    preview = done(await client.call("edit_preview", {"tool": "str_replace", **replacement}))
    assert notes.read_bytes() == NOTES, "a preview writes nothing"
    says(preview, "+- two cakes")
    handle = found(preview, "preview", r'"preview": "([^"]+)"')

    applied = done(await client.call("apply_preview", {"preview": handle}))
    changed(applied, ["notes.md"])
    assert notes.read_bytes() == NOTES_EDITED
    again = done(await client.call("apply_preview", {"preview": handle}))
    assert edit_of(again) == edit_of(applied), "a handle edits once"
    assert notes.read_bytes() == NOTES_EDITED

    refused(await client.call("str_replace", {**replacement, "new_string": "- pie"}), "search-not-found")
    assert notes.read_bytes() == NOTES_EDITED

    patched = done(await client.call("apply_patch", {"patch": PATCH}))
    changed(patched, ["menu.txt", "src/new.py"])
    assert (menu.read_bytes(), new.read_bytes()) == (MENU_EDITED, NEW)

    moved = done(await client.call("move_file", {"from": "notes.md", "to": "kept/notes.md"}))
    assert kept.read_bytes() == NOTES_EDITED and not notes.exists()
    reading = done(await client.call("read_file", {"path": "kept/notes.md"}))
    version = re.search(r"version (\w+)$", reading.text, re.MULTILINE)[1]
    deleted = done(await client.call("delete_file", {"path": "kept/notes.md", "version": version}))
    assert not kept.exists()

    for edit in (deleted, moved, patched, applied):
        done(await client.call("undo_edit", {"edit": edit_of(edit)}))
    assert (notes.read_bytes(), menu.read_bytes()) == (NOTES, MENU)
    assert not new.exists() and not kept.exists()


def done(answer: Answer) -> Answer:
    """The same answer, which must be a success."""
    assert answer.is_error is not True, answer
    return answer


def refused(answer: Answer, code: str) -> None:
    """Asserts a refusal with this code."""
    assert answer.is_error is not False, answer
    assert answer.text is None or answer.text.rstrip().endswith(f"[{code}]"), answer
    assert answer.structured is None or answer.structured["error"]["code"] == code, answer


def changed(answer: Answer, files: list[str]) -> None:
    """Asserts which files the answer names as changed."""
    assert answer.structured is None or sorted(answer.structured["changed_files"]) == files, answer
    for file in files:
        says(answer, file)


def says(answer: Answer, words: str) -> None:
    """Asserts that both halves of the answer have these words."""
    assert answer.text is not None or answer.structured is not None
    assert answer.text is None or words in answer.text, answer
    assert answer.structured is None or words in str(answer.structured), answer


def found(answer: Answer, field: str, pattern: str) -> str:
    """A value that the structured answer has, and that the text says in these words."""
    in_text = re.search(pattern, answer.text) if answer.text is not None else None
    assert answer.text is None or in_text, answer
    in_structured = answer.structured[field] if answer.structured is not None else None
    values = {value for value in (in_text and in_text[1], in_structured) if value}
    assert len(values) == 1, answer
    return values.pop()


def edit_of(answer: Answer) -> str:
    """The id of the edit."""
    return found(answer, "edit", r"(?:Success\. E|as e)dit ([0-9a-f]+)")
