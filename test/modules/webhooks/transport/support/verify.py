"""What an integrator in Python verifies a webhook with, of the standard library alone: one JSON a line in, one answer a line out."""
import base64, hashlib, hmac, json, sys

def verify(secret, headers, body, now):
    timestamp = headers["webhook-timestamp"]
    if abs(now - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    content = f"{headers['webhook-id']}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    given = [each.split(",", 1) for each in headers["webhook-signature"].split(" ")]
    return any(version == "v1" and hmac.compare_digest(expected, signature) for version, signature in given)

for line in sys.stdin:
    post = json.loads(line)
    body = base64.b64decode(post["body"])
    if not verify(post["secret"], post["headers"], body, post["now"]):
        print("refused")
    else:
        event = json.loads(body)
        print("accepted", event.get("type") or event["event_type"])
