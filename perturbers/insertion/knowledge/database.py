"""Rows of a database by domain and name: what is answered without any snippet."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from dialmill.perturbers.core.tables import name_of, read_tables
from dialmill.perturbers.insertion.knowledge.base import Entity, KnowledgeError, name_key

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
    """A database from files ("|" between them; `core.tables` has the forms).

    Raises:
        KnowledgeError: a file that is missing, not JSON, or holds no rows with names.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for path in paths.split("|"):
        try:
            tables = read_tables(path)
        except OSError as error:
            raise KnowledgeError(f"{path}: {error.strerror or error}") from None
        except ValueError as error:
            raise KnowledgeError(f"{path}: {error}") from None
        before = len(found)
        for name, rows in tables.rows.items():
            for row in rows:
                named = name_of(row)
                if named:
                    language = "zh" if re.search("[\u3400-\u9fff]", named) else "en"
                    domain = _CHINESE.get(name.lower(), name.lower()) if language == "zh" else name.lower()
                    found[domain, name_key(named, language)] = {str(key).lower(): value for key, value in row.items()}
        if len(found) == before:
            raise KnowledgeError(f"{path}: holds no rows with a name; expected a list of objects, or lists by domain")
    return Database(found)
