"""The option `snr` of the speech channel as text: one level, one for each kind of noise, and either for each language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from math import isfinite

from dialmill.perturbers.core.options import OptionError

#: What `snr` says where the level is still to be found.
AUTOMATIC = ("auto", "curve")


def parse_levels(text: str, kinds: Sequence[str], languages: Set[str]) -> dict[str, dict[str, float]]:
    """SNRs in dB by language ("" for all others) and kind of noise; a language whose level is to be found is left out.

    Args:
        text: "auto", "curve", "12", "white=14|pink=10|babble=16", or those by language: "en: white=14|pink=10|babble=16; zh: 9".
        kinds: the kinds of noise, each of which needs a level.
        languages: those that may be named.

    Raises:
        OptionError: it is none of these.
    """
    found: dict[str, dict[str, float]] = {}
    for part in text.split(";"):
        language, colon, levels = part.rpartition(":")
        if colon and language.strip() not in languages:
            raise OptionError(f"speech: snr names the language {language.strip()!r}; there are: {', '.join(sorted(languages))}")
        if levels.strip() in AUTOMATIC:
            continue
        one = _levels(levels, kinds)
        if one is None or language.strip() in found:
            raise OptionError(
                f"speech: snr must be auto, a number of dB, or one for each kind ({'|'.join(f'{kind}=10' for kind in kinds)}), "
                f"of each language if they differ (en: 12; zh: 9), not {text!r}"
            )
        found[language.strip()] = one
    return found


def _levels(text: str, kinds: Sequence[str]) -> dict[str, float] | None:
    parts = [part.partition("=") for part in text.split("|")]
    try:
        if len(parts) == 1 and not parts[0][1]:
            parts = [(kind, "=", text) for kind in kinds]
        given = {kind.strip(): float(level) for kind, _, level in parts}
    except ValueError:
        return None
    return given if set(given) == set(kinds) and all(map(isfinite, given.values())) else None


def written_levels(levels: Mapping[str, float]) -> str:
    """Levels by kind of noise as `parse_levels` reads them."""
    return "|".join(f"{kind}={level:g}" for kind, level in sorted(levels.items()))
