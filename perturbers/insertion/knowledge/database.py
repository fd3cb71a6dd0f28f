"""Rows of a database by domain and name: what is answered without any snippet."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from dialmill.perturbers.insertion.knowledge.base import Entity, KnowledgeError, name_key
from dialmill.schemas.validate import JsonError, parse

_NAMES = ("name", "名称", "片名", "班号", "商品名称")
#: RiSAWOZ calls its files in English and its domains in Chinese.
_CHINESE = {
    "attraction": "旅游景点",
    "hotel": "酒店",
    "restaurant": "餐厅",
    "hospital": "医院",
    "movie": "电影",
    "tv": "电视剧",
    "car": "汽车",
    "pc": "电脑",
    "class": "辅导班",
}


class Database:
    """Rows by (domain, name as it is compared)."""

    def __init__(self, rows: dict[tuple[str, str], dict[str, Any]]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def row(self, entity: Entity) -> dict[str, Any] | None:
        """The row of an entity, None where there is none."""
        if entity.name is None:
            return None
        language = "zh" if re.search("[\u3400-\u9fff]", entity.name) else "en"
        return self.rows.get((entity.domain, name_key(entity.name, language)))


@lru_cache(maxsize=8)
def load(paths: str) -> Database:
    """A database from files ("|" between them): lists of rows called DOMAIN_db.json (MultiWOZ, RiSAWOZ), or objects of lists by domain (DSTC9).

    Raises:
        KnowledgeError: a file that is missing, not JSON, or holds no rows with names.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for path in paths.split("|"):
        try:
            text = Path(path).read_bytes()
            loaded = parse(text)
        except OSError as error:
            raise KnowledgeError(f"{path}: {error.strerror or error}") from None
        except JsonError as error:
            raise KnowledgeError(f"{path}: {error}") from None
        before = len(found)
        tables = loaded if isinstance(loaded, dict) else {Path(path).stem.removesuffix("_db").lower(): loaded}
        for name, rows in tables.items():
            for row in rows if isinstance(rows, list) else ():
                plain = _plain(row)
                named = next((plain[key] for key in _NAMES if isinstance(plain.get(key), str)), "")
                if named.strip():
                    language = "zh" if re.search("[\u3400-\u9fff]", named) else "en"
                    domain = _CHINESE.get(name.lower(), name.lower()) if language == "zh" else name.lower()
                    found[domain, name_key(named, language)] = {str(key).lower(): value for key, value in plain.items()}
        if len(found) == before:
            raise KnowledgeError(f"{path}: holds no rows with a name; expected a list of objects, or lists by domain")
    return Database(found)


def _plain(row: Any) -> dict[str, Any]:
    """A row as an object; some releases write rows as text."""
    if isinstance(row, str):
        try:
            row = ast.literal_eval(row)
        except (ValueError, SyntaxError):
            return {}
    return row if isinstance(row, dict) else {}
