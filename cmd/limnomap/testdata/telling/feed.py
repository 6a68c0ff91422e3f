"""Reads a feed from the input with feedparser, and prints what it understands."""
import json
import sys
import time

import feedparser

feed = feedparser.parse(sys.stdin.buffer.read())
if feed.bozo:
    sys.exit(str(feed.bozo_exception))
print(json.dumps({"title": feed.feed.title, "entries": [
    {"id": e.id, "title": e.title, "date": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", e.updated_parsed), "link": e.link, "summary": e.summary}
    for e in feed.entries]}))
