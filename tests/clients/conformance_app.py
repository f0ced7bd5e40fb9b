"""The server with the fixtures that the conformance suite asks for, on loopback and without tokens; for tests alone.

    python -m tests.clients.conformance_app FOLDER

The suite is HTTP only and cannot send a token. Prints the URL.
"""

import socket
import sys
from pathlib import Path
from typing import Annotated, Any

import anyio
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)
from pydantic import Field

from mcp_server import http
from mcp_server.app import build
from mcp_server.service import Service
from mcp_server.setting import Setting

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="


def _text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


def _image() -> ImageContent:
    return ImageContent(type="image", data=PIXEL, mime_type="image/png")


def _embedded(uri: str) -> EmbeddedResource:
    words = TextResourceContents(uri=uri, mime_type="text/plain", text="An embedded resource.")
    return EmbeddedResource(type="resource", resource=words)


def add_tools(server: MCPServer[Service]) -> None:
    """Add the tools of the suite."""

    @server.tool()
    async def test_simple_text() -> CallToolResult:
        """Return text."""
        return CallToolResult(content=[_text("This is a simple text response for testing.")])

    @server.tool()
    async def test_image_content() -> CallToolResult:
        """Return an image."""
        return CallToolResult(content=[_image()])

    @server.tool()
    async def test_audio_content() -> CallToolResult:
        """Return a sound."""
        sound = AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")
        return CallToolResult(content=[sound])

    @server.tool()
    async def test_embedded_resource() -> CallToolResult:
        """Return a resource."""
        return CallToolResult(content=[_embedded("test://embedded-resource")])

    @server.tool()
    async def test_multiple_content_types() -> CallToolResult:
        """Return several kinds of content."""
        words = _text("Multiple content types test:")
        return CallToolResult(content=[words, _image(), _embedded("test://mixed-content-resource")])

    @server.tool()
    async def test_error_handling() -> CallToolResult:
        """Fail."""
        raise ToolError("This tool intentionally returns an error for testing")

    @server.tool()
    async def test_tool_with_progress(ctx: Context[Service]) -> CallToolResult:
        """Report progress."""
        for done in (0, 50, 100):
            await ctx.report_progress(done, 100)
        return CallToolResult(content=[_text("done")])

    _ = test_simple_text, test_image_content, test_audio_content, test_embedded_resource
    _ = test_multiple_content_types, test_error_handling, test_tool_with_progress


def add_resources(server: MCPServer[Service]) -> None:
    """Add the resources of the suite."""

    @server.resource("test://static-text", mime_type="text/plain")
    async def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    async def static_binary() -> bytes:
        import base64

        return base64.b64decode(PIXEL)

    @server.resource("test://template/{id}/data", mime_type="application/json")
    async def template(id: str) -> str:  # noqa: A002 - the suite's name
        return f'{{"id": "{id}", "templateTest": true, "data": "Data for ID: {id}"}}'

    _ = static_text, static_binary, template


def add_prompts(server: MCPServer[Service]) -> None:
    """Add the prompts of the suite."""

    @server.prompt()
    async def test_simple_prompt() -> str:
        """Say something."""
        return "This is a simple prompt for testing."

    @server.prompt()
    async def test_prompt_with_arguments(
        arg1: Annotated[str, Field(description="first")],
        arg2: Annotated[str, Field(description="second")],
    ) -> str:
        """Say the arguments."""
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt()
    async def test_prompt_with_embedded_resource(
        resourceUri: Annotated[str, Field(description="uri")],  # noqa: N803 - the suite's name
    ) -> list[Any]:
        """Embed a resource."""
        return [UserMessage(_embedded(resourceUri)), UserMessage("Please process the resource.")]

    @server.prompt()
    async def test_prompt_with_image() -> list[Any]:
        """Embed an image."""
        return [UserMessage(_image()), UserMessage("Please analyze the image above.")]

    _ = test_simple_prompt, test_prompt_with_arguments
    _ = test_prompt_with_embedded_resource, test_prompt_with_image


async def serve(folder: Path) -> None:
    """Serve until a signal ends it."""
    server = build(Setting(folder, device="cpu"))
    add_tools(server)
    add_resources(server)
    add_prompts(server)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        app = server.streamable_http_app(max_sessions=http.SESSION_LIMIT)
        print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
        config = uvicorn.Config(app, log_level="warning", ws="none")
        await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    anyio.run(serve, Path(sys.argv[1]))
