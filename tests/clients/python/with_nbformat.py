"""Jupyter's own library reads what became of a notebook: after each edit of a cell it must be valid, the cells that were
not named must be as they were, and so must every byte outside of them.
"""

import re
from pathlib import Path

import nbformat
from mcp import Client
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from round import Server, done, edit_of, run
from with_mcp import Adapter, transport

NAME = "analysis.ipynb"


def made() -> nbformat.NotebookNode:
    table = new_output("execute_result", {"text/plain": "  a\n0 1", "text/html": "<b>1</b>"}, execution_count=7)
    cells = [
        new_markdown_cell("# Tîtle\n\nof it", id="intro"),
        new_code_cell("import pandas as pd\nframe = pd.read_csv('a.csv')\nframe", id="load", execution_count=7, outputs=[table]),
        new_code_cell("frame.plot()", id="plot", outputs=[new_output("stream", name="stderr", text="slow\n")]),
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return new_notebook(cells=cells, metadata=kernel)


def read(path: Path) -> nbformat.NotebookNode:
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    return notebook


async def play(client: Adapter, folder: Path) -> None:
    path = folder / NAME
    for minor in (5, 4):
        notebook = made()
        notebook.nbformat_minor = minor
        if minor < 5:
            for cell in notebook.cells:
                del cell["id"]
        nbformat.write(notebook, path)
        before, edits = path.read_bytes(), []
        # Each call, and the cell that it changes; none where a cell comes or goes.
        steps = [
            ("str_replace", {"cell": "1", "old_string": "a.csv", "new_string": "ä.csv"}, 1),
            ("replace_lines", {"cell": "2", "new_text": "frame.plot(\n    x='a',\n)", "clear_outputs": True}, 2),
            ("replace_lines", {"cell": "0", "insert": "after", "new_text": "## More", "kind": "markdown"}, None),
            ("replace_lines", {"cell": "1", "insert": "before", "new_text": "print()"}, None),
            ("replace_lines", {"cell": "2", "kind": "raw"}, 2),
            ("replace_lines", {"cell": "4", "kind": "markdown"}, 4),
            ("replace_lines", {"cell": "1", "new_text": ""}, None),
        ]
        for tool, arguments, changed in steps:
            old = read(path)
            reading = done(await client.call("read_file", {"path": NAME}))
            version = re.search(r"version (\w+)$", reading.text, re.MULTILINE)[1]
            answer = await client.call(tool, {"path": NAME, "version": version, **arguments})
            edits.append(edit_of(done(answer)))
            new = read(path)
            if changed is not None:
                kept = [at for at in range(len(old.cells)) if at != changed]
                assert [old.cells[at] for at in kept] == [new.cells[at] for at in kept], arguments
                assert old.cells[changed] != new.cells[changed], arguments
            else:
                # One cell came or went; the others are as they were.
                short, long = sorted([old.cells, new.cells], key=len)
                assert len(long) == len(short) + 1
                assert any(long[:at] + long[at + 1 :] == short for at in range(len(long))), arguments
            # Jupyter would write the same bytes, so that its next save changes nothing.
            assert path.read_text() == nbformat.writes(new) + "\n", arguments
        assert "ä.csv" in read(path).cells[-2].source
        for edit in reversed(edits):
            done(await client.call("undo_edit", {"edit": edit}))
        assert path.read_bytes() == before


async def with_client(server: Server) -> None:
    async with transport(server) as streams, Client(streams) as client:
        await play(Adapter(client), server.workspace)


run(with_client)
