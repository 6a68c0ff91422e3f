"""Prints the new entries of a limnomap feed, or sends each as an e-mail. Run it from cron. Needs Python 3.9 and no other package.

    python3 feed_mail.py 'https://lakes.example.org/api/v1/events.atom?region=Bayern&min_level=2' --state seen.json \
        --smtp mail.example.org:25 --sender lakes@example.org --to duty@example.org
"""

import argparse
import email.message
import json
import os
import smtplib
import sys
import urllib.error
import urllib.request
import xml.etree.ElementTree as ElementTree

ATOM = "{http://www.w3.org/2005/Atom}"
MAX_BYTES = 4 << 20  # of a feed: one of a thousand entries has one million
MAX_SEEN = 5000


def fetch(address, etag):
    """Returns the entries of the feed, the oldest first, and its ETag; no entries if nothing is new."""
    request = urllib.request.Request(address, headers={"If-None-Match": etag} if etag else {})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read(MAX_BYTES + 1)
            if len(text) > MAX_BYTES:
                sys.exit(f"{address} is longer than {MAX_BYTES} bytes")
            feed, etag = ElementTree.fromstring(text), answer.headers.get("ETag", "")
    except urllib.error.HTTPError as error:
        if error.code != 304:
            raise
        return [], etag
    entries = [{name: entry.findtext(ATOM + name, "") for name in ("id", "title", "summary", "updated")} for entry in feed.iter(ATOM + "entry")]
    return entries[::-1], etag


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("feed", help="address of the feed")
    parser.add_argument("--state", required=True, help="file with the ids of the entries that were seen; the first run only makes it")
    parser.add_argument("--smtp", help="HOST:PORT of a mail server; without it the entries are printed")
    parser.add_argument("--sender", default="limnomap@localhost", help="address of the sender")
    parser.add_argument("--to", help="address of the recipient")
    options = parser.parse_args()

    state = {"etag": "", "seen": None}
    if os.path.exists(options.state):
        with open(options.state) as file:
            state = json.load(file)
    entries, state["etag"] = fetch(options.feed, state["etag"])
    first = state["seen"] is None
    seen = state["seen"] or []
    known = set(seen)
    for entry in entries:
        if entry["id"] in known:
            continue
        if not first:
            tell(entry, options)
        seen.append(entry["id"])
    state["seen"] = seen[-MAX_SEEN:]
    with open(options.state + ".new", "w") as file:
        json.dump(state, file)
    os.replace(options.state + ".new", options.state)


def tell(entry, options):
    """Sends an entry, or prints it."""
    if not options.smtp:
        print(f"{entry['updated']} {entry['title']}")
        return
    mail = email.message.EmailMessage()
    mail["From"], mail["To"] = options.sender, options.to
    mail["Subject"] = " ".join(entry["title"].split())
    mail.set_content(entry["summary"])
    host, _, port = options.smtp.partition(":")
    with smtplib.SMTP(host, int(port or 25), timeout=10) as smtp:
        smtp.send_message(mail)


if __name__ == "__main__":
    main()
