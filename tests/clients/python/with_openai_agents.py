"""The OpenAI Agents library: its server objects, and the function tools that it makes for a model. No model is asked."""

import json

from agents import Agent, RunContextWrapper
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp, MCPUtil
from agents.tool_context import ToolContext

from round import Answer, Server, play, run


class Adapter:
    def __init__(self, functions):
        self.functions = {function.name: function for function in functions}

    async def tools(self):
        return set(self.functions)

    async def call(self, tool, arguments):
        written = json.dumps(arguments)
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
        functions = await MCPUtil.get_function_tools(connection, False, RunContextWrapper(None), agent)
        await play(Adapter(functions), server.workspace)


run(main)
