"""What noise adds to a call through the proxy: 100 conversations at once, each turn with its whole history, beside a pass-through in the same run.

    python tests/benchmarks/bench_proxy.py [--connections 100] [--think 1] [--turns 6] [--rounds 3] [--with SPEC]

A model on this machine answers after `--think` seconds (0: as fast as it can, which measures throughput). The proxy runs twice, each a process of its
own: with noise, and without (`--with none`). Conversations go through both at the same time, half of the connections each way, so that whatever else
the machine does meets both alike; client and model are bare sockets, lest they cost more than what is measured. The CPU time of each proxy by call
says the same on a machine that others use too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

SAID = "Hello, this is caller {n}. I would like to change my reservation ZFA04K from JFK to Seattle on May 20th, what would it cost? ({t})"
ANSWER = "Of course. Could you please confirm the passengers, and whether you would like to keep the same cabin for all segments of the trip?"
REPLY = json.dumps({"choices": [{"message": {"role": "assistant", "content": ANSWER}}]}).encode()


async def read_message(reader: asyncio.StreamReader) -> bytes:
    """The head and the body of a request or an answer that says its length."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    return head + await reader.readexactly(length)


async def serve_model(port: int, think: float) -> None:
    """A model's API that takes a while."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await read_message(reader)
                await asyncio.sleep(think)
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(REPLY) + REPLY)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


async def converse(url: str, number: int, turns: int, found: list[float]) -> None:
    """One conversation over a connection of its own, its latencies in seconds into `found`."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    messages = [{"role": "system", "content": "You are the agent of an airline. " * 100}]
    for turn in range(turns):
        messages.append({"role": "user", "content": SAID.format(n=number, t=turn)})
        body = json.dumps({"model": "m", "messages": messages}).encode()
        head = f"POST {address.path}/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        start = time.perf_counter()
        writer.write(head.encode() + body)
        answer = await read_message(reader)
        found.append(time.perf_counter() - start)
        assert answer.startswith(b"HTTP/1.1 200")
        messages.append({"role": "assistant", "content": ANSWER})
    writer.close()


async def measured(urls: dict[str, str], connections: int, turns: int, rounds: int, think: float) -> dict[str, list[float]]:
    """Latencies by name of the way, in seconds."""
    found: dict[str, list[float]] = {name: [] for name in urls}

    async def late(number: int, name: str) -> None:
        await asyncio.sleep(think * number / connections)
        for again in range(rounds):
            await converse(urls[name], again * connections + number, turns, found[name])

    names = list(urls)
    await asyncio.gather(*(late(number, names[number % len(names)]) for number in range(connections)))
    return found


def cpu_seconds(process: int) -> float:
    """The CPU time that a process has had."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=100)
    parser.add_argument("--think", type=float, default=1.0)
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--with", dest="spec", default="typos:rate=0.1")
    parser.add_argument("--model", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.model:
        asyncio.run(serve_model(options.model, options.think))
        return
    port = 8990
    running = [subprocess.Popen([sys.executable, __file__, "--model", str(port), "--think", str(options.think)])]
    urls: dict[str, str] = {}
    try:
        for name, spec in (("pass-through", "none"), ("noise", options.spec)):
            words = ["--upstream", f"http://127.0.0.1:{port}/v1", "--with", spec, "--port", "0"]
            process = subprocess.Popen([sys.executable, "-m", "dialmill", "proxy", *words], stderr=subprocess.PIPE, text=True)
            running.append(process)
            assert process.stderr is not None
            urls[name] = process.stderr.readline().split("proxy at ")[1].split(" ")[0]
        before = [cpu_seconds(one.pid) for one in running[1:]]
        found = asyncio.run(measured(urls, options.connections, options.turns, options.rounds, options.think))
        used = [cpu_seconds(one.pid) - was for one, was in zip(running[1:], before, strict=True)]
        for (name, seconds), cpu in zip(found.items(), used, strict=True):
            middle, late = statistics.median(seconds) - options.think, statistics.quantiles(seconds, n=20)[-1] - options.think
            print(f"{name:12} {len(seconds)} calls; beyond the model's time: median {1e3 * middle:.2f} ms, 95 % {1e3 * late:.2f} ms;", end=" ")
            print(f"CPU {1e3 * cpu / len(seconds):.2f} ms a call")
        added = statistics.median(found["noise"]) - statistics.median(found["pass-through"])
        print(f"noise adds {1e3 * added:.2f} ms at the median, with {options.connections} connections")
    finally:
        for one in running:
            one.terminate()


if __name__ == "__main__":
    main()
