"""fastmcp's client."""

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

from round import Answer, Server, play, run


class Adapter:
    def __init__(self, client):
        self.client = client

    async def tools(self):
        return {tool.name for tool in await self.client.list_tools()}

    async def call(self, tool, arguments):
        result = await self.client.call_tool(tool, arguments, raise_on_error=False)
        text = "".join(block.text for block in result.content)
        return Answer(text, result.structured_content, result.is_error)


async def main(server: Server) -> None:
    if server.url is None:
        transport = StdioTransport(server.command, server.arguments)
    else:
        transport = StreamableHttpTransport(server.url, headers=server.headers)
    async with Client(transport) as client:
        await play(Adapter(client), server.workspace)


run(main)
