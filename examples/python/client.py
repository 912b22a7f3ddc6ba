"""A small MCP client: it starts Emend, reads a file, looks at an edit before it is made, and makes it.

    pip install mcp && python client.py     (emend must be in the PATH, or EMEND name it)
"""

import asyncio
import os
import tempfile
from pathlib import Path

from mcp import Client, StdioServerParameters

EMEND = os.environ.get("EMEND", "emend")


async def edit(project: Path) -> None:
    server = StdioServerParameters(command=EMEND, args=["serve", "--workspace", str(project)])
    async with Client(server) as client:
        reading = await client.call_tool("read_file", {"path": "notes.md"})
        print(reading.content[0].text)

        change = {"path": "notes.md", "old_string": "- cake", "new_string": "- two cakes"}
        preview = await client.call_tool("edit_preview", {"tool": "str_replace", **change})
        print(preview.structured_content["diff"])

        # Exactly what was shown, or nothing.
        applied = await client.call_tool("apply_preview", {"preview": preview.structured_content["preview"]})
        if applied.is_error:
            raise RuntimeError(applied.content[0].text)
        print("changed:", ", ".join(applied.structured_content["changed_files"]))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder, "notes.md")
        notes.write_bytes(b"# Notes\n\n- tea\n- cake\n")
        asyncio.run(edit(notes.parent))
        assert notes.read_bytes() == b"# Notes\n\n- tea\n- two cakes\n"


main()
