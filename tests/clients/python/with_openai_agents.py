"""The OpenAI Agents library: its server objects, and the function tools that it makes for a model, with strict schemas
where it can. Those make every argument required, so each call has them all, as a model's would. No model is asked.
"""

import json
import re

from agents import Agent, RunContextWrapper
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp, MCPUtil
from agents.tool_context import ToolContext

from round import Answer, Server, play, run


# A map of versions by path has no strict schema, nor have the arguments of another tool or a list of calls, so these keep
# theirs.
NOT_STRICT = {"apply_patch", "edit_files", "edit_preview", "read_file", "set_value"}
# An empty list of hunks would be none of them, which is refused with their numbers.
HUNKS = [1]
EMPTY = {"string": "", "integer": 0, "boolean": False, "array": [], "object": {}}


class Adapter:
    def __init__(self, functions):
        self.functions = {function.name: function for function in functions}

    async def tools(self):
        return set(self.functions)

    async def call(self, tool, arguments):
        schema = self.functions[tool].params_json_schema
        missing = {name: EMPTY[schema["properties"][name]["type"]] for name in schema.get("required", [])}
        if "hunks" in missing:
            missing["hunks"] = HUNKS
        if "version" in missing and "version" not in arguments:
            reading = await self.call("read_file", {"path": arguments["path"]})
            missing["version"] = re.search(r"version (\w+)$", reading.text, re.MULTILINE)[1]
        written = json.dumps(missing | arguments)
        context = ToolContext(None, tool_name=tool, tool_call_id="1", tool_arguments=written)
        output = await self.functions[tool].on_invoke_tool(context, written)
        return Answer(output["text"], None, None)


async def main(server: Server) -> None:
    if server.url is None:
        connection = MCPServerStdio({"command": server.command, "args": server.arguments})
    else:
        connection = MCPServerStreamableHttp({"url": server.url, "headers": server.headers})
    async with connection:
        agent = Agent("editor", mcp_servers=[connection])
        functions = await MCPUtil.get_function_tools(connection, True, RunContextWrapper(None), agent)
        assert {function.name for function in functions if not function.strict_json_schema} == NOT_STRICT
        await play(Adapter(functions), server.workspace)


run(main)
