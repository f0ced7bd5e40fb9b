# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeArgument=false, reportPrivateUsage=false
# pyright: reportMissingParameterType=false, reportUnknownLambdaType=false
"""The program that holds one candidate, or one task's references, and answers numbered requests.

One file on purpose: it is started alone, under the user's interpreter, with the standard library and torch. It decides
nothing: whoever asks draws the inputs, keeps the clock and compares the answers.

| request | does |
| --- | --- |
| `HELLO` | maps the two arenas that came with it |
| `STAGE` | fills one set of inputs, patterns free memory |
| `NOP` | applies a reveal and runs nothing |
| `LOAD` | phase `import` runs the source, phase `construct` makes the model; may ask for builds on the way |
| `BUILT` | the answer to that: the folder is built, or is not |
| `STATE` | copies weights by name, calls `prepare()` |
| `CALL` | applies a reveal, runs forward, synchronises |
| `BATCH` | several calls queued behind a spin kernel, between events |
| `FETCH` | contiguous bytes of an answer, with dtypes, shapes and shared storage |
| `PROFILE` | what the model's calls spend their time on, as torch.profiler sees it |
| `INPUTS` | the bytes of a set of inputs as they are now |
| `END` | a census, then exit |
"""

from __future__ import annotations

import argparse
import array
import contextlib
import hashlib
import importlib.util
import json
import mmap
import os
import random
import socket
import struct
import sys
import threading
import traceback
import warnings
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Generator

HEADER_LIMIT = 4096
META_BYTES = 65536
"""Start of the answers' bytes in the `out` arena; what lies before describes them."""
ALIGN = 64
BUILD_LOG = "build.log"
"""What the compiler said, in a build's folder."""
PATTERN = 0x5A
"""Every byte of the memory an answer may be given: finite and large in every floating type."""
_RIGHTS_SPACE = socket.CMSG_SPACE(64)
_LENGTH = struct.Struct(">I")


# --- trees: what get_inputs and forward may return ------------------------------------------------------------------


def pack(value: object, leaves: list[Tensor]) -> dict[str, Any]:
    """Return the value's structure as JSON data, and append its tensors to `leaves`."""
    if isinstance(value, Tensor):
        leaves.append(value)
        return {"k": "tensor", "i": len(leaves) - 1}
    if isinstance(value, list | tuple):
        kind = "list" if isinstance(value, list) else "tuple"
        return {"k": kind, "v": [pack(item, leaves) for item in value]}
    if isinstance(value, dict):
        rows = sorted(value.items(), key=lambda row: str(row[0]))
        return {"k": "dict", "v": [[str(key), pack(item, leaves)] for key, item in rows]}
    if value is None or isinstance(value, bool | int | float | str):
        return {"k": "value", "v": value}
    if isinstance(value, complex):
        return {"k": "complex", "v": [value.real, value.imag]}
    if isinstance(value, torch.dtype):
        return {"k": "dtype", "v": str(value).removeprefix("torch.")}
    return {"k": "other", "v": type(value).__name__}


def unpack(tree: dict[str, Any], leaves: list[Tensor]) -> Any:
    """Return the value that `pack` took apart, with these tensors in it."""
    match tree["k"]:
        case "tensor":
            return leaves[tree["i"]]
        case "list":
            return [unpack(item, leaves) for item in tree["v"]]
        case "tuple":
            return tuple(unpack(item, leaves) for item in tree["v"])
        case "dict":
            return {key: unpack(item, leaves) for key, item in tree["v"]}
        case "complex":
            return complex(*tree["v"])
        case "dtype":
            return getattr(torch, tree["v"])
        case "value":
            return tree["v"]
        case _:
            raise TypeError(f"a {tree['v']} cannot be passed on")


def is_dense(value: Tensor) -> bool:
    """Return whether the tensor's elements fill a stretch of memory without gaps or overlap."""
    expected = 1
    for stride, size in sorted(zip(value.stride(), value.shape, strict=True)):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


def flat(value: Tensor) -> Tensor:
    """Return the elements in the order of memory, shape (numel,), a view where the tensor is dense."""
    if not is_dense(value):
        value = value.contiguous()
    return value.as_strided((value.numel(),), (1,), value.storage_offset())


def raw(value: Tensor) -> Tensor:
    """Return the bytes of a dense tensor as a uint8 view of its memory, shape (nbytes,)."""
    size = value.element_size()
    empty = torch.empty(0, dtype=torch.uint8, device=value.device)
    start = value.storage_offset() * size
    return empty.set_(value.untyped_storage(), start, (value.numel() * size,), (1,))


def describe(value: Tensor) -> dict[str, Any]:
    """Return dtype, shape and strides as JSON data."""
    dense = is_dense(value)
    return {
        "dtype": str(value.dtype).removeprefix("torch."),
        "shape": list(value.shape),
        "stride": list(value.stride()) if dense else list(value.contiguous().stride()),
    }


