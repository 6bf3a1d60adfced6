"""A bank for a rail, with the standard library only; see README.md."""
import base64, hashlib, hmac, json, os, re, threading, time, urllib.request, uuid
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ.get("RAIL_SECRET", "").removeprefix("whsec_"))
if len(KEY) != 32:
    raise SystemExit("Set RAIL_SECRET (whsec_…), and REPORTS_URL to report the outcome of orders")
REPORTS_URL = os.environ.get("REPORTS_URL", "")
HOST = os.environ.get("HOST", "127.0.0.1")
PORT = int(os.environ.get("PORT", "4200"))
BOOK_FILE = os.environ.get("BOOK_FILE", "book.jsonl")
PAY_AFTER = int(os.environ.get("PAY_AFTER_MS", "2000")) / 1000

# The journal: one line per change; the last line of an order is its state.
book = {}
lock = threading.RLock()
if os.path.exists(BOOK_FILE):
    with open(BOOK_FILE) as lines:
        for line in lines:
            try:
                transfer = json.loads(line)
                book[transfer["order"]["id"]] = transfer
            except ValueError:
                pass  # A torn write at a crash: the request was not answered.
file = open(BOOK_FILE, "a")


def keep(transfer):
    """Syncs the change to disk before any response or report."""
    file.write("\n" + json.dumps(transfer))
    file.flush()
    os.fsync(file.fileno())
    book[transfer["order"]["id"]] = transfer
    return transfer


def change(transfer, **changes):
    return keep({**transfer, "at": datetime.now(timezone.utc).isoformat(), "told": False, **changes})


def rejection(order):
    """Replace this: returns a code if the order can't be paid."""
    return "LIMIT_EXCEEDED" if float(order["amount"]) > 1_000_000 else None


def pay(id):
    """Replace this: pays the order, idempotently by its id. This example only changes the state."""
    with lock:
        transfer = book[id]
        if transfer["state"] != "ACCEPTED":
            return
        transfer = change(transfer, state="COMPLETED")
    tell(transfer)


def later(seconds, work, *args):
    timer = threading.Timer(seconds, work, args)
    timer.daemon = True
    timer.start()


def tell(transfer, pause=1):
    """Reports until acknowledged, with exponential backoff. Signs each attempt with the current time, as retries may last days."""
    if not REPORTS_URL or book[transfer["order"]["id"]] is not transfer:
        return
    body = json.dumps(said_of(transfer)).encode()
    id, now = f"report_{uuid.uuid4()}", str(int(time.time()))
    headers = {"webhook-id": id, "webhook-timestamp": now, "webhook-signature": signature_of(id, now, body)}
    request = urllib.request.Request(REPORTS_URL, body, {**headers, "content-type": "application/json"})
    try:
        urllib.request.urlopen(request, timeout=10).close()
    except OSError:
        return later(pause, tell, transfer, min(2 * pause, 3600))
    with lock:
        if book[transfer["order"]["id"]] is transfer:
            keep({**transfer, "told": True})


def said_of(transfer):
    """Always includes the id: the service accepts a response that moves money only with the id of its order."""
    said = {"id": transfer["order"]["id"], **{name: transfer[name] for name in ("state", "reference", "code", "at")}}
    return {name: value for name, value in said.items() if value is not None}


def signature_of(id, now, body):
    digest = hmac.new(KEY, f"{id}.{now}.".encode() + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def is_genuine(headers, body):
    """Whether our secret signed it within five minutes. During a key rotation there are several signatures."""
    id, now, given = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not re.fullmatch(r"[0-9]{1,12}", now) or abs(time.time() - int(now)) > 300:
        return False
    expected = signature_of(id, now, body).encode()
    return any(hmac.compare_digest(expected, each.encode()) for each in given.split(" "))


def submit(order):
    """Idempotent by id: the same id with other contents is a conflict."""
    transfer = book.get(order["id"])
    if transfer and transfer["order"] != order:
        return 409, {}
    if not transfer:
        code = rejection(order)
        reference = "PY-" + str(uuid.uuid4())[:13].upper()
        state = "REJECTED" if code else "ACCEPTED"
        transfer = change({"order": order, "reference": reference}, state=state, code=code, told=True)
        if not code:
            later(PAY_AFTER, pay, order["id"])
    return 422 if transfer["state"] == "REJECTED" else 200, said_of(transfer)


def cancel(transfer):
    is_open = transfer["state"] == "ACCEPTED"
    if is_open:
        change(transfer, state="REJECTED", code="CANCELLED")
    is_cancelled = is_open or transfer["code"] == "CANCELLED"
    status, state = (200, "CANCELLED") if is_cancelled else (409, "TOO_LATE")
    return status, {"id": transfer["order"]["id"], "state": state}


# Replace this: the banks that orders can go to, by currency.
BANKS = {
    "NGN": [
        {"bank_code": "044", "bank_name": "Access Bank"},
        {"bank_code": "011", "bank_name": "First Bank of Nigeria"},
    ]
}


def resolve(account):
    """Replace this: returns the name of an account. Both calls are optional."""
    codes = [bank["bank_code"] for banks in BANKS.values() for bank in banks]
    return (200, {**account, "account_name": "ADA OBI"}) if account["bank_code"] in codes else (422, {})


def answer_about_banks(method, path, headers, body):
    if method == "POST":
        return resolve(json.loads(body)) if headers["webhook-id"].startswith("resolve_") else (401, {})
    currency = path.removeprefix("/banks/")
    return (200, {"banks": BANKS.get(currency, [])}) if headers["webhook-id"] == f"banks_{currency}" else (401, {})


def answer_to(method, path, headers, body):
    """The path is not signed, so `webhook-id` must name the request type and the order."""
    found = re.fullmatch(r"/transfers(?:/([\w-]+)(/cancel)?)?", path)
    id, cancels = found.groups() if found else (None, None)
    question = "find" if method == "GET" else "cancel" if cancels else "submit"
    if not is_genuine(headers, body):
        return 401, {}
    if path.startswith("/banks/"):
        return answer_about_banks(method, path, headers, body)
    order = json.loads(body) if question == "submit" else {"id": id}
    if not isinstance(order, dict) or headers["webhook-id"] != f"{question}_{order.get('id')}":
        return 401, {}
    with lock:
        if question == "submit":
            return submit(order)
        if id not in book:
            return 404, {}
        return cancel(book[id]) if question == "cancel" else (200, said_of(book[id]))


class Bank(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            status, said = answer_to(self.command, self.path, self.headers, body)
        except ValueError:
            status, said = 400, {}
        sent = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer((HOST, PORT), Bank)
print(f"The bank listens on {PORT} and has {len(book)} orders", flush=True)
for each in list(book.values()):
    if each["state"] == "ACCEPTED":
        later(PAY_AFTER, pay, each["order"]["id"])
    elif not each["told"]:
        later(0, tell, each)
server.serve_forever()
