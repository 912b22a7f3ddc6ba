"""An agent of LangChain that edits with Emend. MODEL names one ("openai:gpt-5"); without it a script stands in for it.

    pip install langchain langchain-mcp-adapters && python langchain_agent.py   (emend in the PATH, or EMEND names it)
"""

import asyncio
import os
import tempfile
from pathlib import Path

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

EMEND = os.environ.get("EMEND", "emend")


def call(name: str, arguments: dict) -> AIMessage:
    return AIMessage("", tool_calls=[{"type": "tool_call", "id": name, "name": name, "args": arguments}])


class ScriptedModel(GenericFakeChatModel):
    """Says what it was given to say, whatever the tools are."""

    def bind_tools(self, tools, **options):
        return self


# What a model would do with the task below.
SCRIPT = [
    call("read_file", {"path": "notes.md"}),
    call("str_replace", {"path": "notes.md", "old_string": "- cake", "new_string": "- two cakes"}),
    AIMessage("There are two cakes now."),
]


async def work(project: Path, task: str) -> None:
    server = {"transport": "stdio", "command": EMEND, "args": ["serve", "--workspace", str(project)]}
    # One session for the whole conversation: Emend then knows what the model has read.
    async with MultiServerMCPClient({"emend": server}).session("emend") as session:
        model = os.environ.get("MODEL") or ScriptedModel(messages=iter(SCRIPT))
        agent = create_agent(model, await load_mcp_tools(session), system_prompt="You edit files with the tools.")
        result = await agent.ainvoke({"messages": [{"role": "user", "content": task}]})
        print(result["messages"][-1].text)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder, "notes.md")
        notes.write_bytes(b"# Notes\n\n- tea\n- cake\n")
        asyncio.run(work(notes.parent, "In notes.md, change 'cake' to 'two cakes'."))
        assert notes.read_bytes() == b"# Notes\n\n- tea\n- two cakes\n"


main()
