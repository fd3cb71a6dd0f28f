"""Dialogue flows: user nodes (intents) and system nodes (replies) that alternate, from YAML or JSON.

The flow-based dialogues of CGoDial (Dai et al., EMNLP 2022, section 3.2): a user node leads to one system node, a system node to the user nodes
that may answer it. The file names the nodes; a node with `system` (its reply) is a system node, one with `user` (wordings) a user node::

    flow: parcel
    start: greeting
    nodes:
      greeting: {system: "你好，请问要办什么业务？", next: [send, ask_price]}
      send: {user: ["我要寄个快递", "寄件"], domain: sending, next: ask_city}
      ...

Branches may merge: a node that several lead to stands for as many nodes of the tree that the flow unrolls to. None may lead back to where it came
from. What a user says is composed of a wording and, now and then, something before and behind it: `prefixes` and `suffixes` replace the stock ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from typing import Any, cast

import msgspec
import yaml
from dialmill.schemas.dialogue import Record
from dialmill.schemas.strict_json import JsonError, parse
from dialmill.schemas.validator import Problem, Validator

#: The class of user turns that no node of the flow stands for (CGoDial's name of it).
REJECTED = "拒识"


class FlowError(ValueError):
    """A flow file that can't be used; `problems` tells all of them."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(map(str, problems[:8])) + (f"; and {len(problems) - 8} more" if len(problems) > 8 else ""))
        self.problems = problems


class Node(Record, frozen=True):
    """A node. `user` holds the wordings of a user node (empty for a system node), `system` the reply of a system node (None for a user node);
    `again` is what the system says to ask once more, by default the last sentence of its reply."""

    next: tuple[str, ...]
    user: tuple[str, ...] = ()
    system: str | None = None
    again: str | None = None
    domain: str | None = None

    def __post_init__(self) -> None:
        self._freeze("next", "user")


class Detour(Record, frozen=True):
    """What users ask beside the flow, and the answer, after which the system asks again."""

    user: tuple[str, ...]
    reply: str

    def __post_init__(self) -> None:
        self._freeze("user")


class Flow(Record, frozen=True):
    """A checked flow. `values` fills ``{NAME}`` in wordings, `dialogues` says how many walks each split has, `seed` is that of the walks."""

    flow: str
    start: str
    nodes: dict[str, Node]
    title: str = ""
    language: str = "zh"
    seed: int = 1
    dialogues: dict[str, int] = msgspec.field(default_factory=dict)
    values: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    detours: tuple[Detour, ...] = ()
    #: What may stand before and behind a wording; None for the stock phrases of the language, empty for nothing.
    prefixes: tuple[str, ...] | None = None
    suffixes: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self._freeze("detours")

    def ends(self) -> dict[str, int]:
        """How many ends the tree has below each node (1 for an end), the tree being what the flow unrolls to."""
        return self._sums(lambda node, below: sum(below) or 1)

    def unrolled(self) -> int:
        """How many nodes the tree has that the flow unrolls to."""
        return self._sums(lambda node, below: 1 + sum(below))[self.start]

    def _sums(self, of: Callable[[Node, list[int]], int]) -> dict[str, int]:
        """A number for each node from those of the nodes that it leads to."""
        found: dict[str, int] = {}
        waiting = [self.start]
        while waiting:
            name = waiting[-1]
            open_ = [child for child in self.nodes[name].next if child not in found]
            if open_:
                waiting += open_
                continue
            found[waiting.pop()] = of(self.nodes[name], [found[child] for child in self.nodes[name].next])
        return found


#: Nodes of the tree that a flow unrolls to, at most.
_LARGEST = 100_000
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?")


#: Nodes of a document, with everything that an alias stands for counted each time it is used.
_LARGEST_YAML = 1_000_000


