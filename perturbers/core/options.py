"""Options by one mechanism: types, ranges and meanings stand on the fields of a frozen dataclass, for perturbers and for recipes alike.

    @dataclass(frozen=True)
    class Typos(TurnPerturber):
        rate: Annotated[float, Meta(gt=0, le=1, description="share of the words of a turn that are hit", examples=[0.3])] = 0.1

`read` makes a value of what a user wrote ("0.3", or 0.3 out of YAML), `check` holds the values of an instance against their types and ranges, and
`describe` is the help text: all three read the same annotation. `Meta` is msgspec's; ``extra={"unit": "dB"}`` gives a unit, and a title stands in
messages for what a pattern means ("a date, YYYY-MM-DD"). ``extra={"needs": {"engine": ("llm",)}}`` says on which other options an option's effect
depends (`effects` has the conditions): set where it has none, it is refused (`without_effect`). A field that is no option but part of what a
perturber holds, such as a pool, is made by `state`.
"""

from __future__ import annotations

import dataclasses
import math
import re
import types
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from textwrap import wrap
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
from dialmill.perturbers.core.effects import Condition, condition
from msgspec import Meta

__all__ = [
    "PERTURBER",
    "RECIPE",
    "Meta",
    "Option",
    "OptionError",
    "alternatives",
    "check",
    "describe",
    "facts",
    "names",
    "options",
    "read",
    "state",
    "without_effect",
    "written",
]


class OptionError(ValueError):
    """An option that does not exist, or a value out of its range. The message says what is allowed, and what was given."""


class UnusableFile(OptionError):
    """A file or folder that an option names is there and can't be used: the input is at fault, not the option. The message begins with its name."""


#: How a user writes an option: of a perturber in the text of ``--with``, of a recipe on the command line.
PERTURBER, RECIPE = "{called}:{name}={value}", "--set {name}={value}"
_STATE = "state"
_FLAGS = {"true": True, "yes": True, "false": False, "no": False}
_NONE = ("none", "null", "")
_PAIR = re.compile("[=:]")
_PLAIN: dict[Any, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


class Option(NamedTuple):
    """One option: its name, its type with the range on it, its default, and what stands in its annotation.

    `meaning` and `unit` are "" where the annotation has none; `example` is a value besides the default, None where neither the annotation nor the
    type tells one.
    """

    name: str
    kind: Any
    default: Any
    meaning: str = ""
    unit: str = ""
    example: Any = None
    needs: Mapping[str, Condition] = types.MappingProxyType({})

    @property
    def effective(self) -> str:
        """With which other options it has an effect: "engine=llm; output=plain"; "" where it always has one."""
        return "; ".join(one.wanted(other, written) for other, one in self.needs.items())

    @property
    def allowed(self) -> str:
        """What values it takes: "a number above 0 and at most 1", "one of typing, chat, mixed"."""
        return _allowed(self.kind)


def state(**settings: Any) -> Any:
    """A field of a perturber that is no option: it is set by the program, and stands neither in help texts nor in lineages. Takes what
    `dataclasses.field` takes."""
    return dataclasses.field(**settings, metadata={_STATE: True})


def names(kind: type) -> tuple[str, ...]:
    """The names of the options of a dataclass, in declared order."""
    hashable: Any = kind
    return _names(hashable)


def options(kind: type) -> tuple[Option, ...]:
    """The options of a dataclass, in declared order."""
    hashable: Any = kind
    return _options(hashable)


@lru_cache(maxsize=256)
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind) if _STATE not in field.metadata)


@lru_cache(maxsize=256)
def _options(kind: Any) -> tuple[Option, ...]:
    hints = get_type_hints(kind, include_extras=True)
    wanted = frozenset(_names(kind))
    return tuple(_option(field, hints[field.name]) for field in dataclasses.fields(kind) if field.name in wanted)