def aligned(size: int) -> int:
    """Return the size rounded up to where the next tensor may start."""
    return -(-size // ALIGN) * ALIGN


def patch_count(elements: int, most: int = 0) -> int:
    """Return how many elements one reveal changes: one in 256, at least 64, or all; `most` unless it is 0."""
    count = max(64, elements // 256)
    return min(elements, count if most == 0 else min(count, most))


# --- construction ---------------------------------------------------------------------------------------------------

_INITIALISERS = (
    *("uniform_", "normal_", "trunc_normal_", "constant_", "ones_", "zeros_", "eye_", "dirac_"),
    *("xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "orthogonal_"),
    "sparse_",
)


class NoisyConstruction:
    """Initialisers that draw from (secret, shape, how many of that shape came before), in any order of creation."""

    def __init__(self, secret: int) -> None:
        self.secret = secret
        self.counts: dict[tuple[int, ...], int] = {}

    def _generator(self, shape: tuple[int, ...]) -> torch.Generator:
        count = self.counts[shape] = self.counts.get(shape, -1) + 1
        digest = hashlib.sha256(f"{self.secret}:{shape}:{count}".encode()).digest()
        return torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))

    def _refill(self, value: Tensor) -> Tensor:
        shape = tuple(value.shape)
        generator = self._generator(shape)
        if value.ndim < 2:
            drawn = torch.rand(shape, generator=generator, device="cpu") + 0.5
        else:
            drawn = torch.randn(shape, generator=generator, device="cpu")
            drawn /= max(1, value[0].numel()) ** 0.5
        with torch.no_grad():
            value.copy_(drawn)
        return value

    def _statistics(self, module: Any) -> None:
        if module.track_running_stats:
            shape = tuple(module.running_mean.shape)
            generator = self._generator((*shape, -1))
            mean = torch.randn(shape, generator=generator, device="cpu") * 0.1
            module.running_mean.copy_(mean)
            module.running_var.copy_(torch.rand(shape, generator=generator, device="cpu") + 0.5)

    @contextlib.contextmanager
    def installed(self) -> Generator[None]:
        """Replace torch's initialisers while the context is open; counts start anew."""
        self.counts = {}
        norm = torch.nn.modules.batchnorm._NormBase
        kept = {name: getattr(nn.init, name) for name in _INITIALISERS}
        drawn = {name: getattr(torch, name) for name in ("randn", "rand")}
        statistics = norm.reset_running_stats
        for name in _INITIALISERS:
            setattr(nn.init, name, lambda tensor, *_a, **_k: self._refill(tensor))
        for name, original in drawn.items():
            setattr(torch, name, self._factory(original))
        norm.reset_running_stats = self._statistics  # pyright: ignore[reportAttributeAccessIssue]
        try:
            yield
        finally:
            for name, original in {**kept}.items():
                setattr(nn.init, name, original)
            for name, original in drawn.items():
                setattr(torch, name, original)
            norm.reset_running_stats = statistics

    def _factory(self, original: Callable[..., Tensor]) -> Callable[..., Tensor]:
        busy = threading.local()

        def make(*shape: Any, **options: Any) -> Tensor:
            value = original(*shape, **options)
            if getattr(busy, "on", False) or "generator" in options:
                return value
            busy.on = True
            try:
                return self._refill(value)
            finally:
                busy.on = False

        return make


def construct(make: Any, arguments: Any, seed: int, device: str) -> nn.Module:
    """Return the model, made from equal seed and arguments under the device, in evaluation mode.

    Raises:
        TypeError: what was made is no `torch.nn.Module`.
    """
    seed_all(seed)
    with torch.device(device):
        model = make(**arguments) if isinstance(arguments, dict) else make(*arguments)
    if not isinstance(model, nn.Module):
        raise TypeError(f"{make.__name__} is no torch.nn.Module")
    return model.to(device).eval()


def seed_all(seed: int) -> None:
    """Seed torch's generators and Python's."""
    torch.manual_seed(seed)
    random.seed(seed)


def import_source(path: Path, name: str) -> types.ModuleType:
    """Run a source file as a module of that name."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


# --- running in a format --------------------------------------------------------------------------------------------


def cast_floats(value: Any, dtype: torch.dtype) -> Any:
    """Return the value with its floating tensors in that dtype, structure kept."""
    leaves: list[Tensor] = []
    tree = pack(value, leaves)
    return unpack(tree, [x.to(dtype) if x.is_floating_point() else x for x in leaves])


def restore_floats(value: Any) -> Any:
    """Return the value with half-precision tensors back in fp32."""
    leaves: list[Tensor] = []
    tree = pack(value, leaves)
    halves = (torch.float16, torch.bfloat16)
    return unpack(tree, [x.float() if x.dtype in halves else x for x in leaves])


def set_tf32(on: bool) -> None:
    """Allow or forbid TF32 in matrix products and convolutions, process-wide."""
    torch.backends.cuda.matmul.allow_tf32 = on
    torch.backends.cudnn.allow_tf32 = on


def cast_attributes(model: nn.Module, dtype: torch.dtype) -> None:
    """Cast floating tensors that are plain attributes; `to` leaves them."""
    for module in model.modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, Tensor) and value.is_floating_point():
                setattr(module, name, value.to(dtype))


def in_format(model: nn.Module, cast: str | None, autocast: str | None, device: str) -> nn.Module:
    """Return the model wrapped to run in a lower precision, with fp32 inputs and outputs as before."""
    if cast is None and autocast is None:
        return model
    return _InFormat(model, cast, autocast, device)


class _InFormat(nn.Module):
    def __init__(
        self, inner: nn.Module, cast: str | None, autocast: str | None, device: str
    ) -> None:
        super().__init__()
        names = {"fp16": torch.float16, "bf16": torch.bfloat16}
        self.cast = names[cast] if cast else None
        self.autocast = names[autocast] if autocast else None
        self.kind = device.split(":")[0]
        self.inner = inner.to(self.cast) if self.cast else inner
        if self.cast:
            cast_attributes(self.inner, self.cast)

    def forward(self, *arguments: Any) -> Any:
        if self.cast is not None:
            return restore_floats(self.inner(*cast_floats(list(arguments), self.cast)))
        with torch.autocast(self.kind, dtype=self.autocast):
            answer = self.inner(*arguments)
        return restore_floats(answer)


# --- staged inputs --------------------------------------------------------------------------------------------------


class InputSet:
    """One set of a model's inputs on the device, changed in place without a trace in versions or addresses."""

    def __init__(self, spec: dict[str, Any], device: str) -> None:
        self.metas: list[dict[str, Any]] = spec["leaves"]
        self.memory = [self._memory(meta, device) for meta in self.metas]
        views = [
            memory.data.as_strided(meta["shape"], meta["stride"])
            for memory, meta in zip(self.memory, self.metas, strict=True)
        ]
        self.arguments: Any = unpack(spec["tree"], views)
        self.leaves = views
        self.most_changes: int = spec.get("most_changes", 0)

    @staticmethod
    def _memory(meta: dict[str, Any], device: str) -> Tensor:
        count = 1
        for size in meta["shape"]:
            count *= size
        return torch.empty(count, dtype=getattr(torch, meta["dtype"]), device=device)

    def fill(self, arena: Tensor, at: int) -> None:
        """Copy whole inputs from the arena."""
        for memory in self.memory:
            size = memory.numel() * memory.element_size()
            memory.copy_(arena[at : at + size].view(memory.dtype), non_blocking=True)
            at += aligned(size)

    def patch(self, arena: Tensor, at: int) -> None:
        """Change the elements that a reveal names: for each tensor positions, then values."""
        for memory in self.memory:
            count = patch_count(memory.numel(), self.most_changes)
            if count == 0:
                continue
            where = arena[at : at + count * 8].view(torch.int64)
            at += aligned(count * 8)
            size = count * memory.element_size()
            values = arena[at : at + size].view(memory.dtype)
            at += aligned(size)
            device = memory.device
            memory[where.to(device, non_blocking=True)] = values.to(device, non_blocking=True)


class Slot:
    """One loaded model: a candidate, or a reference in one format."""

    def __init__(self, name: str, spec: dict[str, Any]) -> None:
        self.name = name
        self.spec = spec
        self.noise = NoisyConstruction(spec["noise"]) if spec.get("noise") is not None else None
        self.make: Any = None
        self.model: nn.Module | None = None
        self.run: Callable[..., Any] | None = None

    def patched(self) -> contextlib.AbstractContextManager[None]:
        """Return the context in which this slot's source is run and its model made."""
        return self.noise.installed() if self.noise else contextlib.nullcontext()


class RequestError(Exception):
    """A request that cannot be answered, with a code that says whose fault it is."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Program:
    """State of one worker, and one method for each request."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.descriptors: list[int] = []
        self.device = "cpu"
        self.sets: dict[int, InputSet] = {}
        self.slots: dict[str, Slot] = {}
        self.answers: dict[
            int, tuple[dict[str, Any], list[Tensor], list[Tensor | None], int, str]
        ] = {}
        self.reveal_at = 0
        self.spin_s = 0.0
        """How long to spin for the next request before sleeping."""
        self.flush_memory: Tensor | None = None
        self.current: dict[str, Any] = {}
        """The request that is being answered."""

    # Clock, events and synchronisation, which a candidate may replace later, are bound here, before it runs.
    clock = staticmethod(perf_counter)
    event = torch.cuda.Event
    record = staticmethod(torch.cuda.Event.record)
    elapsed_ms = staticmethod(torch.cuda.Event.elapsed_time)
    stream = staticmethod(torch.cuda.current_stream)

    def serve(self) -> None:
        """Answer requests until `END` or until the other side is gone."""
        handlers = {
            "HELLO": self.hello,
            "STAGE": self.stage,
            "NOP": self.nop,
            "LOAD": self.load,
            "STATE": self.state,
            "CALL": self.call,
            "BATCH": self.batch,
            "FETCH": self.fetch,
            "PROFILE": self.profile,
            "INPUTS": self.inputs,
            "END": self.end,
        }
        while (header := self._receive()) is not None:
            self.current = header
            try:
                answer = handlers[header["op"]](header)
            except RequestError as error:
                answer = {"error": error.code, "message": str(error)[:1500]}
            except Exception as error:  # noqa: BLE001  a model's own names and tensors may raise anywhere
                traceback.print_exc()
                code = _BLAMES.get(header["op"], "call_raised")
                answer = {"error": _code_of(error, code), "message": _sentence(error)}
            self._send({"n": header["n"], **answer})
            if header["op"] == "END":
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(0)

    def _receive(self) -> dict[str, Any] | None:
        head = self._exactly(_LENGTH.size)
        if head is None:
            return None
        (size,) = _LENGTH.unpack(head)
        body = self._exactly(size)
        return None if body is None else json.loads(body)

    def _exactly(self, size: int) -> bytes | None:
        parts = bytearray()
        while len(parts) < size:
            data, extra = self._some(size - len(parts))
            if not data:
                return None
            parts += data
            for _level, _kind, payload in extra:
                found = array.array("i")
                found.frombytes(payload)
                self.descriptors += found
        return bytes(parts)

    def _some(self, size: int) -> tuple[bytes, list[Any]]:
        """Receive, asking again and again for a while where a core is free: being woken takes longer."""
        spin_until = self.clock() + self.spin_s
        while self.spin_s and self.clock() < spin_until:
            try:
                return self.connection.recvmsg(size, _RIGHTS_SPACE, socket.MSG_DONTWAIT)[:2]
            except BlockingIOError:
                continue
        return self.connection.recvmsg(size, _RIGHTS_SPACE)[:2]

    def _send(self, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        if len(body) > HEADER_LIMIT:
            body = json.dumps({"n": answer["n"], "error": "protocol", "message": ""}).encode()
        self.connection.sendall(_LENGTH.pack(len(body)) + body)

    # --- requests

    def hello(self, header: dict[str, Any]) -> dict[str, Any]:
        """Map the arenas: `in` to read only, `out` to write."""
        given, wanted = self.descriptors
        self.device = header["device"]
        self.reveal_at = header["reveal_at"]
        torch.set_num_threads(header["threads"])
        self.text = mmap.mmap(given, header["in_bytes"], prot=mmap.PROT_READ)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.arena = torch.frombuffer(self.text, dtype=torch.uint8)
        self.out = torch.frombuffer(mmap.mmap(wanted, header["out_bytes"]), dtype=torch.uint8)
        self.synchronise = torch.cuda.synchronize if self.on_gpu else _nothing
        self.spin_s = 0.02 if self.on_gpu and len(os.sched_getaffinity(0)) > 2 else 0.0
        for descriptor in (given, wanted):
            os.close(descriptor)
        return {"nonce": header["nonce"], "torch": torch.__version__}

    @property
    def on_gpu(self) -> bool:
        """Whether the models run on a CUDA device."""
        return self.device.startswith("cuda")

    def _text(self, header: dict[str, Any]) -> Any:
        start = header["at"]
        return json.loads(self.text[start : start + header["size"]])

    def stage(self, header: dict[str, Any]) -> dict[str, Any]:
        """Fill a set of inputs; leave a pattern where an answer's memory will be taken from."""
        number = header["set"]
        if number not in self.sets:
            self.sets[number] = InputSet(self._text(header), self.device)
        self.sets[number].fill(self.arena, header["data"])
        for size in header.get("pattern", []):
            torch.empty(size, dtype=torch.uint8, device=self.device).fill_(PATTERN)
        self.synchronise()
        return {}

    def _reveal(self, header: dict[str, Any]) -> InputSet:
        inputs = self.sets[header["set"]]
        if header["reveal"] == "patch":
            inputs.patch(self.arena, self.reveal_at)
        elif header["reveal"] == "whole":
            inputs.fill(self.arena, self.reveal_at)
        return inputs

    def nop(self, header: dict[str, Any]) -> dict[str, Any]:
        """Apply a reveal and run nothing; or copy bytes as a fetch would."""
        began = self.clock()
        if "copy" in header:
            size = header["copy"]
            source = torch.zeros(size, dtype=torch.uint8, device=self.device)
            began = self.clock()
            self.out[META_BYTES : META_BYTES + size].copy_(source)
        else:
            self._reveal(header)
        self.synchronise()
        return {"own_s": self.clock() - began}

    def load(self, header: dict[str, Any]) -> dict[str, Any]:
        """Run the source, or make the model of what was run before."""
        began = self.clock()
        name = header["slot"]
        if header["phase"] == "import":
            self.slots[name] = Slot(name, self._text(header))
            self._import(self.slots[name])
        else:
            self._construct(self.slots[name])
        return {"own_s": self.clock() - began, "gpu": torch.cuda.is_initialized()}

    def _import(self, slot: Slot) -> None:
        if slot.spec.get("interpret"):
            os.environ["TRITON_INTERPRET"] = "1"
        path = Path(os.environ.get("HOME") or ".") / f"{slot.name}.py"
        path.write_text(slot.spec["source"], encoding="utf-8")
        if "cpp_extension" in slot.spec["source"]:
            self._capture_builds()
        with _told("import_failed"), slot.patched():
            module = import_source(path, slot.name)
        slot.make = getattr(module, slot.spec["class"], None)
        if not isinstance(slot.make, type):
            raise RequestError("no_model_new", f"the file defines no class {slot.spec['class']}")

    def _capture_builds(self) -> None:
        """Let whoever asks build what torch's extension builder has written down, instead of ninja here."""
        from torch.utils import cpp_extension

        here = cpp_extension._run_ninja_build

        def build(build_directory: str, verbose: bool, error_prefix: str) -> None:
            if not self.current.get("builds"):
                return here(build_directory, verbose, error_prefix)
            self._send({"n": self.current["n"], "build": build_directory})
            told = self._receive()
            if told is None:
                os._exit(1)
            self.current["n"] = told["n"]
            match told.get("outcome"):
                case "built":
                    return None
                case "failed":
                    log = Path(build_directory, BUILD_LOG).read_text(encoding="utf-8")
                    raise RuntimeError(f"{error_prefix}: {log}")
                case _:
                    return here(build_directory, verbose, error_prefix)

        cpp_extension._run_ninja_build = build

    def _construct(self, slot: Slot) -> None:
        spec = slot.spec
        with _told("construct_failed"), slot.patched():
            arguments = unpack(spec["init"], self._tensors(spec["init_leaves"], spec["init_at"]))
            slot.model = construct(slot.make, arguments, spec["seed"], self.device)
        self._dress(slot)

    def _dress(self, slot: Slot) -> None:
        spec, model = slot.spec, slot.model
        assert model is not None
        run: Any = in_format(model, spec.get("cast"), spec.get("autocast"), self.device)
        slot.run = _sped_up(run, spec) if spec.get("compile") else run

    def _tensors(self, metas: list[dict[str, Any]], at: int) -> list[Tensor]:
        found: list[Tensor] = []
        for meta in metas:
            memory = InputSet._memory(meta, "cpu")
            size = memory.numel() * memory.element_size()
            memory.copy_(self.arena[at : at + size].view(memory.dtype))
            found.append(memory.as_strided(meta["shape"], meta["stride"]))
            at += aligned(size)
        return found

    def state(self, header: dict[str, Any]) -> dict[str, Any]:
        """Copy weights in place by name; then let the model prepare itself."""
        slot = self.slots[header["slot"]]
        spec = self._text(header)
        assert slot.model is not None
        targets = _members(slot.model)
        values = self._tensors(spec["leaves"], header["data"])
        missing: list[str] = []
        for name, value in zip(spec["names"], values, strict=True):
            target = targets.get(name)
            if target is None or target.shape != value.shape:
                missing.append(name)
            else:
                target.data.copy_(value)
        prepare_s = None if missing else self._prepare(slot)
        return {"missing": missing[:20], "missing_count": len(missing), "prepare_s": prepare_s}

    def _prepare(self, slot: Slot) -> float | None:
        prepare = getattr(slot.model, "prepare", None)
        if not callable(prepare):
            return None
        began = self.clock()
        with _told("construct_failed"):
            prepare()
            self.synchronise()
        return self.clock() - began

    def call(self, header: dict[str, Any]) -> dict[str, Any]:
        """Apply the reveal, run forward once, and hold the answer."""
        slot = self.slots[header["slot"]]
        assert slot.run is not None
        with _told("call_raised"):
            began = self.clock()
            inputs = self._reveal(header)
            seed_all(header["seed"])
            with _tf32(slot), torch.inference_mode():
                answer = self._deliver(_apply(slot.run, inputs.arguments))
            self.synchronise()
            own_s = self.clock() - began
        self.answers[header["n"]] = (*answer, header["set"], slot.name)
        return {"own_s": own_s}

    @staticmethod
    def _deliver(answer: Any) -> tuple[dict[str, Any], list[Tensor], list[Tensor | None]]:
        leaves: list[Tensor] = []
        tree = pack(answer, leaves)
        return tree, leaves, [_plain(leaf) for leaf in leaves]

    def batch(self, header: dict[str, Any]) -> dict[str, Any]:
        """Queue calls on the GPU behind a spin kernel; events tell the time of each."""
        slot = self.slots[header["slot"]]
        assert slot.run is not None
        pairs: list[tuple[Any, Any]] = []
        with _told("call_raised"):
            began = self.clock()
            whole = header["reveal"] == "whole"
            calls = [self._reveal_at(number, at, whole=whole) for number, at in header["sets"]]
            self.synchronise()
            seed_all(header["seed"])
            with _tf32(slot), torch.inference_mode():
                torch.cuda._sleep(header["spin_cycles"])
                for place, inputs in enumerate(calls):
                    pairs.append(self._queued(slot, inputs, header["n"] * 1000 + place, header))
            self.synchronise()
            own_s = self.clock() - began
        return {"own_s": own_s, "device_s": [self.elapsed_ms(a, b) / 1e3 for a, b in pairs]}

    def _reveal_at(self, number: int, at: int, *, whole: bool) -> tuple[int, InputSet]:
        change = self.sets[number].fill if whole else self.sets[number].patch
        change(self.arena, at)
        return number, self.sets[number]

    def _queued(
        self, slot: Slot, call: tuple[int, InputSet], number: int, header: dict[str, Any]
    ) -> tuple[Any, Any]:
        assert slot.run is not None
        self._flush(header.get("flush", 0))
        before, after = (self.event(enable_timing=True) for _ in range(2))
        stream = self.stream()
        self.record(before, stream)
        answer = self._deliver(_apply(slot.run, call[1].arguments))
        self.record(after, stream)
        self.answers[number] = (*answer, call[0], slot.name)
        return before, after

    def _flush(self, size: int) -> None:
        if not size:
            return
        if self.flush_memory is None or self.flush_memory.numel() != size:
            self.flush_memory = torch.zeros(size, dtype=torch.uint8, device=self.device)
        self.flush_memory.add_(1)

    def fetch(self, header: dict[str, Any]) -> dict[str, Any]:
        """Write an answer's bytes into `out`; or let it go. Cold caches are made here, outside any clock."""
        number = header["call"]
        answer = self.answers.get(number) if header.get("keep") else self.answers.pop(number, None)
        reply: dict[str, Any] = {}
        if header["want"] and answer is not None:
            reply = self._write(answer, number)
        answer = None
        if header.get("flush"):
            self._flush(header["flush"])
        self.synchronise()
        return reply

    def _write(self, answer: Any, number: int) -> dict[str, Any]:
        tree, leaves, values, number_of_set, slot_name = answer
        began = self.clock()
        at = META_BYTES
        for value in values:
            if value is None:
                continue
            size = value.numel() * value.element_size()
            if at + size <= self.out.numel():
                self.out[at : at + size].copy_(raw(value))
            at += aligned(size)
        self.synchronise()
        copied_s = self.clock() - began
        owners = self._owners(number, number_of_set, slot_name)
        meta = {
            "tree": tree,
            "leaves": [
                _meta(leaf, value, owners) for leaf, value in zip(leaves, values, strict=True)
            ],
        }
        text = json.dumps(meta).encode()
        if len(text) > META_BYTES:
            text = json.dumps(
                {"tree": {"k": "other", "v": "too many parts"}, "leaves": []}
            ).encode()
        self.out[: len(text)].copy_(torch.frombuffer(bytearray(text), dtype=torch.uint8))
        return {"meta": len(text), "bytes": at - META_BYTES, "copied_s": copied_s}

    def _owners(self, number: int, number_of_set: int, slot_name: str) -> dict[int, str]:
        model = self.slots[slot_name].model
        owners: dict[int, str] = {}
        for other, (_, leaves, values, _, _) in self.answers.items():
            if other != number:
                owners |= {_address(x): "output" for x in (*leaves, *values) if x is not None}
        if model is not None:
            owners |= {_address(x): "parameter" for x in _members(model).values()}
        leaves = self.sets[number_of_set].leaves
        owners |= {_address(x): f"input {i}" for i, x in enumerate(leaves)}
        owners.pop(0, None)
        return owners

    def profile(self, header: dict[str, Any]) -> dict[str, Any]:
        """Run calls back to back, then again under torch.profiler; write a table of both into `out`."""
        slot = self.slots[header["slot"]]
        sets = [self.sets[number].arguments for number in header["sets"]]
        calls, warm = header["calls"], min(3, header["calls"])
        with _told("call_raised"), _tf32(slot), torch.inference_mode():
            self._calls(slot, sets, warm)
            table = {"wall_us": self._calls(slot, sets, calls) / calls * 1e6, "calls": calls}
            table |= self._profiled(slot, sets, calls)
            table["do_bench_ms"] = self._do_bench(slot, sets[0]) if self.on_gpu else None
        return {"meta": self._tell_table(table)}

    def _calls(self, slot: Slot, sets: list[Any], calls: int) -> float:
        """Return the seconds of that many calls, waited for once."""
        assert slot.run is not None
        self.synchronise()
        began = self.clock()
        for place in range(calls):
            _apply(slot.run, sets[place % len(sets)])
        self.synchronise()
        return self.clock() - began

    def _profiled(self, slot: Slot, sets: list[Any], calls: int) -> dict[str, Any]:
        from torch.profiler import ProfilerActivity, profile

        kinds = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if self.on_gpu else [])]
        with profile(activities=kinds) as seen:
            span_s = self._calls(slot, sets, calls)
        rows = _kernels(seen.key_averages(), on_gpu=self.on_gpu)
        return {"span_us": span_s / calls * 1e6, "rows": rows}

    def _do_bench(self, slot: Slot, arguments: Any) -> float | None:
        """Return the mean that Triton's own benchmark says, in milliseconds; None without Triton."""
        try:
            from triton.testing import do_bench
        except ImportError:
            return None
        assert slot.run is not None
        run = slot.run
        mean: Any = do_bench(lambda: _apply(run, arguments), rep=200, return_mode="mean")
        return float(mean)

    def _tell_table(self, table: dict[str, Any]) -> int:
        """Write JSON into `out`, shorter until it fits; return its length."""
        while len(text := json.dumps(table).encode()) > META_BYTES:
            table["rows"] = table["rows"][: len(table["rows"]) // 2]
        self.out[: len(text)].copy_(torch.frombuffer(bytearray(text), dtype=torch.uint8))
        return len(text)

    def inputs(self, header: dict[str, Any]) -> dict[str, Any]:
        """Write the bytes of a set of inputs into `out`."""
        at = META_BYTES
        for memory in self.sets[header["set"]].memory:
            size = memory.numel() * memory.element_size()
            self.out[at : at + size].copy_(raw(memory))
            at += aligned(size)
        self.synchronise()
        return {"bytes": at - META_BYTES}

    def end(self, _header: dict[str, Any]) -> dict[str, Any]:
        """Tell what the process has become."""
        peak = torch.cuda.max_memory_allocated() if self.on_gpu else None
        return {
            "threads": threading.active_count(),
            "children": _children(),
            "torch_threads": torch.get_num_threads(),
            "tf32": bool(torch.backends.cuda.matmul.allow_tf32),
            "dtype": str(torch.get_default_dtype()).removeprefix("torch."),
            "deterministic": bool(torch.are_deterministic_algorithms_enabled()),
            "matmul_precision": torch.get_float32_matmul_precision(),
            "tuning": bool(torch.backends.cudnn.benchmark),
            "peak_bytes": peak,
        }


def _children() -> int:
    """Return how many processes this one has started that still live."""
    count = 0
    for path in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):  # a thread that has just ended
            count += len(path.read_text(encoding="ascii").split())
    return count


