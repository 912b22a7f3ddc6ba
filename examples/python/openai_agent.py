"""An agent of the OpenAI Agents SDK that edits with Emend. Without OPENAI_API_KEY a script stands in for the model.

    pip install openai-agents && python openai_agent.py     (emend must be in the PATH, or EMEND name it)
"""

import asyncio
import os
import tempfile
from pathlib import Path

from agents import Agent, RunConfig, Runner
from agents.mcp import MCPServerStdio
from agents.testing import ScriptedModel, assistant_message, function_call

EMEND = os.environ.get("EMEND", "emend")

# What a model would do with the task below.
SCRIPT = [
    [function_call("read_file", {"path": "notes.md"}, call_id="1")],
    [
        function_call(
            "str_replace", {"path": "notes.md", "old_string": "- cake", "new_string": "- two cakes"}, call_id="2"
        )
    ],
    [assistant_message("There are two cakes now.")],
]


async def work(project: Path, task: str, run_config: RunConfig) -> None:
    async with MCPServerStdio({"command": EMEND, "args": ["serve", "--workspace", str(project)]}) as emend:
        agent = Agent(
            name="Editor",
            instructions="You edit the files of a project with the tools. Read a file before you edit it.",
            mcp_servers=[emend],
        )
        result = await Runner.run(agent, task, run_config=run_config)
        print(result.final_output)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder, "notes.md")
        notes.write_bytes(b"# Notes\n\n- tea\n- cake\n")
        scripted = RunConfig(model=ScriptedModel(SCRIPT), tracing_disabled=True)
        run_config = RunConfig() if "OPENAI_API_KEY" in os.environ else scripted
        asyncio.run(work(notes.parent, "In notes.md, change 'cake' to 'two cakes'.", run_config))
        assert notes.read_bytes() == b"# Notes\n\n- tea\n- two cakes\n"


main()