def _option(field: dataclasses.Field[Any], kind: Any) -> Option:
    default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
    metas = _metas(kind)
    meaning = next((meta.description for meta in metas if meta.description), "")
    unit = next((str(meta.extra["unit"]) for meta in metas if meta.extra and "unit" in meta.extra), "")
    examples = [shown for meta in metas for shown in meta.examples or ()] or _other_values(_plain(kind), default)
    stated: Mapping[str, Any] = next((meta.extra["needs"] for meta in metas if meta.extra and "needs" in meta.extra), {})
    needs = {other: condition(one) for other, one in stated.items()}
    return Option(field.name, kind, default, meaning, unit, examples[0] if examples else None, needs)


def _other_values(kind: Any, default: Any) -> list[Any]:
    """Values besides the default that the type alone tells."""
    if kind is bool:
        return [not default]
    return [value for value in alternatives(kind) if value != default]


def alternatives(kind: Any) -> tuple[Any, ...]:
    """The values of a type that is a choice among a few texts; none of any other type."""
    plain = _plain(kind)
    return get_args(plain) if get_origin(plain) is Literal else ()


def _metas(kind: Any) -> list[Meta]:
    """The annotations of a type, and of the parts of an alternative ("int or none")."""
    if get_origin(kind) is Annotated:
        base, *rest = get_args(kind)
        return [one for one in rest if isinstance(one, Meta)] + _metas(base)
    if _is_union(kind):
        return list(chain.from_iterable(map(_metas, get_args(kind))))
    return []


def _plain(kind: Any) -> Any:
    """A type without its annotation."""
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, types.UnionType)