_BLAMES = {"LOAD": "construct_failed", "STATE": "construct_failed"}
"""What a request blames if something raises where nothing of the candidate's was called."""


@contextlib.contextmanager
def _told(code: str) -> Generator[None]:
    """Turn what the candidate's code raises into an answer; its traceback goes to stderr."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  the candidate may raise anything
        traceback.print_exc()
        raise RequestError(_code_of(error, code), _sentence(error)) from None


ROWS = 60
"""Kernels or operations of a profile that are told, costliest first."""
NAME_LIMIT = 300


def _kernels(averages: Any, *, on_gpu: bool) -> list[list[Any]]:
    """Return name, calls and microseconds of kernels, or of operations where all runs on the CPU."""
    wanted = "CUDA" if on_gpu else "CPU"
    found: list[list[Any]] = []
    for row in averages:
        took_us = row.self_device_time_total if on_gpu else row.self_cpu_time_total
        if row.device_type.name == wanted and took_us > 0 and not _is_note(row):
            found.append([str(row.key)[:NAME_LIMIT], int(row.count), float(took_us)])
    return sorted(found, key=lambda row: -row[2])[:ROWS]


def _is_note(row: Any) -> bool:
    """Return whether a row is a mark that somebody set, around kernels that have rows of their own."""
    return bool(getattr(row, "is_user_annotation", False)) or str(row.key).startswith(
        "ProfilerStep"
    )


def _sped_up(model: nn.Module, spec: dict[str, Any]) -> Any:
    """Return the model in the way that one line of PyTorch makes it faster."""
    match spec.get("mode"):
        case "graphed":
            return _Graphed(model)
        case "compile-graphed":
            return _Graphed(_compiled(model, None))
        case "max-autotune-graphed":
            return _Graphed(_compiled(model, "max-autotune-no-cudagraphs"))
        case "tensorrt":
            importlib.import_module("torch_tensorrt")
            return torch.compile(model, backend="torch_tensorrt")
        case mode:
            return _compiled(model, mode)


def _compiled(model: nn.Module, mode: str | None) -> Any:
    """Return the model compiled; on few cores without a pool of compilers, whose start costs seconds."""
    if len(os.sched_getaffinity(0)) <= 4:
        from torch._inductor import config

        config.compile_threads = 1
    return torch.compile(model, mode=mode)


class _Graphed:
    """The model captured once as a CUDA graph: inputs copied in, answers copied out."""

    def __init__(self, model: Callable[..., Any]) -> None:
        self.model = model
        self.graph: Any = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        leaves: list[Tensor] = []
        pack([list(arguments), named], leaves)
        graph = self.graph = self.graph or self._capture(arguments, named, leaves)
        for mine, given in zip(self.given, leaves, strict=True):
            mine.copy_(given)
        graph.replay()
        return unpack(self.tree, [leaf.clone() for leaf in self.made])

    def _capture(self, arguments: Any, named: Any, leaves: list[Tensor]) -> Any:
        self.given = [leaf.clone() for leaf in leaves]
        given = unpack(pack([list(arguments), named], []), self.given)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.model(*given[0], **given[1])
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        self.made: list[Tensor] = []
        with torch.cuda.graph(graph):
            self.tree = pack(self.model(*given[0], **given[1]), self.made)
        return graph


def _nothing() -> None:
    return None


def _apply(run: Callable[..., Any], arguments: Any) -> Any:
    return run(**arguments) if isinstance(arguments, dict) else run(*arguments)


@contextlib.contextmanager
def _tf32(slot: Slot) -> Generator[None]:
    wanted = slot.spec.get("tf32")
    if wanted is None:
        yield
        return
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    set_tf32(wanted)
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


def is_plain(leaf: Tensor) -> bool:
    """Return whether this is an ordinary tensor whose elements are in memory."""
    if type(leaf) is not Tensor and type(leaf) is not nn.Parameter:
        return False
    return leaf.layout is torch.strided and not leaf.is_meta and not leaf.is_quantized


def _members(model: nn.Module) -> dict[str, Tensor]:
    """Return parameters and buffers by name, whatever attributes the model has put over its methods."""
    found: dict[str, Tensor] = dict(nn.Module.named_parameters(model, remove_duplicate=False))
    return found | dict(nn.Module.named_buffers(model, remove_duplicate=False))


def _plain(leaf: Tensor) -> Tensor | None:
    if not is_plain(leaf):
        return None
    value = Tensor.detach(leaf)
    return value.resolve_conj().resolve_neg().contiguous()


def _address(value: Tensor) -> int:
    return value.untyped_storage().data_ptr() if is_plain(value) else 0


def _meta(leaf: Tensor, value: Tensor | None, owners: dict[int, str]) -> dict[str, Any]:
    if value is None:
        return {"plain": False, "type": type(leaf).__name__}
    return {
        "plain": True,
        "dtype": str(value.dtype).removeprefix("torch."),
        "shape": list(value.shape),
        "device": value.device.type,
        "shares": owners.get(_address(leaf)),
    }


def _sentence(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:600]


def _is_build(error: BaseException) -> bool:
    text = f"{type(error).__name__} {error}"
    return any(
        word in text
        for word in ("building extension", "CalledProcessError", "ninja", "nvcc", "NVRTC", "g++")
    )


def _code_of(error: BaseException, otherwise: str) -> str:
    if otherwise == "import_failed":
        if isinstance(error, SyntaxError):
            return "syntax"
        otherwise = "build_failed" if _is_build(error) else otherwise
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return "out_of_memory"
    text = str(error)
    if "can't allocate memory" in text or "DefaultCPUAllocator" in text:
        return "out_of_memory"
    return "cuda_error" if "CUDA error" in text or "CUDA driver error" in text else otherwise


def main() -> None:
    """Serve the socket whose number is given."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fd", type=int, required=True)
    Program(socket.socket(fileno=parser.parse_args().fd)).serve()


if __name__ == "__main__":
    main()