class _Loader(yaml.SafeLoader):
    """YAML in which a key may not stand twice (of two nodes of one name the first would vanish), and whose aliases can't blow a small file up."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._sizes: dict[int, int] = {}

    def compose_node(self, parent: Any, index: Any) -> Any:
        # Any: what the stubs of PyYAML say of these differs from one release of theirs to the next.
        event: Any = cast(Any, self).peek_event()
        node: Any = super().compose_node(parent, index)
        if isinstance(event, yaml.AliasEvent):
            if id(node) not in self._sizes:
                raise yaml.composer.ComposerError(None, None, "an alias is inside the node that it refers to", cast(Any, event.start_mark))
            return node
        inside = (
            node.value
            if isinstance(node, yaml.SequenceNode)
            else [one for pair in node.value for one in pair]
            if isinstance(node, yaml.MappingNode)
            else []
        )
        size = self._sizes[id(node)] = 1 + sum(self._sizes[id(one)] for one in inside)
        if size > _LARGEST_YAML:
            raise yaml.composer.ComposerError(None, None, f"its aliases stand for more than {_LARGEST_YAML:,} nodes", node.start_mark)
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, str) and key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} occurs twice", key_node.start_mark)
            if isinstance(key, str):
                seen.add(key)
        made: dict[Any, Any] = super().construct_mapping(node, deep)
        return made


def load_yaml(data: bytes) -> Any:
    """A YAML document, strictly: UTF-8, no key twice in a mapping.

    Raises:
        ValueError: it is none; the message has line and column.
    """
    try:
        return yaml.load(data.decode("utf-8-sig"), Loader=_Loader)
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        raise ValueError(f"is not YAML: {getattr(error, 'problem', None) or str(error).splitlines()[0]}{where}") from None


def read_flow(data: bytes, name: str) -> Flow:
    """The flow that a file holds: JSON where `name` ends in ".json", else YAML.

    Raises:
        FlowError: not of the form, or no flow: roles that don't alternate, a user node with no or several replies, a node that is not reachable or
            leads back to itself, a name that is no node, more nodes than 100,000 once it is unrolled.
    """
    try:
        record = parse(data) if name.endswith(".json") else load_yaml(data)
    except (JsonError, ValueError) as error:
        raise FlowError([Problem("", str(error))]) from None
    problems = flow_problems(record)
    if problems:
        raise FlowError(problems)
    return msgspec.convert({**record, "nodes": {key: _plain(node) for key, node in record["nodes"].items()}}, Flow)


def _plain(node: dict[str, Any]) -> dict[str, Any]:
    """A node with its `next` as a list, however the file writes it."""
    following = node.get("next", [])
    return {**node, "next": [following] if isinstance(following, str) else following}


def flow_problems(record: Any) -> list[Problem]:
    """What is wrong with a parsed flow file: by its schema, else with what leads where."""
    problems = Validator("flow").errors(record)
    return problems or list(_tree_problems(record))


def _tree_problems(record: dict[str, Any]) -> Iterator[Problem]:
    nodes = {name: _plain(node) for name, node in record["nodes"].items()}
    start = record["start"]
    if not _NAME.fullmatch(record["flow"]):
        yield Problem("flow", "must be letters, digits, and . _ - between them: folders are named after it", record["flow"])
    if REJECTED in nodes:
        yield Problem(f"nodes.{REJECTED}", "is reserved for user turns that match no node; give the node another name")
    if start not in nodes:
        yield Problem("start", "is no node", start)
        return
    if "user" in nodes[start]:
        yield Problem("start", "must be a system node: the system speaks first", start)
    children: set[str] = set()
    for name, node in nodes.items():
        yield from _node_problems(name, node, record.get("values", {}).keys())
        yield from _child_problems(name, node, nodes, start)
        children.update(node["next"])
    reached = _reachable(nodes, start)
    for name in nodes:
        if name not in reached:
            yield Problem(f"nodes.{name}", f"can't be reached from the start {start}" if name in children else "is an orphan: no node leads to it")
    yield from _circles(nodes)


def _node_problems(name: str, node: dict[str, Any], values: Set[str]) -> Iterator[Problem]:
    """What is wrong with a node by itself; `values` are the names that its wordings may use."""
    where = f"nodes.{name}"
    if "user" in node and "system" in node:
        yield Problem(where, "has both `system` and `user`; a node is one of the two")
    for kind in ("user", "next"):
        if len(set(node.get(kind, []))) < len(node.get(kind, [])):
            yield Problem(f"{where}.{kind}", "holds the same twice")
    if "user" not in node:
        return
    if len(node["next"]) != 1:
        yield Problem(f"{where}.next", f"a user node leads to one system node, this one to {len(node['next']) or 'none'}")
    for text in node["user"]:
        for missing in sorted(set(fields(text)) - values):
            yield Problem(f"{where}.user", f"{{{missing}}} is in a wording but not in `values`", text)


def _child_problems(name: str, node: dict[str, Any], nodes: dict[str, Any], start: str) -> Iterator[Problem]:
    """What is wrong with where a node leads to."""
    where = f"nodes.{name}.next"
    for child in node["next"]:
        if child not in nodes:
            yield Problem(where, "is no node", child)
            continue
        if ("user" in nodes[child]) == ("user" in node):
            kind = "user" if "user" in node else "system"
            yield Problem(where, f"{child} is a {kind} node too; user and system nodes alternate")
        if child == start:
            yield Problem(where, f"leads back to the start {start}; a flow has an end")


def _circles(nodes: dict[str, Any]) -> Iterator[Problem]:
    """Nodes that lead back to themselves, the first of each circle; else, whether the flow unrolls to too many nodes."""
    done: dict[str, int] = {}
    for name in nodes:
        path: list[str] = []
        waiting = [(name, False)]
        while waiting:
            at, left = waiting.pop()
            if left:
                path.pop()
                done[at] = 1 + sum(done.get(child, 0) for child in nodes[at]["next"] if child in nodes)
            elif at in path:
                yield Problem(f"nodes.{path[-1]}.next", f"leads back to {at}, which led to it; a flow has an end")
                return
            elif at not in done and at in nodes:
                path.append(at)
                waiting += [(at, True), *((child, False) for child in nodes[at]["next"])]
    if max(done.values(), default=0) > _LARGEST:
        yield Problem("nodes", f"unroll to a tree of {max(done.values()):,} nodes, more than {_LARGEST:,}; merge fewer branches")


def _reachable(nodes: dict[str, Any], start: str) -> set[str]:
    """The nodes that a walk from the start can come to."""
    reached, waiting = {start}, [start]
    while waiting:
        for child in nodes[waiting.pop()]["next"]:
            if child in nodes and child not in reached:
                reached.add(child)
                waiting.append(child)
    return reached


def fields(text: str) -> list[str]:
    """The names in braces of a wording, in order."""
    return [part.partition("}")[0] for part in text.split("{")[1:]]
