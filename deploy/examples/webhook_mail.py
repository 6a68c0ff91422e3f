"""Receives limnomap's webhooks and sends an e-mail for each event. Needs Python 3.9 and no other package.

    python3 webhook_mail.py --secret-file secret.txt --smtp mail.example.org:25 \
        --sender lakes@example.org --to duty@example.org

Run it behind a web server with HTTPS, which passes the path of the webhook on to --listen.
"""

import argparse
import base64
import collections
import email.message
import hashlib
import hmac
import http.server
import json
import smtplib
import sys
import time

MAX_BODY = 64 * 1024  # bytes; an event has about one thousand
TOLERANCE = 5 * 60  # seconds between the clocks of sender and receiver, and of the transfer


def is_genuine(secret, headers, body):
    """Reports whether a request is signed with the secret and not old: https://www.standardwebhooks.com"""
    id, sent, signatures = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not sent.isdigit() or abs(time.time() - int(sent)) > TOLERANCE:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, f"{id}.{sent}.".encode() + body, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(mac).decode()
    return any(hmac.compare_digest(expected, s) for s in signatures.split())  # two while the secret is rotated


def mail_of(event, sender, to):
    """Returns the e-mail about an event."""
    record = event["data"]
    lake = record.get("lake_name") or record.get("lake_id", "test")
    mail = email.message.EmailMessage()
    mail["From"], mail["To"] = sender, to
    mail["Subject"] = " ".join(f"{lake}: {event['type'].replace('_', ' ')}".split())  # no line break can get into a header
    lines = [f"{name}: {value}" for name, value in record.items() if not isinstance(value, dict)]
    for name in ("before", "after", "advisory", "forecast"):
        if record.get(name):
            lines.append(f"{name}: " + ", ".join(f"{k} {v}" for k, v in record[name].items() if v is not None))
    if event["type"] == "became_stale":
        lines.insert(0, "There is no current value any more. This is not an all-clear.\n")
    mail.set_content("\n".join(lines))
    return mail


class Receiver(http.server.BaseHTTPRequestHandler):
    timeout = 30  # seconds for a client to send its request
    done = collections.OrderedDict()  # the ids of the last events: limnomap sends each at least once

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > MAX_BODY:
            return self.answer(413)
        body = self.rfile.read(int(length))
        if not is_genuine(self.server.secret, self.headers, body):
            return self.answer(401)
        id = self.headers["webhook-id"]
        if id not in self.done:
            options = self.server.options
            try:
                mail = mail_of(json.loads(body), options.sender, options.to)
                host, _, port = options.smtp.partition(":")
                with smtplib.SMTP(host, int(port or 25), timeout=10) as smtp:
                    smtp.send_message(mail)
            except (OSError, smtplib.SMTPException) as error:
                print(f"no e-mail about event {id}: {error}", file=sys.stderr, flush=True)
                return self.answer(500)  # limnomap sends the event again
            print(f"sent: {mail['Subject']}", flush=True)
            self.done[id] = True
            if len(self.done) > 10_000:
                self.done.popitem(last=False)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--secret-file", required=True, help="file with the secret that limnomap hooks create printed")
    parser.add_argument("--listen", default="127.0.0.1:9000", help="HOST:PORT, %(default)s by default")
    parser.add_argument("--smtp", default="127.0.0.1:25", help="HOST:PORT of the mail server, %(default)s by default")
    parser.add_argument("--sender", required=True, help="address of the sender")
    parser.add_argument("--to", required=True, help="address of the recipient")
    options = parser.parse_args()
    host, _, port = options.listen.rpartition(":")
    server = http.server.ThreadingHTTPServer((host, int(port)), Receiver)
    server.options = options
    with open(options.secret_file) as file:
        server.secret = file.read().strip()
    print(f"listening on {server.server_address[0]}:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