def written(value: Any) -> str:
    """A value as a user writes it in an option or in ``--set``."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ",".join(f"{key}={written(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ",".join(map(written, value))
    return f"{value:g}" if isinstance(value, float) and value == float(f"{value:g}") else str(value)


# ------------------------------------------------------------- reading and checking


def read(name: str, kind: Any, value: Any) -> Any:
    """`value`, typed or as text, as the type `kind` with its range.

    Args:
        name: what messages call it: "typos: rate".
        kind: bool, int, float, str, a Literal of texts, a list or a dict by text of those, or an alternative of them; any with an annotation.
        value: what was given. Lists are texts with commas, dicts "name=value" with commas ("name:value" too); "none" is no value.

    Raises:
        OptionError: it does not fit; the message says what would.
    """
    fault = OptionError(f"{name} must be {_allowed(kind)}, not {value!r}")
    return _ranged(_read(name, kind, value, fault), kind, fault)


def _ranged(value: Any, kind: Any, fault: OptionError) -> Any:
    """`value` if it is of its type and in its range, which msgspec decides."""
    if isinstance(value, float) and not math.isfinite(value):
        raise fault
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise fault from None
    return value


def _read(name: str, kind: Any, value: Any, fault: OptionError) -> Any:
    """`value` as a value of a type, whatever its range."""
    kind = _plain(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return value
    if origin is list:
        items = [item.strip() for item in _inside(value, "[]").split(",") if item.strip()] if isinstance(value, str) else value
        if not isinstance(items, list | tuple):
            raise fault
        return [read(name, arguments[0], item) for item in items]
    if origin is dict:
        return {str(key): read(f"{name}.{key}", arguments[1], item) for key, item in _pairs(value, fault).items()}
    if _is_union(kind):
        return _alternative(name, arguments, value, fault)
    return _scalar(kind, value, fault)


def _inside(text: str, brackets: str) -> str:
    """A list or mapping as text without the brackets that YAML writes around it."""
    shown = text.strip()
    return shown[1:-1] if shown[:1] == brackets[0] and shown[-1:] == brackets[1] else text


def _pairs(value: Any, fault: OptionError) -> dict[Any, Any]:
    if isinstance(value, str):
        pairs = [_PAIR.split(item, 1) for item in _inside(value, "{}").split(",") if item.strip()]
        return {pair[0].strip(): pair[1].strip() if len(pair) > 1 else "" for pair in pairs}
    if not isinstance(value, dict):
        raise fault
    return value


def _alternative(name: str, kinds: tuple[Any, ...], value: Any, fault: OptionError) -> Any:
    if type(None) in kinds and (value is None or str(value).lower() in _NONE):
        return None
    by_name = [kind for kind in kinds if get_origin(_plain(kind)) is dict]
    if by_name and isinstance(value, str) and ("=" in value or ":" in value):
        return read(name, by_name[0], value)
    for kind in kinds:
        if kind is not type(None):
            try:
                return read(name, kind, value)
            except OptionError:
                continue
    raise fault


def _scalar(kind: Any, value: Any, fault: OptionError) -> Any:
    if kind is bool:
        if not isinstance(value, bool) and str(value).lower() not in _FLAGS:
            raise fault
        return value if isinstance(value, bool) else _FLAGS[str(value).lower()]
    if isinstance(value, bool) or (kind is str and not isinstance(value, str)):
        raise fault
    try:
        made = kind(value)
    except (TypeError, ValueError, OverflowError):
        raise fault from None
    if kind is int and isinstance(value, float) and made != value:
        raise fault
    return made


def check(instance: Any, called: str = "", effects: bool = True) -> None:
    """Holds every option of a dataclass instance against its type and range.

    Args:
        instance: the instance.
        called: what messages put before the names: "typos: ".
        effects: whether an option that is set and has no effect beside the others is refused.

    Raises:
        OptionError: a value does not fit; the message names the option, what is allowed, and the value.
    """
    for option in options(type(instance)):
        if _is_known(option.kind):
            value = getattr(instance, option.name)
            fault = OptionError(f"{called}{option.name} must be {option.allowed}, not {value!r}")
            _ranged_within(f"{called}{option.name}", option.kind, value, fault)
    if effects:
        defaults = {option.name: option.default for option in options(type(instance))}
        for name, why in without_effect(instance):
            if getattr(instance, name) != defaults[name]:
                raise OptionError(f"{called}{name}={written(getattr(instance, name))} has no effect: {why}")


def without_effect(instance: Any) -> Iterator[tuple[str, str]]:
    """The options of an instance that have no effect, whatever their value, given the other options; each with what would give it one."""
    for option in options(type(instance)):
        for other, one in option.needs.items():
            if not one.holds(getattr(instance, other)):
                but = "" if other == option.name else f", not with {other}={written(getattr(instance, other)) or 'empty'}"
                yield option.name, f"it takes effect with {one.wanted(other, written)}{but}"
                break


def _ranged_within(name: str, kind: Any, value: Any, fault: OptionError) -> None:
    """`_ranged`; a fault inside a dict names the key."""
    plain = _plain(kind)
    if get_origin(plain) is dict and isinstance(value, dict):
        inner = get_args(plain)[1]
        for key, item in value.items():
            _ranged(item, inner, OptionError(f"{name}.{key} must be {_allowed(inner)}, not {item!r}"))
    _ranged(value, kind, fault)


@lru_cache(maxsize=512)
def _is_known(kind: Any) -> bool:
    """Whether a type is one that options have; a plug-in may hold others, which it checks itself."""
    kind = _plain(kind)
    if kind in _PLAIN or kind is type(None):
        return True
    if get_origin(kind) is Literal:
        return True
    return (get_origin(kind) in (list, dict) or _is_union(kind)) and all(map(_is_known, get_args(kind)))


# ------------------------------------------------------------- help texts


def _allowed(kind: Any) -> str:
    """What values a type with its range takes."""
    plain = _plain(kind)
    limits = _limits(kind)
    if limits is not None and limits.title:
        return limits.title
    origin, arguments = get_origin(plain), get_args(plain)
    if origin is Literal:
        return "one of " + ", ".join(map(str, arguments))
    if origin is list:
        inner = _allowed(arguments[0])
        return "a list separated by commas" + ("" if inner == "text" else f", each {inner}")
    if origin is dict:
        return f"name=value pairs ({_allowed(arguments[1])})"
    if _is_union(plain):
        parts = [_allowed(Annotated[part, limits] if limits and part is not type(None) else part) for part in arguments]
        return " or ".join(dict.fromkeys(parts))
    text = "none" if plain is type(None) else _PLAIN.get(plain, getattr(plain, "__name__", str(plain)))
    return f"{text} {_range(limits)}" if limits is not None and _range(limits) else text


def _limits(kind: Any) -> Meta | None:
    """The annotation of a type that says what it takes; another may hold its meaning."""
    found = [one for one in (get_args(kind)[1:] if get_origin(kind) is Annotated else ()) if isinstance(one, Meta)]
    return next((one for one in found if one.title or _range(one)), None)


def _range(meta: Meta) -> str:
    """The range of a number, or the length of a text, in words; "" for none."""
    low = f"above {meta.gt:g}" if meta.gt is not None else f"of at least {meta.ge:g}" if meta.ge is not None else ""
    high = f"below {meta.lt:g}" if meta.lt is not None else f"at most {meta.le:g}" if meta.le is not None else ""
    if meta.ge is not None and meta.le is not None:
        return f"from {meta.ge:g} to {meta.le:g}"
    if meta.min_length:
        low = "that is not empty" if meta.min_length == 1 else f"of at least {meta.min_length} characters"
    return " and ".join(filter(None, (low, high)))


def _example(option: Option, form: str, called: str) -> str:
    """An option as a user writes it; one entry of a dict by its key ("fractions.test=0.2")."""
    if isinstance(option.example, dict) and len(option.example) == 1:
        ((key, value),) = option.example.items()
        return form.format(called=called, name=f"{option.name}.{key}", value=written(value))
    return form.format(called=called, name=option.name, value=written(option.example))


def facts(kind: type, called: str, form: str = PERTURBER, defaults: object = None) -> list[dict[str, str]]:
    """The options of a dataclass as plain texts: `name`, `about` (its meaning), `allowed`, `unit`, `default`, `example`, and `with`, the
    other options that give it an effect; its own before inherited ones.

    Args:
        kind: the dataclass: a perturber or a recipe.
        called: its name, for the examples.
        form: how a user writes an option: `PERTURBER` or `RECIPE`.
        defaults: an instance whose values stand as defaults, in place of the class's; a benchmark's own recipe.
    """
    inherited = {name for base in kind.__mro__[1:] for name in getattr(base, "__annotations__", ())}
    found = []
    for option in sorted(options(kind), key=lambda one: one.name in inherited):
        default = option.default if defaults is None else getattr(defaults, option.name)
        if option.example == default:
            # A benchmark's own default may be the very example.
            option = option._replace(example=next(iter(_other_values(_plain(option.kind), default)), None))
        example = "" if option.example is None else _example(option, form, called)
        shown = _shown(default)
        found.append(
            {
                "name": option.name,
                "about": option.meaning,
                "allowed": option.allowed,
                "unit": option.unit,
                "default": shown,
                "example": example,
                "with": option.effective,
            }
        )
    return found


def _shown(default: Any) -> str:
    """A default as help texts show it; values that hold commas and signs of their own are parted by blanks."""
    if isinstance(default, dict) and any(isinstance(value, str) and _PAIR.search(value) for value in default.values()):
        return "; ".join(f"{key} is {written(value)}" for key, value in default.items())
    return written(default) or "empty"


def describe(kind: type, called: str, form: str = PERTURBER, defaults: object = None) -> str:
    """`facts` as lines for people."""
    blocks = []
    for one in facts(kind, called, form, defaults):
        told = [one["allowed"], *(f"{key}: {one[key]}" for key in ("unit", "default", "example") if one[key])]
        told += [f"takes effect with {one['with']}"] if one["with"] else []
        lines = [*wrap(one["about"], 110), *wrap("; ".join(told), 110, break_on_hyphens=False)]
        blocks.append("\n".join([f"  {one['name']}", *(f"      {line}" for line in lines)]))
    return "\n".join(blocks)
