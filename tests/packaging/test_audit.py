"""`.ci/audit`: pinned versions against known vulnerabilities."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

ROOT = Path(__file__).parents[2]


class Osv(BaseHTTPRequestHandler):
    """Knows one vulnerable version."""

    answer: bytes | None = None

    def do_POST(self) -> None:
        queries = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        results = [{"vulns": [{"id": "GHSA-1"}, {"id": "PYSEC-2"}]} if one["package"]["name"] == "jinja2" else {} for one in queries]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.answer or json.dumps({"results": results}).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def service() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Osv)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def audit(url: str, accepted: str, folder: Path, **extra: str) -> tuple[int, str]:
    """What the script says in a checkout of its own with other accepted vulnerabilities."""
    for name in ("tests/constraints.txt", "pyproject.toml", ".ci/audit"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    (folder / ".ci/audit-accepted.txt").write_text(accepted)
    environment = {**os.environ, "AUDIT_URL": url, "no_proxy": "127.0.0.1", **extra}
    done = subprocess.run([sys.executable, folder / ".ci/audit"], env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_vulnerable_pin_fails_and_an_accepted_one_is_told(service: str, tmp_path: Path) -> None:
    code, said = audit(service, "# none\n", tmp_path)
    assert code == 1 and "jinja2 3." in said and "GHSA-1, PYSEC-2" in said and "1 with known vulnerabilities" in said
    assert int(said.split(" pinned versions")[0].split()[-1]) > 200, "constraints and the pins of the extras"
    code, said = audit(service, "GHSA-1 only in templates of strangers\n", tmp_path)
    assert code == 1 and "GHSA-1" not in said and "PYSEC-2" in said
    code, said = audit(service, "GHSA-1 a\nPYSEC-2 b\n", tmp_path)
    assert code == 0 and "accepted: GHSA-1, PYSEC-2" in said


def test_where_nothing_is_reachable_it_says_so(tmp_path: Path) -> None:
    code, said = audit("http://127.0.0.1:9", "", tmp_path)
    assert code == 0 and "NOT DONE" in said and "were compared with nothing" in said
    assert audit("http://127.0.0.1:9", "", tmp_path, AUDIT_REQUIRED="1")[0] == 1


def test_an_answer_of_another_make_is_no_all_clear(service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for answer in (b"<html>", b"[]", b'{"results": []}'):
        monkeypatch.setattr(Osv, "answer", answer)
        code, said = audit(service, "", tmp_path)
        assert code == 1 and "doesn't answer as OSV does" in said
