"""Drives `thru mcp` with the official Python SDK: each way to connect, every tool, resources, prompts.

    python official.py PATH_TO_THRU

Works in a home of its own, with a history that is made up. Ends with 0 and a line, or with a traceback.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters

THRU = os.path.abspath(sys.argv[1])
DEMO = Path(__file__).resolve().parents[2] / "crates/thru/demo"
SESSION = "5b1f0c9e-8a51-4a57-9d0e-2f6c1b7a9e01"


def home(folder: Path) -> dict[str, str]:
    """A sealed home with the history of the demo in it."""
    projects = folder / "claude/projects/-home-ada-rocket"
    projects.mkdir(parents=True)
    (projects / f"{SESSION}.jsonl").write_bytes((DEMO / "lock.jsonl").read_bytes())
    environment = {
        "HOME": str(folder),
        "THROUGHLINE_HOME": str(folder / "data"),
        "CLAUDE_CONFIG_DIR": str(folder / "claude"),
        "THROUGHLINE_DAEMON": "off",
        "TZ": "UTC",
    }
    subprocess.run([THRU, "import"], env=environment, check=True, capture_output=True, cwd=folder)
    return environment


def text(result) -> str:
    assert result.structured_content is None, "clients would forward nothing else"
    [content] = result.content
    return content.text


async def converse(server: StdioServerParameters, mode: str, version: str) -> None:
    async with Client(server, mode=mode, read_timeout_seconds=60) as client:
        assert client.protocol_version == version, (mode, client.protocol_version)
        # Who names the revision asks for nothing else.
        if mode != version:
            assert client.server_info.name == "throughline"
            assert "Three steps" in client.instructions
        tools = (await client.list_tools()).tools
        assert len(tools) == 11 and all(not tool.annotations.open_world_hint for tool in tools)

        found = text(await client.call_tool("search", {"query": "global lock"}))
        [id, *_] = re.findall(r"^\d+ \| (\w+) \| bugfix", found, re.M)
        around = text(await client.call_tool("timeline", {"anchor": id}))
        assert f"> {id}" in around, around
        read = await client.call_tool("get_observations", {"ids": [id, "zzzzz"], "source": True})
        assert f"## {id} bugfix" in text(read) and "`zzzzz`" in text(read) and not read.is_error
        assert "# session" in text(await client.call_tool("get_session", {"id": SESSION}))
        told = text(await client.call_tool("remember", {"text": f"Told over {mode}"}))
        told = told.split()[2]
        assert "Nothing was changed" in text(await client.call_tool("forget", {"ids": [told]}))
        assert "Forgot 1" in text(await client.call_tool("forget", {"ids": [told], "confirm": True}))
        close = json.loads(text(await client.call_tool("session_tracking_close", {"session_id": SESSION})))
        assert close["status"] == "success" and close["episode_uuid"], close
        for tool in ("session_tracking_list_unindexed", "session_tracking_sync_history"):
            assert json.loads(text(await client.call_tool(tool, {})))["status"] == "success"
        assert json.loads(text(await client.call_tool("session_tracking_status", {})))["sessions"] == 1
        mistake = await client.call_tool("search", {"q": "global lock"})
        assert mistake.is_error and "query" in text(mistake), mistake

        uris = [str(resource.uri) for resource in (await client.list_resources()).resources]
        assert f"throughline://session/{SESSION}" in uris, uris
        templates = (await client.list_resource_templates()).resource_templates
        assert len(templates) == 4
        [content] = (await client.read_resource(f"throughline://memory/{id}")).contents
        assert f"## {id} bugfix" in content.text
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["recall", "handoff"]
        recall = await client.get_prompt("recall", {"question": "Why no global lock?"})
        assert id in recall.messages[0].content.text


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="mcp-official-") as folder:
        environment = home(Path(folder))
        server = StdioServerParameters(command=THRU, args=["mcp"], env=environment, cwd=folder)
        for mode, version in [
            ("legacy", "2025-11-25"),
            ("auto", "2026-07-28"),
            ("2026-07-28", "2026-07-28"),
        ]:
            anyio.run(converse, server, mode, version)
    print("the official Python SDK is content: handshake, discovery, stateless")


if __name__ == "__main__":
    main()
