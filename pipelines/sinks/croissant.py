"""croissant.json of an output folder: its files and their rows in MLCommons' vocabulary for data sets (Croissant 1.0), which catalogues read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

#: The vocabulary, as the specification gives it.
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
#: Columns of a record that are one value each: name, type, what it is.
_COLUMNS = (
    ("dialogue_id", "sc:Text", "Id of the record: SOURCE_ID/SUITE/VARIANT."),
    ("source", "sc:Text", "The corpus that the dialogue is of."),
    ("source_id", "sc:Text", "The dialogue's id there."),
    ("suite", "sc:Text", "Which perturbed copy the record is of; standard for none."),
    ("variant", "sc:Integer", "Number of the copy, from 0."),
    ("language", "sc:Text", "Language of the text."),
    ("split", "sc:Text", "train, valid or test."),
)
_FORMATS = {".jsonl": "application/jsonlines", ".json": "application/json", ".tsv": "text/tab-separated-values", ".parquet": "application/x-parquet"}


def make(name: str, about: str, paper: str, licence: str, languages: Sequence[str], version: str, outputs: Sequence[Mapping[str, Any]]) -> bytes:
    """The file.

    Args:
        name: of the data set.
        about: one line.
        paper: what to cite; "" for nothing.
        licence: the one that binds the whole.
        languages: of the text.
        version: of the program that made it.
        outputs: the entries of the manifest's `outputs`; files with records become distributions, JSONL of dialogues record sets.
    """
    # Held-out labels are the private part of a folder, and their digests with them.
    files = [one for one in outputs if one.get("records") and _format(str(one["path"])) and not str(one["path"]).startswith("labels/")]
    made = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": about,
        "license": licence,
        "inLanguage": list(languages),
        "version": version if version.count(".") == 2 else f"{version}.0",
        "url": f"https://huggingface.co/datasets/{name}",
        **({"citeAs": paper} if paper else {}),
        "distribution": [_file(one) for one in files],
        "recordSet": [_records(str(one["path"])) for one in files if str(one["path"]).endswith(".jsonl") and one["schema"] == "dialogue"],
    }
    return json.dumps(made, ensure_ascii=False, indent=1).encode() + b"\n"


def _format(path: str) -> str:
    return next((kind for ending, kind in _FORMATS.items() if path.endswith(ending)), "")


def _file(one: Mapping[str, Any]) -> dict[str, Any]:
    path = str(one["path"])
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "contentSize": f"{one['bytes']} B",
        "encodingFormat": _format(path),
        "sha256": one["sha256"],
    }


def _records(path: str) -> dict[str, Any]:
    """The rows of a JSONL file of dialogues, by the columns that are one value each; the turns are in the files."""
    place = path.removeprefix("dialogues/").removesuffix(".jsonl")
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{place}/{column}",
            "name": column,
            "description": about,
            "dataType": kind,
            "source": {"fileObject": {"@id": path}, "extract": {"column": column}},
        }
        for column, kind, about in _COLUMNS
    ]
    return {"@type": "cr:RecordSet", "@id": place, "name": place, "key": {"@id": f"{place}/dialogue_id"}, "field": fields}
