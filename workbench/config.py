"""Settings: files, environment and flags joined, with the origin of each value.

| origin | wins over |
| --- | --- |
| a flag, when typed | all below |
| `PIKE_NAME` in the environment | files |
| `pike.toml` in this folder or the nearest above | the user's file |
| `$XDG_CONFIG_HOME/pike/config.toml` | defaults |
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from workbench.errors import WrongUsage, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = str | int | float | bool | None
NO_LIMIT = "none"
PROJECT_FILE = "pike.toml"


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing a person may set."""

    name: str
    default: Value
    kind: str
    """`text`, `whole`, `number`, `limit` (a number above zero, or `none`), `yes or no`."""
    meaning: str
    words: tuple[str, ...] = ()
    """The only values it may have."""

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return f"PIKE_{self.name.upper()}"


_PER_STRATEGY = ("auto", "yes", "no")
"""`auto`: as the strategy has it, which is on for `steady` and off for the paper's presets."""

SETTINGS: tuple[Setting, ...] = (
    Setting("strategy", "pike-b", "text", "the search"),
    Setting("model", None, "text", "the language model of every agent"),
    Setting("ideas_model", None, "text", "the model of the initial brainstorming agent"),
    Setting("fix_model", None, "text", "the model of the error fixing agent; CHEAP,DEAR cascades"),
    Setting("thinking", "default", "text", "how long models think; ROLE=LEVEL,… for each agent"),
    Setting("queries", 300, "limit", "hard limit of queries"),
    Setting("cost", 10.0, "limit", "hard limit of dollars"),
    Setting("time", 12.0, "limit", "hard limit of running hours"),
    Setting("plain_start", "auto", "text", "plain variants before the first query", _PER_STRATEGY),
    Setting("informed", "auto", "text", "prompts hold the machine's facts", _PER_STRATEGY),
    Setting("profile_guided", "auto", "text", "prompts hold the parent's profile", _PER_STRATEGY),
    Setting("agent_tools", "auto", "text", "agents may call the evaluator's tools", _PER_STRATEGY),
    Setting("device", "auto", "text", "cuda:0 .. or cpu; auto takes the first GPU, else the CPU"),
    Setting(
        "executor", "local", "text", "whose machines evaluate: local, ray or ray://HEAD[:PORT]"
    ),
    Setting("sandbox", "best-effort", "text", "around candidates", ("strict", "best-effort")),
    Setting("precision", "half", "text", "the precision policy", ("fp32", "tf32", "half")),
    Setting("tolerance", "budget", "text", "how close is right", ("budget", "paper")),
    Setting("python", None, "text", "environment whose torch judges and runs candidates"),
    Setting("notify", None, "text", "command run when a session finishes or needs you"),
    Setting("bell", True, "yes or no", "ring once when a session needs you"),
    Setting("title", True, "yes or no", "set the terminal's title when a session needs you"),
    Setting("mouse", True, "yes or no", "take the mouse; no leaves selecting to the terminal"),
    Setting("calm", "auto", "text", "halve the screen's rates", ("auto", "yes", "no")),
)
BY_NAME: dict[str, Setting] = {setting.name: setting for setting in SETTINGS}

MODEL_KEYS = (
    "provider",
    "model",
    "base_url",
    "key_env",
    "api",
    "price_in",
    "price_out",
    "thinking",
)
"""What a table `[models.NAME]` may hold."""

NOT_SETTINGS = frozenset({"PIKE_HOME", "PIKE_DEBUG"})
"""Variables of ours that are no settings."""


@dataclass(frozen=True, slots=True)
class Held:
    """A setting's value and where it came from."""

    value: Value
    origin: str
    """`default`, a file, `PIKE_NAME`, or the flag."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting, each with its origin."""

    values: Mapping[str, Held]
    models: Mapping[str, Mapping[str, Value]] = field(default_factory=dict[str, Any])
    model_origins: Mapping[str, str] = field(default_factory=dict[str, str])
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """Act id to key, for the screens."""
    warnings: tuple[str, ...] = ()
    evaluators: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Any])
    """`[evaluators.NAME]`: where candidates are evaluated; none: on this machine."""

    def __getitem__(self, name: str) -> Value:
        """Return one value."""
        return self.values[name].value

    def text(self, name: str) -> str:
        """Return one value as text; empty where it is unset."""
        value = self[name]
        return "" if value is None else str(value)

    def number(self, name: str) -> float | None:
        """Return a limit; None where there is none."""
        value = self[name]
        return float(value) if isinstance(value, int | float) else None


def user_file(env: Mapping[str, str] | None = None) -> Path:
    """Return where the user's own settings are, or would be."""
    env = os.environ if env is None else env
    base = env.get("XDG_CONFIG_HOME") or str(Path(env.get("HOME", "~")).expanduser() / ".config")
    return Path(base) / "pike" / "config.toml"


def project_file(folder: Path | None = None) -> Path | None:
    """Return the nearest `pike.toml` in this folder or above it."""
    here = (folder or Path.cwd()).absolute()
    places = (place / PROJECT_FILE for place in (here, *here.parents))
    return next((path for path in places if path.is_file()), None)


