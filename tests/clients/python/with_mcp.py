"""The official Python library: its `Client`, which speaks the 2026 revision, or with `legacy` as its argument a
`ClientSession` with the handshake of 2025.
"""

import sys
from contextlib import asynccontextmanager

import httpx2
from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from round import Answer, Server, play, run


class Adapter:
    def __init__(self, client):
        self.client = client

    async def tools(self):
        return {tool.name for tool in (await self.client.list_tools()).tools}

    async def call(self, tool, arguments):
        result = await self.client.call_tool(tool, arguments)
        text = "".join(block.text for block in result.content)
        return Answer(text, result.structured_content, result.is_error)


@asynccontextmanager
async def transport(server: Server):
    if server.url is None:
        yield stdio_client(StdioServerParameters(command=server.command, args=server.arguments))
    else:
        async with httpx2.AsyncClient(headers=server.headers) as http:
            yield streamable_http_client(server.url, http_client=http)


async def modern(server: Server) -> None:
    async with transport(server) as streams, Client(streams) as client:
        assert client.protocol_version == "2026-07-28", client.protocol_version
        await play(Adapter(client), server.workspace)


async def legacy(server: Server) -> None:
    async with transport(server) as streams, streams as (read, write), ClientSession(read, write) as session:
        assert (await session.initialize()).protocol_version == "2025-11-25"
        await play(Adapter(session), server.workspace)


if __name__ == "__main__":
    run(legacy if sys.argv[1:] == ["legacy"] else modern)
