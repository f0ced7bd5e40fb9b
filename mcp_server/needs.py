"""What a task needs beyond torch, told by its text alone: nothing is run.

| kind | found by | `what` |
| --- | --- | --- |
| `package` | imports that nothing catches | its name |
| `weights` | `from_pretrained` and the like | whose, where the text says so |
| `file` | `torch.load`, `open` | its path, where the text says so |
| `network` | a hub, `urllib`, `requests`, `socket` | which |
| `cuda` | a CUDA device named without asking whether there is one | |
| `memory` | the sizes in `get_inputs` | bytes of one set of inputs, at least |

It is advice: what a list may not be able to know (a name made at run time), qualification finds out.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mcp_server import input_sizes
from mcp_server.folding import constants, fold

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["package", "weights", "file", "network", "cuda", "memory"]
_OURS = frozenset({"torch", "__future__", *sys.stdlib_module_names})
_HUBS = frozenset({"from_pretrained", "hf_hub_download", "snapshot_download"})
_URLS = frozenset({"load_state_dict_from_url", "download_url_to_file", "urlretrieve", "urlopen"})
_NETWORK = frozenset({"urllib", "requests", "httpx", "socket", "huggingface_hub"})
_CATCHES = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
PROJECT = "PROJECT"
"""The name at a task's top level that holds its project's folder."""
INPUT_LIMIT_BYTES = 1024**3
"""Of one set of inputs; the judge's own limit."""
_WORTH_TELLING_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True)
class Need:
    """One thing."""

    kind: Kind
    what: str = ""


def of(tree: ast.Module) -> list[Need]:
    """Return what a module's text says that it needs, each thing once."""
    known = constants(tree)
    project = known.get(PROJECT)
    found = [Need("package", name) for name in _packages(tree) if not _in_project(project, name)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found += _of_call(node, known)
    found += [Need("network", name) for name in sorted(_imported(tree) & _NETWORK)]
    if names_cuda(tree):
        found.append(Need("cuda"))
    size = input_sizes.at_least(tree, known)
    if size >= _WORTH_TELLING_BYTES:
        found.append(Need("memory", str(size)))
    named = {need.kind for need in found if need.what}
    found = [n for n in found if n.what or n.kind not in named]  # the same thing, less said
    return list(dict.fromkeys(found))


def _in_project(project: object, package: str) -> bool:
    """Return whether a package lies in the folder that a text names as its project."""
    if not isinstance(project, str):
        return False
    places = (Path(project), Path(project, "src"))
    return any(Path(p, package).is_dir() or Path(p, f"{package}.py").is_file() for p in places)


def names_cuda(tree: ast.Module) -> bool:
    """Return whether a text names CUDA without asking whether it is there."""
    nodes = list(ast.walk(tree))
    if any(isinstance(node, ast.Attribute) and node.attr == "is_available" for node in nodes):
        return False
    return any(_names_cuda(node) for node in nodes)


def _names_cuda(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=str(word)):
            return re.fullmatch(r"cuda(:\d+)?", word) is not None
        case ast.Attribute(attr="cuda", value=ast.Name(id="torch")):
            return False
        case ast.Attribute(attr="cuda"):
            return True
        case _:
            return False


def _packages(tree: ast.Module) -> list[str]:
    return sorted(_imported(tree, caught=False) - _OURS)


def _imported(tree: ast.Module, *, caught: bool = True) -> set[str]:
    """Return the packages of all imports; with `caught` off, without those whose failure is caught."""
    names: set[str] = set()
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
        pending += _children(node, caught=caught)
    return names


def _children(node: ast.AST, *, caught: bool) -> Iterator[ast.AST]:
    if caught or not isinstance(node, ast.Try) or not _catches_imports(node):
        yield from ast.iter_child_nodes(node)
        return
    for part in (node.handlers, node.orelse, node.finalbody):
        yield from part


def _catches_imports(node: ast.Try) -> bool:
    kinds = [handler.type for handler in node.handlers]
    if None in kinds:
        return True
    named = {
        inner.id
        for kind in kinds
        if kind
        for inner in ast.walk(kind)
        if isinstance(inner, ast.Name)
    }
    return bool(named & _CATCHES)


def _of_call(call: ast.Call, known: dict[str, object]) -> list[Need]:
    name = _called(call)
    last = name.rpartition(".")[2]
    first = _text(call.args[0], known) if call.args else ""
    if last in _HUBS or name.startswith("torch.hub."):
        return [
            Need("weights", first),
            Need("network", "huggingface.co" if last in _HUBS else last),
        ]
    if last in _URLS:
        return [Need("network", first or last)]
    if name in ("torch.load", "open", "np.load", "numpy.load"):
        return [Need("file", first)]
    if any(_asks_for_weights(word) for word in call.keywords):
        return [Need("weights", last), Need("network", "download.pytorch.org")]
    return []


def _asks_for_weights(word: ast.keyword) -> bool:
    """Return whether a keyword is `pretrained=True`, or `weights=` something of torchvision's."""
    value = word.value
    if word.arg == "pretrained":
        return isinstance(value, ast.Constant) and value.value is True
    if word.arg != "weights":
        return False
    text = ast.unparse(value)
    return text in ("'DEFAULT'", '"DEFAULT"') or "Weights" in text


def _called(call: ast.Call) -> str:
    parts: list[str] = []
    node = call.func
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed([*parts, node.id if isinstance(node, ast.Name) else ""]))


def _text(node: ast.expr, known: dict[str, object]) -> str:
    value = fold(node, known)
    return value[:120] if isinstance(value, str) else ""
