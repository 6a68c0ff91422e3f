#!/usr/bin/env python3
"""Prints closed lakes, those with the highest values, those without one, and a lake's history, from a limnomap server.

    python3 lakes.py --server http://127.0.0.1:8080 --history de_be_langer_see --cache /tmp/lakes

Needs Python 3.9 and nothing else. It shows how to use compressed answers, how to fetch only what has changed,
how to wait as long as the server asks, that null is not zero, and that a closure outranks every value.
"""

import argparse
import csv
import gzip
import hashlib
import http.client
import io
import json
import os
import random
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib

MOST_TRIES = 4
LONGEST_WAIT = 30  # seconds, even if Retry-After asks for more
UNKNOWN = "–"
CLOSURE = "closure"


class Refused(Exception):
    """The server answered with an error; the text is its message."""


def ask(url, cache=None):
    """Returns the text at url. With a cache folder it is only fetched if it has changed since the last time."""
    kept = read_cache(cache, url)
    headers = {"Accept-Encoding": "gzip"}
    if kept:
        headers["If-None-Match"] = kept["etag"]
    for tries in range(1, MOST_TRIES + 1):
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as answer:
                body = answer.read()
                if answer.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
            break
        except urllib.error.HTTPError as e:
            if e.code == 304 and kept:
                print("unchanged:", url, file=sys.stderr)
                print_notice(e)
                return kept["text"]
            # 429: this address sent too many requests; 503: the server is overloaded. Both say how long to wait.
            if e.code not in (429, 502, 503, 504) or tries == MOST_TRIES:
                raise Refused(f"{url}: {e.code} {e.reason}: {detail(e)}") from None
            wait = e.headers.get("Retry-After", "")
            wait = int(wait) if wait.isdecimal() else 2**tries
        except (OSError, EOFError, http.client.HTTPException, zlib.error) as e:  # the server is down, or the answer is truncated
            if tries == MOST_TRIES:
                raise Refused(f"{url}: {getattr(e, 'reason', e)}") from None
            wait = 2**tries
        time.sleep(min(wait, LONGEST_WAIT) * random.uniform(1, 1.5))
    print_notice(answer)
    text = body.decode("utf-8")
    write_cache(cache, url, answer.headers.get("ETag"), text)
    return text


def print_notice(answer):
    """Prints the server's notice about its data, such as that they are simulated."""
    if answer.headers.get("X-Data-Notice"):
        print("notice:", answer.headers["X-Data-Notice"], file=sys.stderr)


def detail(answer):
    """Returns the message of an error: errors are application/problem+json."""
    try:
        problem = json.load(answer)
        return "; ".join([problem["detail"]] + [f"{e['parameter']}: {e['detail']}" for e in problem.get("errors", [])])
    except (ValueError, KeyError, TypeError, OSError):
        return "no reason given"


def cache_path(cache, url):
    return os.path.join(cache, hashlib.sha256(url.encode()).hexdigest() + ".json")


def read_cache(cache, url):
    try:
        with open(cache_path(cache, url), encoding="utf-8") as file:
            kept = json.load(file)
        return kept if kept["url"] == url and kept["etag"] and isinstance(kept["text"], str) else None
    except (OSError, ValueError, KeyError, TypeError):  # nothing cached, an incomplete file, or no cache
        return None


def write_cache(cache, url, etag, text):
    if not cache or not etag:
        return
    try:
        os.makedirs(cache, exist_ok=True)
        path = cache_path(cache, url)
        with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as file:
            json.dump({"url": url, "etag": etag, "text": text}, file)
        os.replace(file.name, path)  # complete or not at all
    except OSError as e:  # the fetched text is still valid
        print("not kept:", e, file=sys.stderr)


def number(text):
    """Returns a number from a CSV; None for an empty field, which is a gap and not zero."""
    return float(text) if text else None


def value(chl):
    return UNKNOWN if chl is None else f"{chl:.2f}"


def kind(lake):
    """Returns the kind of the gravest official statement that is active, such as closure or warning; empty if there is none."""
    return lake["advisory"]["kind"] if lake["advisory"] else ""


def print_status(server, cache, count, risk):
    # Without include_stale=true the filter finds only lakes with a current value.
    query = "?" + urllib.parse.urlencode({"risk": risk, "include_stale": "true"}) if risk else ""
    # One answer has all lakes: there is no pagination.
    status = json.loads(ask(f"{server}/api/v1/bathing-lakes/status{query}", cache))
    lakes = f"lakes of {risk} risk" if risk else "lakes"
    print(f"{status['total_lakes']} {lakes}, {status['lakes_with_data']} with a current value, as of {status['generated_at'][:10]}")
    # A closure outranks every value: such a lake comes first, whatever its risk is.
    closed = [lake for lake in status["lakes"] if kind(lake) == CLOSURE]
    if closed:
        print_lakes(f"{len(closed)} {lakes} are CLOSED by an official statement", closed[:count])
    known = [lake for lake in status["lakes"] if lake["chl"] is not None]
    known.sort(key=lambda lake: (-lake["chl"], lake["id"]))
    print_lakes("The highest values, chlorophyll-a in µg/l", known[:count])
    # Their risk is that of the last known value: a lake without a value is not clean.
    unknown = [lake for lake in status["lakes"] if lake["chl"] is None]
    print_lakes(f"{len(unknown)} {lakes} have no current value; the risk is that of their last one", unknown[:count])


def print_lakes(title, lakes):
    print(f"\n{title}")
    for lake in lakes:
        measured = (lake["measured_at"] or "never")[:10]
        official = "CLOSED" if kind(lake) == CLOSURE else kind(lake)
        print(f"{lake['id']:<40} {official:<8}{value(lake['chl']):>8} {lake['risk'] or UNKNOWN:<6} {measured:<10} {lake['name']}")


def print_history(server, cache, lake_id, count):
    path = urllib.parse.quote(lake_id, safe="")
    text = ask(f"{server}/api/v1/bathing-lakes/history/{path}.csv?limit={count}", cache)
    print(f"\n{lake_id}, the newest {count}")
    for row in csv.DictReader(io.StringIO(text)):
        forecast = "forecast" if row["data_type"] == "ai_forecast" else ""
        print(f"{row['date']} {value(number(row['chl'])):>8} {forecast}".rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", default="http://127.0.0.1:8080", help="address of the server (%(default)s)")
    parser.add_argument("--risk", choices=["low", "medium", "high"], help="only lakes of this risk, also where it is that of a last value")
    parser.add_argument("--count", type=int, default=10, help="lines of each table (%(default)s)")
    parser.add_argument("--history", metavar="LAKE_ID", help="print this lake's history as well")
    parser.add_argument("--cache", metavar="FOLDER", help="store answers here, and fetch only changed ones")
    args = parser.parse_args()
    if args.count < 1:
        parser.error("--count must be at least 1")
    server = args.server.rstrip("/")
    if not server.startswith(("http://", "https://")):
        parser.error(f"--server {args.server!r} does not begin with http:// or https://")
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a console without the letters of a name shows a ?
    try:
        print_status(server, args.cache, args.count, args.risk)
        if args.history:
            print_history(server, args.cache, args.history, args.count)
    except (Refused, ValueError) as e:
        sys.exit(f"lakes.py: {e}")
    except KeyError as e:
        sys.exit(f"lakes.py: {server} is no limnomap: its answer has no {e}")


if __name__ == "__main__":
    main()
