"""LangChain's adapters: the tools as an agent of LangChain gets them. No model is asked."""

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

from round import Answer, Server, play, run


class Adapter:
    def __init__(self, tools):
        self.by_name = {tool.name: tool for tool in tools}

    async def tools(self):
        return set(self.by_name)

    async def call(self, tool, arguments):
        call = {"type": "tool_call", "id": "1", "name": tool, "args": arguments}
        message = await self.by_name[tool].ainvoke(call)
        structured = message.artifact and message.artifact["structured_content"]
        return Answer(message.text, structured, message.status == "error")


async def main(server: Server) -> None:
    if server.url is None:
        connection = {"transport": "stdio", "command": server.command, "args": server.arguments}
    else:
        connection = {"transport": "streamable_http", "url": server.url, "headers": server.headers}
    async with MultiServerMCPClient({"emend": connection}).session("emend") as session:
        await play(Adapter(await load_mcp_tools(session)), server.workspace)


run(main)
