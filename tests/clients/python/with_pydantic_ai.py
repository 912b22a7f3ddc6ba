"""Pydantic AI: each call is a run of an agent whose model is a function that asks for this one tool."""

import json

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from round import Answer, Server, play, run


class Adapter:
    def __init__(self, toolset):
        self.toolset = toolset

    async def tools(self):
        return {tool.name for tool in await self.toolset.list_tools()}

    async def call(self, tool, arguments):
        answers = []

        def model(messages, info):
            offered = {definition.name for definition in info.function_tools}
            assert tool in offered, offered
            answers.extend(p for p in messages[-1].parts if isinstance(p, ToolReturnPart))
            return ModelResponse([TextPart("done")] if answers else [ToolCallPart(tool, arguments)])

        await Agent(FunctionModel(model), toolsets=[self.toolset]).run("Edit.")
        (answer,) = answers
        is_error = answer.outcome != "success"
        # Where there is structured content, the model is shown only that; of an error as JSON text.
        structured = json.loads(answer.content) if is_error else answer.content
        if isinstance(structured, str):
            return Answer(structured, None, is_error)
        return Answer(None, structured, is_error)


async def main(server: Server) -> None:
    if server.url is None:
        toolset = MCPToolset(StdioTransport(server.command, server.arguments))
    else:
        toolset = MCPToolset(server.url, headers=server.headers)
    async with toolset:
        await play(Adapter(toolset), server.workspace)


run(main)