def load(
    flags: Mapping[str, Value] | None = None,
    *,
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings:
    """Return every setting; a flag counts only when it was typed (is not None).

    Raises:
        WrongUsage: an unknown key, a value of the wrong kind, or a file that is not TOML.
    """
    env = os.environ if env is None else env
    layers = _Layers()
    files = [user_file(env), project_file(folder)]
    for path in files:
        if path is not None and path.is_file():
            layers.file(path)
    layers.environment(env)
    for name, value in (flags or {}).items():
        if value is not None:
            layers.put(name, value, f"--{name.replace('_', '-')}")
    return layers.settings()


@dataclass(slots=True)
class _Layers:
    """Settings as they pile up, later ones winning."""

    values: dict[str, Held] = field(default_factory=dict[str, Held])
    models: dict[str, dict[str, Value]] = field(default_factory=dict[str, dict[str, Value]])
    model_origins: dict[str, str] = field(default_factory=dict[str, str])
    keys: dict[str, str] = field(default_factory=dict[str, str])
    warnings: list[str] = field(default_factory=list[str])
    evaluators: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    def put(self, name: str, value: Any, origin: str) -> None:
        setting = BY_NAME.get(name)
        if setting is None:
            raise WrongUsage(f"{origin}: there is no setting {name!r}.{nearest(name, BY_NAME)}")
        self.values[name] = Held(checked(setting, value, origin), origin)

    def file(self, path: Path) -> None:
        for name, value in _toml(path).items():
            if name == "models":
                self._models(path, value)
            elif name == "keys":
                self._keys(path, value)
            elif name == "evaluators":
                self._evaluators(path, value)
            elif name in BY_NAME:
                self.put(name, value, str(path))
            else:
                known = (*BY_NAME, "models", "keys", "evaluators")
                raise WrongUsage(f"{path}: there is no setting {name!r}.{nearest(name, known)}")

    def environment(self, env: Mapping[str, str]) -> None:
        by_variable = {setting.variable: setting.name for setting in SETTINGS}
        for variable in sorted(v for v in env if v.startswith("PIKE_") and v not in NOT_SETTINGS):
            if variable in by_variable:
                self.put(by_variable[variable], env[variable], variable)
            else:
                hint = nearest(variable, by_variable)
                self.warnings.append(f"{variable} in the environment is no setting.{hint}")

    def settings(self) -> Settings:
        defaults = {s.name: Held(s.default, "default") for s in SETTINGS}
        return Settings(
            {**defaults, **self.values},
            self.models,
            self.model_origins,
            self.keys,
            tuple(self.warnings),
            self.evaluators,
        )

    def _models(self, path: Path, tables: Any) -> None:
        if not isinstance(tables, dict):
            raise WrongUsage(f"{path}: [models.NAME] must be a table.")
        for name, table in tables.items():  # pyright: ignore[reportUnknownVariableType]
            self.models[str(name)] = _model_table(path, str(name), table)  # pyright: ignore[reportUnknownArgumentType]
            self.model_origins[str(name)] = str(path)  # pyright: ignore[reportUnknownArgumentType]

    def _evaluators(self, path: Path, tables: Any) -> None:
        if not isinstance(tables, dict) or not all(isinstance(t, dict) for t in tables.values()):  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - checked here
            raise WrongUsage(f"{path}: [evaluators.NAME] must be a table.")
        self.evaluators.update(cast("dict[str, dict[str, Any]]", tables))  # tables of TOML

    def _keys(self, path: Path, table: Any) -> None:
        if not isinstance(table, dict):
            raise WrongUsage(f"{path}: [keys] must be a table of act to key.")
        self.keys.update(_flat(cast("dict[str, Any]", table)))  # keys of TOML are text


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return a table by its dotted keys: TOML reads `live.pause = "r"` as a table in a table."""
    found: dict[str, str] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            found |= _flat(cast("dict[str, Any]", value), f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = str(value)
    return found


def checked(setting: Setting, value: Any, origin: str) -> Value:
    """Return the value in its right type, read from text where it came as text.

    Raises:
        WrongUsage: it is of the wrong kind.
    """
    parsed = _parsed(setting, value)
    if isinstance(parsed, _Wrong):
        raise WrongUsage(f"{origin}: {setting.name} is {str(value)!r}, but must be {parsed.must}.")
    return parsed


@dataclass(frozen=True, slots=True)
class _Wrong:
    must: str


_YES_NO = {"true": "yes", "false": "no", "1": "yes", "0": "no"}
"""A truth of TOML, or of the environment, where a third word may stand beside yes and no."""


def _parsed(setting: Setting, value: Any) -> Value | _Wrong:
    text = str(value).strip()
    if setting.words:
        word = text if "yes" not in setting.words else _YES_NO.get(text.lower(), text)
        return word if word in setting.words else _Wrong("one of " + ", ".join(setting.words))
    match setting.kind:
        case "limit":
            return _limit(text, whole=isinstance(setting.default, int))
        case "yes or no":
            truth = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
            return truth.get(text.lower(), _Wrong("yes or no"))
        case _:
            return text if text else _Wrong("some text")


def _limit(text: str, *, whole: bool) -> Value | _Wrong:
    if text.lower() == NO_LIMIT:
        return None
    must = _Wrong(f"a {'whole ' if whole else ''}number above zero, or {NO_LIMIT!r}")
    try:
        number = float(text)
    except ValueError:
        return must
    if not 0 < number < 1e9 or (whole and not number.is_integer()):
        return must
    return int(number) if whole else number


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WrongUsage(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise WrongUsage(f"{path} is not UTF-8 text.") from error
    except tomllib.TOMLDecodeError as error:
        raise WrongUsage(f"{path} is not TOML: {error}.") from error


def _model_table(path: Path, name: str, table: Any) -> dict[str, Value]:
    if not isinstance(table, dict):
        raise WrongUsage(f"{path}: [models.{name}] must be a table.")
    found: dict[str, Value] = {}
    for key, value in table.items():  # pyright: ignore[reportUnknownVariableType]
        if key not in MODEL_KEYS:
            hint = nearest(str(key), MODEL_KEYS)  # pyright: ignore[reportUnknownArgumentType]
            raise WrongUsage(f"{path}: [models.{name}] has no key {key!r}.{hint}")
        found[str(key)] = value  # pyright: ignore[reportUnknownArgumentType]
    return found
