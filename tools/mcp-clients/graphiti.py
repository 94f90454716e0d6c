"""Reads the answers of `thru mcp --profile graphiti` with the models of graphiti-core.

    python graphiti.py PATH_TO_THRU

Nodes, edges and episodes have the names of the fields of its models, and the models take their values. Works in a home
of its own, with a history that is made up. Ends with 0 and a line, or with a traceback.
"""

import json
import tempfile
from pathlib import Path

import anyio
from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EntityNode, EpisodicNode, EpisodeType
from mcp import Client, StdioServerParameters

from official import THRU, home, text

# What Graphiti's own server leaves out of its answers: vectors, and what only its database needs.
LEFT_OUT = {"name_embedding", "fact_embedding", "entity_edges", "episode_metadata"}
# Of a node and an episode, its server answers with these.
NODE = {"uuid", "name", "labels", "created_at", "summary", "group_id", "attributes"}
EPISODE = {"uuid", "name", "content", "created_at", "source", "source_description", "group_id"}
# Of an edge it answers with all, but for the short form of provenance.
SHORT_EDGE = {
    "uuid", "name", "fact", "source_node_uuid", "target_node_uuid", "group_id", "created_at",
    "valid_at", "invalid_at",
}


def fields(model) -> set[str]:
    return set(model.model_fields) - LEFT_OUT


def read_node(node: dict) -> None:
    assert set(node) == NODE and NODE <= fields(EntityNode), node
    read = EntityNode.model_validate(node)
    assert read.uuid == node["uuid"] and read.labels[0] == "Entity"


def read_edge(edge: dict) -> None:
    assert set(edge) == fields(EntityEdge), set(edge) ^ fields(EntityEdge)
    read = EntityEdge.model_validate(edge)
    assert read.valid_at.tzinfo and read.episodes == edge["episodes"]


def read_episode(episode: dict) -> None:
    # The time that an episode is about is in the model, and left out by Graphiti's server.
    assert set(episode) == EPISODE | {"valid_at"} and set(episode) <= fields(EpisodicNode), episode
    read = EpisodicNode.model_validate({**episode, "source": EpisodeType.from_str(episode["source"])})
    assert read.content == episode["content"]


async def converse(server: StdioServerParameters) -> None:
    async with Client(server, read_timeout_seconds=60) as client:

        async def ask(tool: str, arguments: dict) -> dict:
            return json.loads(text(await client.call_tool(tool, arguments)))

        [tool] = [one for one in (await client.list_tools()).tools if one.name == "search_memory_facts"]
        assert {"query", "group_ids", "max_facts", "center_node_uuid", "edge_types"} <= set(
            tool.input_schema["properties"]
        )
        everything = {"group_ids": ["*"]}
        nodes = await ask("search_nodes", {"query": "cargo", **everything})
        facts = await ask("search_memory_facts", {"query": "cargo", "include_invalid": True, **everything})
        episodes = await ask("get_episodes", everything)
        told = await ask(
            "add_triplet",
            {
                "source_node_name": "rocket", "edge_name": "USES", "fact": "The rocket uses a lock",
                "target_node_name": "lock",
            },
        )
        assert nodes["nodes"] and facts["facts"] and episodes["episodes"], (nodes, facts, episodes)
        for node in nodes["nodes"] + told["nodes"]:
            read_node(node)
        for edge in facts["facts"]:
            read_edge(edge)
            assert await ask("get_entity_edge", {"uuid": edge["uuid"]}) == edge
        for episode in episodes["episodes"]:
            read_episode(episode)
        shown = await ask("get_episode_entities", {"episode_uuids": [episodes["episodes"][0]["uuid"]]})
        for edge in shown["edges"] + told["edges"]:
            assert set(edge) == SHORT_EDGE <= fields(EntityEdge), edge
        assert (await ask("get_status", {}))["status"] == "ok"
        assert set(await ask("get_entity_edge", {"uuid": "nothing"})) == {"error"}


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="mcp-graphiti-") as folder:
        environment = home(Path(folder))
        arguments = ["mcp", "--profile", "graphiti"]
        anyio.run(converse, StdioServerParameters(command=THRU, args=arguments, env=environment, cwd=folder))
    print("the models of graphiti-core read every answer")


main()
