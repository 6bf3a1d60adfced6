"""A client of the original provider's public API, with the standard library only.

Written from the provider's documents alone. It runs through the API once against a server, and compares each response
with what the documents show: status, members and their order, types, messages. The last line of its output is JSON
with the number of checks and each difference.

What the provider offers only in its dashboard, and what happens on a blockchain, is requested from whoever started the
client: a line of JSON on standard output, answered by a line on standard input.

    BASE_URL=https://api-staging.example.com API_KEY=... python3 provider_client.py
"""
import base64, hashlib, hmac, json, os, queue, re, sys, threading, time
import urllib.error, urllib.parse, urllib.request
from datetime import datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BASE = os.environ["BASE_URL"].rstrip("/") + "/api"
KEY = os.environ["API_KEY"]

# ---- The client ----------------------------------------------------------------------------------------------------


class Response:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def data(self):
        return self.body.get("data") if isinstance(self.body, dict) else None


def call(method, path, body=None, query=None, headers=None):
    url = BASE + path + ("?" + urllib.parse.urlencode(query) if query else "")
    sent = {"x-api-key": KEY, "content-type": "application/json"} if headers is None else headers
    request = urllib.request.Request(
        url, method=method, headers=sent, data=None if body is None else json.dumps(body).encode()
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return Response(answer.status, answer.headers, json.loads(answer.read()))
    except urllib.error.HTTPError as error:
        return Response(error.code, error.headers, json.loads(error.read()))


def ask_dashboard(**request):
    print(json.dumps(request), flush=True)
    return json.loads(sys.stdin.readline())


# ---- The comparison ------------------------------------------------------------------------------------------------

checks = 0
differences = []


def check(what, expected, seen):
    """Compares a value; the same difference is reported once."""
    global checks
    checks += 1
    if expected != seen and what not in [each["check"] for each in differences]:
        differences.append({"check": what, "expected": str(expected)[:300], "seen": str(seen)[:300]})


UUID = re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$").match
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$").match
AMOUNT = re.compile(r"^\d+\.\d{8}$").match
MONEY = re.compile(r"^\d+\.\d\d$").match
DECIMAL = re.compile(r"^\d+(\.\d+)?$").match
REFERENCE = re.compile(r"^[A-Z0-9]{10}$").match


def text(value):
    return isinstance(value, str)


def boolean(value):
    return isinstance(value, bool)


def integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def matches(pattern):
    return lambda value: isinstance(value, str) and pattern(value) is not None


def one_of(*values):
    return lambda value: value in values


def maybe(rule):
    return lambda value: value is None or rule(value)


def members(what, rules, value):
    """Compares the members of an object, their order and their types."""
    global checks
    if not isinstance(value, dict):
        return check(f"{what}: an object", "an object", value)
    check(f"{what}: members", sorted(rules), sorted(value))
    check(f"{what}: order of members", list(rules), [name for name in value if name in rules])
    for name, rule in rules.items():
        if name not in value:
            continue
        if isinstance(rule, dict):
            members(f"{what}.{name}", rule, value[name])
        else:
            checks += 1
            if not rule(value[name]):
                check(f"{what}.{name}", "a documented value", value[name])


def success(what, response, status, envelope):
    check(f"{what}: status", status, response.status)
    check(f"{what}: envelope", sorted(envelope), sorted(response.body))
    check(f"{what}: order of the envelope", envelope, list(response.body))
    check(f"{what}: success", "success", response.body.get("status"))
    return response.data


def field_errors(what, response, path, location, message="Validation error"):
    """Form E2: errors of express-validator."""
    check(f"{what}: status", 400, response.status)
    check(f"{what}: failed", "failed", response.body.get("status"))
    check(f"{what}: message", message, response.body.get("message"))
    errors = response.body.get("errors") or []
    check(f"{what}: names {path}", True, path in [each.get("path") for each in errors])
    for error in errors:
        check(f"{what}: members of an error", {"type", "value", "msg", "path", "location"}, set(error))
        check(f"{what}: type and location", ("field", location), (error.get("type"), error.get("location")))
        check(f"{what}: text", True, text(error.get("msg")))


E1_CODES = {
    400: ["INVALID_PARAMETER", "MISSING_REQUIRED_FIELD", "INVALID_FORMAT"],
    401: ["INVALID_TOKEN", "MISSING_TOKEN", "INVALID_CREDENTIALS"],
    404: ["RESOURCE_NOT_FOUND", "ENDPOINT_NOT_FOUND"],
}


def envelope_error(what, response, status):
    """Form E1: the general form of all errors."""
    check(f"{what}: status", status, response.status)
    body = response.body
    check(f"{what}: failed", "failed", body.get("status"))
    check(f"{what}: message", True, text(body.get("message")))
    error = body.get("error") or {}
    check(f"{what}: code", True, error.get("code") in E1_CODES[status])
    check(f"{what}: no other members", True, set(error) <= {"code", "message", "details"})


def flat_error(what, response, status, code):
    """Form E3."""
    check(f"{what}: status", status, response.status)
    check(f"{what}: form E3", ("error", code), (response.body.get("status"), response.body.get("code")))
    check(f"{what}: message", True, text(response.body.get("message")))


PAGINATION = {"total": integer, "page": integer, "limit": integer, "totalPages": integer}


def page(what, response, rules, limit=10, pagination=PAGINATION, envelope=("status", "data", "pagination")):
    rows = success(what, response, 200, list(envelope))
    for row in rows:
        rules(f"{what}: row", row) if callable(rules) else members(f"{what}: row", rules, row)
    members(f"{what}: pagination", pagination, response.body["pagination"])
    check(f"{what}: limit", limit, response.body["pagination"]["limit"])
    return rows


# ---- Customers (section 5) -----------------------------------------------------------------------------------------

NEW_ADDRESS = {
    "street1": "1 Quay Rd", "street2": "Flat 2", "city": "Lagos", "state": "LA", "postal_code": "100001", "country": "NG",
}
OLD_ADDRESS = {
    "line_1": "1 Quay Rd", "line_2": "Flat 2", "city": "Lagos", "state": "Lagos", "postal_code": "100001",
    "country": "Nigeria",
}
OLD_INDIVIDUAL = {
    "customer_type": "individual", "first_name": "Ada", "middle_name": "B", "last_name": "Obi",
    "email": "ada@x.test", "phone": "+2348000000001", "birth_date": "1991-03-02", "account_purpose": "Savings",
    "employment_status": "Employed", "expected_monthly_income": 250000, "most_recent_occupation": "Engineer",
    "source_of_funds": "Salary", "address": OLD_ADDRESS,
}
DOCUMENT = {
    "doc_type": "PROOF_OF_ADDRESS", "sub_type": "UTILITY_BILL", "doc_country": "NG",
    "doc_image": "data:image/png;base64," + base64.b64encode(b"\x89PNG").decode(),
}
NEW_INDIVIDUAL = {
    "customer_type": "individual", "first_name": "Chidi", "middle_name": "K", "last_name": "Eze",
    "email": "chidi@x.test", "phone": "+2348000000002", "birth_date": "1990-01-15",
    "account_purpose": "RECEIVE_SALARY", "employment_status": "SELF_EMPLOYED", "expected_monthly_income": 1200.5,
    "most_recent_occupation": "15124X", "source_of_funds": "SALARY", "registered_address": NEW_ADDRESS,
    "phone_country_code": "+234", "account_purpose_explanation": "Wages", "expected_monthly_payments_usd": 400,
    "acting_as_intermediary": False, "tax_identification_number": "12345678", "documents": [DOCUMENT],
}
OLD_BUSINESS = {
    "customer_type": "business", "business_name": "Kola Foods", "business_type": "Limited company",
    "business_website": "https://kola.test", "email": "office@kola.test", "phone": "+2348000000003",
    "account_purpose": "Trade", "source_of_funds": "Sales", "expected_monthly_income": 900000, "address": OLD_ADDRESS,
}
OWNER = {
    "first_name": "Bisi", "last_name": "Kola", "email": "bisi@kola.test", "phone_number": "+2348000000004",
    "date_of_birth": "1980-05-05", "relationship_establishment_date": "2015-01-01", "ownership_percentage": 60,
    "is_control_person": True, "is_signer": True, "is_beneficial_owner": True, "title": "CEO", "address": NEW_ADDRESS,
    "id_number": "A1", "nationality": "NG", "front_image": "https://kola.test/front.png",
    "supporting_documents": [DOCUMENT],
}
NEW_BUSINESS = {
    "customer_type": "business", "business_name": "Acme Ltd", "business_type": "LIMITED_LIABILITY_COMPANY",
    "business_website": "https://acme.test", "email": "office@acme.test", "phone": "+2348000000005",
    "account_purpose": "OPERATING_A_COMPANY", "source_of_funds": "BUSINESS_INCOME", "expected_monthly_income": 50000,
    "industry": "541511", "registered_address": NEW_ADDRESS, "trading_name": "Acme", "nature_of_business": "Software",
    "contact_person_email": "ceo@acme.test", "contact_person_phone": "+2348000000006",
    "estimated_annual_revenue_usd": "HUNDRED_THOUSAND_TO_MILLION", "operates_in_prohibited_countries": False,
    "is_dao": False, "registration_number": "RC1", "registration_date": "2015-01-01",
    "tax_identification_number": "87654321", "phone_country_code": "+234", "conducts_money_services": False,
    "account_purpose_explanation": "Payroll", "expected_monthly_payments_usd": 20000, "business_owners": [OWNER],
    "documents": [DOCUMENT],
}

PERSON = {"first_name": maybe(text), "middle_name": maybe(text), "last_name": maybe(text), "birth_date": maybe(matches(TIME))}
FINANCES = {
    "account_purpose": maybe(text), "employment_status": maybe(text), "expected_monthly_income": maybe(matches(MONEY)),
    "most_recent_occupation": maybe(text), "source_of_funds": maybe(text),
}
COMPANY = {"business_name": maybe(text), "business_type": maybe(text), "business_website": maybe(text)}
LOCALITY = {"city": text, "state": text, "postal_code": maybe(text), "country": text}
READ_ADDRESS = {"line_1": text, "line_2": maybe(text), **LOCALITY}


def customer(what, value, changed=False):
    """Creations and changes show either names of the address' lines, reads the older ones."""
    rules = {
        "id": matches(UUID), "customer_type": one_of("individual", "business"), "email": text, "phone": text,
        "created_at": matches(TIME), "updated_at": matches(TIME), "status": one_of("active", "closed"),
        "address": (lambda _: True) if changed else READ_ADDRESS, "personal_info": PERSON, "financial_info": FINANCES,
    }
    if value.get("customer_type") == "business":
        rules["business_info"] = COMPANY
    members(what, rules, value)
    if changed:
        names = set(value["address"])
        check(f"{what}: address", True, names >= {"street1", "street2", *LOCALITY} or names >= {"line_1", "line_2", *LOCALITY})


def run_customers():
    found = {}
    for name, path, body, changes in [
        ("the older form of an individual", "/individual-customers", OLD_INDIVIDUAL, {"phone": "+2348000000011"}),
        ("the newer form of an individual", "/individual-customers", NEW_INDIVIDUAL, {"last_name": "Ezeh"}),
        ("the older form of a business", "/business-customers", OLD_BUSINESS, {"business_type": "Partnership"}),
        ("the newer form of a business", "/business-customers", NEW_BUSINESS, {"email": "ceo@acme.test"}),
    ]:
        made = success(f"POST {path}", call("POST", path, body), 201, ["status", "data"])
        customer(f"POST {path}", made, changed=True)
        check(f"POST {path}: {name}", body["email"], made["email"])
        check(f"POST {path}: income", f"{Decimal(str(body['expected_monthly_income'])):.2f}",
              made["financial_info"]["expected_monthly_income"])
        address = body.get("address") or body["registered_address"]
        check(f"POST {path}: lines of the address", True, set(address.values()) <= set(made["address"].values()))
        changed = success(f"PUT {path}", call("PUT", f"{path}/{made['id']}", {**body, **changes}), 200, ["status", "data"])
        customer(f"PUT {path}", changed, changed=True)
        check(f"PUT {path}: the same customer", (made["id"], made["created_at"]), (changed["id"], changed["created_at"]))
        read = success("GET /customers/{id}", call("GET", f"/customers/{made['id']}"), 200, ["status", "data"])
        customer("GET /customers/{id}", read)
        found[name] = read
    # The documented day comes back an hour before midnight: its own time zone shows through.
    born = found["the newer form of an individual"]["personal_info"]["birth_date"]
    check("birth_date", "1990-01-14T23:00:00.000Z", born)

    ids = [each["id"] for each in reversed(found.values())]
    list_customers = lambda **query: page("GET /customers", call("GET", "/customers", query=query), customer,
                                          limit=int(query.get("limit", 10)))
    listed = [each["id"] for each in list_customers()]
    check("GET /customers: newest first", ids, listed)
    check("GET /customers: a page", ids[2:], [each["id"] for each in list_customers(page=2, limit=2)])
    check("GET /customers: businesses", ids[:2], [each["id"] for each in list_customers(customer_type="business")])
    check("GET /customers: search", ids[:1], [each["id"] for each in list_customers(search="Acme")])
    check("GET /customers: search by e-mail address", ids[3:], [each["id"] for each in list_customers(search="ada@x.test")])
    day = datetime.now(timezone.utc)
    iso = lambda days: (day + timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")
    dated = lambda **query: [each["id"] for each in list_customers(include_documents="true", **query)]
    check("GET /customers: dates around", ids, dated(start_date=iso(-1), end_date=iso(1)))
    check("GET /customers: dates before", [], dated(start_date=iso(-2), end_date=iso(-1)))
    return ids[3]


# ---- Payout methods (seed, section 14 and 7.3) -----------------------------------------------------------------------

BANK_METHOD = {
    "id": matches(UUID), "type": one_of("BANK"), "currency": text, "account_name": text, "account_number": text,
    "bank_name": text, "bank_code": text, "sort_code": maybe(text), "swift_code": maybe(text),
    "routing_number": maybe(text), "iban": maybe(text), "created_at": matches(TIME), "updated_at": matches(TIME),
    "customer_id": maybe(matches(UUID)),
}
WALLET_METHOD = {
    "id": matches(UUID), "type": one_of("WALLET"), "currency": text, "label": maybe(text), "wallet_address": text,
    "network": text, "created_at": matches(TIME), "updated_at": matches(TIME), "customer_id": maybe(matches(UUID)),
}
BANK = {
    "type": "BANK", "account_name": "Ada Obi", "account_number": "0690000031", "bank_name": "Access Bank",
    "currency": "NGN", "bank_code": "000014",
}
ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
WALLET = {"type": "WALLET", "wallet_address": ADDRESS, "network": "polygon", "currency": "USDC", "label": "Cold"}


def method(what, value):
    members(what, BANK_METHOD if value["type"] == "BANK" else WALLET_METHOD, value)


def run_payout_methods(customer_id):
    with_message = ["status", "data", "message"]
    made = {}
    for path, body, changes, said in [
        ("/payout/methods/banks", BANK, {"bank_name": "Zenith Bank"}, "Bank account updated successfully"),
        ("/payout/methods/wallets", WALLET, {"label": "Hot", "network": "bep20"}, "Wallet updated successfully"),
    ]:
        for owner, owned in [("Merchant", {}), ("Customer", {"customer_id": customer_id})]:
            response = call("POST", path, {**body, **owned})
            method(f"POST {path}", success(f"POST {path}", response, 201, with_message))
            check(f"POST {path}: message of {owner}", f"{owner} payout method added successfully!", response.body["message"])
            check(f"POST {path}: owner", owned.get("customer_id"), response.data["customer_id"])
            made[owner, body["type"]] = response.data["id"]
            whole = call("PUT", f"{path}/{response.data['id']}", {**body, **owned, **changes})
            method(f"PUT {path}/{{id}}", success(f"PUT {path}/{{id}}", whole, 200, with_message))
            check(f"PUT {path}/{{id}}: message", said, whole.body["message"])
            check(f"PUT {path}/{{id}}: changed", True, changes.items() <= whole.data.items())
        part = call("PUT", f"{path}/{made['Merchant', body['type']]}", changes)
        check(f"PUT {path}/{{id}}: a part of the body", 200, part.status)

    both = {**PAGINATION, "hasNextPage": boolean, "hasPreviousPage": boolean}
    for query, owner, count in [
        ({}, "Merchant", 4), ({"customer_id": customer_id}, "Customer", 2), ({"type": "BANK"}, "Merchant", 2),
        ({"currency": "USDC"}, "Merchant", 2), ({"page": 2, "limit": 3}, "Merchant", 1),
    ]:
        response = call("GET", "/payout/methods", query=query)
        rows = page("GET /payout/methods", response, method, limit=query.get("limit", 20), pagination=both,
                    envelope=("status", "data", "pagination", "message"))
        check(f"GET /payout/methods: rows of {sorted(query)}", count, len(rows))
        check("GET /payout/methods: message", f"{owner} payout methods retrieved successfully", response.body["message"])

    field_errors("POST /payout/methods/banks without an account number",
                 call("POST", "/payout/methods/banks", {**BANK, "account_number": ""}), "account_number", "body")
    field_errors("POST /payout/methods/wallets without a network",
                 call("POST", "/payout/methods/wallets", {**WALLET, "network": None}), "network", "body")
    field_errors("PUT /payout/methods/banks/{id} with a malformed id",
                 call("PUT", "/payout/methods/banks/1", BANK), "bank_id", "params")
    field_errors("PUT /payout/methods/wallets/{id} with a malformed id",
                 call("PUT", "/payout/methods/wallets/1", WALLET), "wallet_id", "params")
    unknown = "6d1f0000-0000-4000-8000-000000000000"
    missing = call("PUT", f"/payout/methods/wallets/{unknown}", WALLET)
    check("PUT /payout/methods/wallets/{id} of none", (404, "failed", "Wallet not found"),
          (missing.status, missing.body["status"], missing.body["message"]))
    missing = call("PUT", f"/payout/methods/banks/{unknown}", BANK)
    check("PUT /payout/methods/banks/{id} of none", (404, "failed"), (missing.status, missing.body["status"]))

    for (owner, _), method_id in made.items():
        owned = {"customer_id": customer_id} if owner == "Customer" else None
        if owner == "Customer":
            hidden = call("DELETE", f"/payout/methods/{method_id}")
            check("DELETE /payout/methods/{id} of another owner",
                  (404, "Payout method not found or doesn't belong to requester"), (hidden.status, hidden.body["message"]))
        deleted = call("DELETE", f"/payout/methods/{method_id}", owned)
        success("DELETE /payout/methods/{id}", deleted, 200, ["status", "message"])
        check(f"DELETE /payout/methods/{{id}}: message of {owner}", f"{owner} payout method deleted successfully",
              deleted.body["message"])


# ---- Wallets and asset codes (9.5) -----------------------------------------------------------------------------------

NETWORKS = {"USDC": ["erc20", "bep20", "solana", "polygon"], "USDT": ["erc20", "bep20", "solana", "trc20", "polygon"]}
WALLET_ADDRESS = {"id": matches(UUID), "address": text, "network": text, "created_at": matches(TIME)}


def wallet(what, value, addresses=WALLET_ADDRESS):
    members(what, {
        "id": matches(UUID), "asset_type": one_of("STABLECOIN", "FIAT"), "currency": text, "balance": matches(DECIMAL),
        "description": maybe(text), "status": one_of("active", "pending", "suspended"), "created_at": matches(TIME),
        "updated_at": matches(TIME), "customer_id": maybe(matches(UUID)), "addresses": lambda each: each is not False,
    }, value)
    if value["asset_type"] == "STABLECOIN" and addresses:
        check(f"{what}: addresses", True, isinstance(value["addresses"], list) and len(value["addresses"]) > 0)
        for address in value["addresses"]:
            members(f"{what}: address", addresses, address)


def run_wallets(customer_id):
    created = {"id": matches(UUID), "crypto_wallet_id": matches(UUID), **dict(list(WALLET_ADDRESS.items())[1:])}
    for currency, networks in NETWORKS.items():
        for network in networks:
            body = {"currency": currency, "description": f"On {network}", "network": network}
            made = success("POST /wallets", call("POST", "/wallets", body), 201, ["status", "data"])
            wallet("POST /wallets", made, created)
            check("POST /wallets: network", [network], [each["network"].lower() for each in made["addresses"]])
    owned = success("POST /wallets", call("POST", "/wallets", {
        "currency": "USDC", "description": "Savings", "network": "erc20", "customer_id": customer_id,
    }), 201, ["status", "data"])
    check("POST /wallets: customer", customer_id, owned["customer_id"])
    fiat = success("POST /wallets", call("POST", "/wallets", {"currency": "NGN", "description": "Naira"}), 201,
                   ["status", "data"])
    wallet("POST /wallets of fiat", fiat)
    check("POST /wallets of fiat: status, balance, addresses", ("pending", "0.00", []),
          (fiat["status"], fiat["balance"], fiat["addresses"]))
    read = success("GET /wallets/{id}", call("GET", f"/wallets/{owned['id']}"), 200, ["status", "data"])
    wallet("GET /wallets/{id}", read)
    rows = page("GET /wallets/{customer_id}/customer", call("GET", f"/wallets/{customer_id}/customer"),
                lambda what, each: wallet(what, each, None))
    check("GET /wallets/{customer_id}/customer: rows", [owned["id"]], [each["id"] for each in rows])

    get = lambda **query: page("GET /wallets", call("GET", "/wallets", query=query), wallet, limit=query.get("limit", 10))
    check("GET /wallets: all owners", True, {None, customer_id} == {each["customer_id"] for each in get(limit=100)})
    check("GET /wallets: of a customer", [owned["id"]], [each["id"] for each in get(customer_id=customer_id)])
    check("GET /wallets: fiat", [fiat["id"]], [each["id"] for each in get(asset_type="FIAT")])
    check("GET /wallets: by currency", {"USDT"}, {each["currency"] for each in get(currency="USDT")})
    check("GET /wallets: by status", [], get(status="suspended"))
    field_errors("POST /wallets without a currency", call("POST", "/wallets", {"description": "x"}), "currency", "body")
    field_errors("POST /wallets without a network",
                 call("POST", "/wallets", {"currency": "USDC", "description": "x"}), "network", "body")

    codes = success("GET /asset-codes", call("GET", "/asset-codes"), 200, ["status", "data"])
    for code in codes:
        members("GET /asset-codes", {
            "id": matches(UUID), "asset_type": one_of("FIAT", "STABLECOIN"), "code": text, "created_at": matches(TIME),
            "updated_at": matches(TIME), "networks": maybe(lambda value: isinstance(value, list)),
        }, code)
    check("GET /asset-codes: those of the coverage tables", True,
          {"USDC", "USDT", "NGN", "ZAR"} <= {each["code"] for each in codes})


# ---- Addresses, banks and fees (7.2, 8, 9) ---------------------------------------------------------------------------


def run_lookups():
    with_message = ["status", "data", "message"]
    valid = call("GET", "/payouts/validate-address", query={"currency": "usdc", "address": ADDRESS})
    check("GET /payouts/validate-address", {"valid": True}, success("GET /payouts/validate-address", valid, 200, with_message))
    check("GET /payouts/validate-address: message", "Address validation successful.", valid.body["message"])
    # The provider's own sample has a letter outside hexadecimal.
    loose = call("GET", "/payouts/validate-address", query={"currency": "usdt", "address": "0x9kz41923E23DcE32d1A346e96558dA89f89DD1aB"})
    check("GET /payouts/validate-address of a sample", 200, loose.status)
    wrong = call("GET", "/payouts/validate-address", query={"currency": "usdc", "address": "nowhere"})
    check("GET /payouts/validate-address of a bad address", (400, "failed"), (wrong.status, wrong.body["status"]))
    field_errors("GET /payouts/validate-address of another currency",
                 call("GET", "/payouts/validate-address", query={"currency": "btc", "address": ADDRESS}), "currency",
                 "query", "Bad Request")

    response = call("GET", "/banks", query={"currency": "NGN"})
    banks = success("GET /banks", response, 200, with_message)
    check("GET /banks: message", "Bank list retrieved successfully", response.body["message"])
    for bank in banks:
        members("GET /banks", {"bank_code": text, "bank_name": text}, bank)
    names = [each["bank_name"] for each in banks]
    check("GET /banks: sorted by name", sorted(names, key=str.lower), names)
    check("GET /banks of USD", 200, call("GET", "/banks", query={"currency": "USD"}).status)
    field_errors("GET /banks without a currency", call("GET", "/banks"), "currency", "query")
    account = {"account_number": "0690000031", "bank_code": banks[0]["bank_code"]}
    for resolved in [call("POST", "/banks/resolve", account), call("GET", "/banks/resolve", query=account)]:
        members("/banks/resolve", {"destination_institution_code": text, "account_number": text, "account_name": text},
                success("/banks/resolve", resolved, 200, with_message))
        check("/banks/resolve: message", "Bank account resolved successfully", resolved.body["message"])
        check("/banks/resolve: account", list(account.values())[::-1], list(resolved.data.values())[:2])
    field_errors("POST /banks/resolve without a bank",
                 call("POST", "/banks/resolve", {"account_number": "0690000031"}), "bank_code", "body")
    field_errors("POST /banks/resolve of a short number",
                 call("POST", "/banks/resolve", {**account, "account_number": "123"}), "account_number", "body")

    fee = {"amount": text, "currency_type": one_of("FIAT"), "from_currency": text, "fee": matches(DECIMAL),
           "amount_after_fee": matches(DECIMAL), "exchangeRate": lambda each: isinstance(each, (int, float)),
           "to_currency": text, "bank_fee": matches(DECIMAL), "market_pair": text}
    quoted = None
    for query in [
        {"amount": 50, "currency_type": "FIAT", "from_currency": "USDT", "to_currency": "NGN", "market_pair": "usdtngn"},
        {"amount": 50, "currency_type": "FIAT", "currency": "USDT", "recipient_currency": "NGN"},
    ]:
        quoted = success("GET /payouts/fees", call("GET", "/payouts/fees", query=query), 200, ["status", "data"])
        members("GET /payouts/fees", fee, quoted)
        check("GET /payouts/fees: values", ("50.00", "FIAT", "USDT", "NGN", "usdtngn"),
              tuple(quoted[name] for name in ["amount", "currency_type", "from_currency", "to_currency", "market_pair"]))
    after = (Decimal(50) - Decimal(quoted["fee"])) * Decimal(str(quoted["exchangeRate"])) - Decimal(quoted["bank_fee"])
    check("GET /payouts/fees: amount after fee", str(after.quantize(Decimal("0.01"), ROUND_HALF_UP)), quoted["amount_after_fee"])
    field_errors("GET /payouts/fees without a target",
                 call("GET", "/payouts/fees", query={"amount": 50, "currency_type": "FIAT", "from_currency": "USDT"}),
                 "to_currency", "query", "Bad Request")
    coin = call("GET", "/payouts/fees", query={"amount": 200, "from_currency": "usdt", "network": "trc20"})
    check("GET /payouts/fees of a stablecoin", 200, coin.status)


# ---- Payouts and transactions (6, 7, 14) -----------------------------------------------------------------------------

TRANSACTION = {
    "id": matches(UUID), "sender_wallet_id": maybe(matches(UUID)), "receiver_wallet_id": maybe(matches(UUID)),
    "transaction_id": matches(REFERENCE), "asset_code": text, "amount": matches(AMOUNT), "reference_id": matches(UUID),
    "status": one_of("PENDING", "PROCESSING", "COMPLETED", "FAILED", "REVERSED", "CANCELLED"),
    "created_at": matches(TIME), "updated_at": matches(TIME), "crypto_transaction_id": maybe(text),
    "network": maybe(text), "transaction_type": one_of("DEPOSIT", "PAYOUT", "INTERNAL TRANSFER"),
    "transaction_mode": one_of("CREDIT", "DEBIT"), "exchange_rate": maybe(matches(DECIMAL)),
    "withdrawal_recipient_name": maybe(text), "fee": maybe(matches(DECIMAL)), "balance": matches(AMOUNT),
    "reason": maybe(text), "customer_id": maybe(matches(UUID)), "recipient_currency": maybe(text),
    "recipient_country": maybe(text), "bank_name": maybe(text), "bank_code": maybe(text), "address": maybe(text),
    "bank_account": maybe(text),
}
CREATED = {
    **TRANSACTION, "amount_fiat": matches(DECIMAL), "fiat_reference_id": maybe(text), "narration": maybe(text),
    "transfer_type": maybe(text), "provider_transfer_type": maybe(text),
}
PAYOUT = {
    "currency": "USDC", "account_number": "0690000031", "bank_name": "Access Bank", "bank_code": "000014",
    "amount": "12.5", "recipient_name": "Ada Obi", "recipient_currency": "NGN", "recipient_country": "Nigeria",
    "payment_purpose": "GIFTS", "narration": "Thanks",
}


def run_payouts(customer_id):
    first = success("POST /payouts/banks", call("POST", "/payouts/banks", PAYOUT), 200, ["status", "data"])
    members("POST /payouts/banks", CREATED, first)
    check("POST /payouts/banks: values", {
        "asset_code": "USDC", "amount": "12.50000000", "transaction_type": "PAYOUT", "transaction_mode": "DEBIT",
        "reason": "Withdraw to 0690000031/000014", "withdrawal_recipient_name": "Ada Obi", "recipient_currency": "NGN",
        "recipient_country": "Nigeria", "bank_account": "0690000031", "customer_id": None, "narration": "Thanks",
        "receiver_wallet_id": None, "crypto_transaction_id": None, "network": None, "address": None,
    }, {name: first[name] for name in ["asset_code", "amount", "transaction_type", "transaction_mode", "reason",
        "withdrawal_recipient_name", "recipient_currency", "recipient_country", "bank_account", "customer_id",
        "narration", "receiver_wallet_id", "crypto_transaction_id", "network", "address"]})
    check("POST /payouts/banks: status", True, first["status"] in ["PENDING", "PROCESSING"])
    check("POST /payouts/banks: sender_wallet_id", None, first["sender_wallet_id"])
    check("POST /payouts/banks: exchange_rate", None, first["exchange_rate"])
    number = call("POST", "/payouts/banks", {**PAYOUT, "amount": 0.1})
    check("POST /payouts/banks with a number as the amount", (200, "0.10000000"),
          (number.status, (number.data or {}).get("amount")))
    flat_error("POST /payouts/banks without the money",
               call("POST", "/payouts/banks", {**PAYOUT, "amount": "90000000"}), 400, "INSUFFICIENT_BALANCE")
    wrong = call("POST", "/payouts/banks", {**PAYOUT, "amount": "none"})
    check("POST /payouts/banks with a wrong amount", 400, wrong.status)
    owned = success("POST /payouts/banks", call("POST", "/payouts/banks", {**PAYOUT, "customer_id": customer_id}), 200,
                    ["status", "data"])
    check("POST /payouts/banks of a customer", customer_id, owned["customer_id"])
    crypto = call("POST", "/payouts/wallets", {"currency": "USDC", "address": ADDRESS, "amount": 0.1, "network": "bep20"})
    check("POST /payouts/wallets", 200, crypto.status)
    return first, number.data, owned


def run_transactions(customer_id, first, number, owned):
    get = lambda **query: page("GET /transactions", call("GET", "/transactions", query=query), TRANSACTION,
                               limit=query.get("limit", 10))
    rows = get()
    check("GET /transactions: newest first", [each["id"] for each in (owned, number, first)], [each["id"] for each in rows[:3]])
    check("GET /transactions: kinds", {("PAYOUT", "DEBIT"), ("DEPOSIT", "CREDIT")},
          {(each["transaction_type"], each["transaction_mode"]) for each in rows})
    check("GET /transactions: codes of payouts and deposits", {("PAYOUT", "USDC"), ("DEPOSIT", "usdc")},
          {(each["transaction_type"], each["asset_code"]) for each in rows})
    today = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    for query, expected in [
        ({"customer_id": customer_id, "transaction_type": "PAYOUT"}, [owned["id"]]),
        ({"search": first["transaction_id"][2:8]}, [first["id"]]),
        ({"transaction_id": first["transaction_id"]}, [first["id"]]),
        ({"transaction_type": "payout", "transaction_mode": "debit", "currency": "USDC", "page": 2, "limit": 2}, [first["id"]]),
        ({"transaction_type": "INTERNAL TRANSFER"}, []),
        ({"status": "REVERSED"}, []),
        ({"status": "failed"}, []),
        ({"currency": "USDT"}, []),
        ({"start_date": today, "end_date": today, "limit": 1}, [owned["id"]]),
        ({"end_date": "2020-01-01"}, []),
    ]:
        check(f"GET /transactions: {sorted(query)}", expected, [each["id"] for each in get(**query)])
    check("GET /transactions: PENDING", 3, len(get(status="PENDING", transaction_type="PAYOUT")))
    deposits = get(status="COMPLETED", transaction_type="DEPOSIT")
    check("GET /transactions: deposits", 2, len(deposits))
    flat_error("GET /transactions with a wrong date", call("GET", "/transactions", query={"start_date": "soon"}), 400,
               "INVALID_DATE_FORMAT")

    base = "/customers/transactions"
    for transaction in (first, owned, *deposits):
        for key in (transaction["transaction_id"], transaction["id"]):
            one = success("by_txid", call("GET", f"{base}/by_txid/{key}"), 200, ["status", "data"])
            members("by_txid", TRANSACTION, one)
            check("by_txid: the transaction", transaction["id"], one["id"])
        several = success("by_ref_id", call("GET", f"{base}/by_ref_id/{transaction['reference_id']}"), 200, ["status", "data"])
        check("by_ref_id: the transactions", [transaction["id"]], [each["id"] for each in several])
        members("by_ref_id", TRANSACTION, several[0])
    rows = page("by_customer_id", call("GET", f"{base}/by_customer_id/{customer_id}"),
                {"merchant_id": matches(UUID), **TRANSACTION}, limit=20)
    check("by_customer_id: rows", {customer_id}, {each["customer_id"] for each in rows})
    unknown = "6d1f0000-0000-4000-8000-000000000000"
    flat_error("by_txid of none", call("GET", f"{base}/by_txid/ZZZZZZZZZZ"), 404, "TRANSACTION_NOT_FOUND")
    flat_error("by_ref_id of none", call("GET", f"{base}/by_ref_id/{unknown}"), 404, "TRANSACTIONS_NOT_FOUND")
    flat_error("by_customer_id of none", call("GET", f"{base}/by_customer_id/{unknown}"), 404, "CUSTOMER_NOT_FOUND")


# ---- Errors and headers (1, 2, 3) ------------------------------------------------------------------------------------


def run_errors():
    bearer = call("GET", "/customers", headers={"authorization": f"Bearer {KEY}"})
    check("a Bearer key", 200, bearer.status)
    envelope_error("a wrong key", call("GET", "/customers", headers={"x-api-key": "wrong"}), 401)
    envelope_error("no key", call("GET", "/customers", headers={}), 401)
    envelope_error("an unknown path", call("GET", "/nothing"), 404)
    envelope_error("an unknown customer", call("GET", "/customers/6d1f0000-0000-4000-8000-000000000000"), 404)
    envelope_error("a wrong body", call("POST", "/wallets", {}), 400)
    ok = call("GET", "/asset-codes")
    check("Content-Type", "application/json; charset=utf-8", ok.headers.get("Content-Type"))
    check("rate limit headers", True, ok.headers.get("RateLimit-Limit") is not None)


# ---- Webhooks (11) ---------------------------------------------------------------------------------------------------

received = queue.Queue()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        received.put(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def is_signed(body, secret):
    """The signature is in the body; it is over JSON.stringify of the rest of the body."""
    event = json.loads(body)
    found = re.match(r"^t=(\d+),s=([0-9a-f]{64})$", event.pop("signature", ""))
    if not found or int(found[1]) != event["timestamp"] or abs(time.time() * 1000 - int(found[1])) > 300_000:
        return False
    signed = f"{found[1]}.{json.dumps(event, separators=(',', ':'), ensure_ascii=False)}"
    expected = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, found[2])


USER = {"first_name": maybe(text), "last_name": maybe(text), "businessName": maybe(text), "role": maybe(text)}
BANK_DETAILS = {"bank_code": maybe(text), "bank_name": maybe(text), "account_number": maybe(text)}
EVENT_DATA = {
    "id": matches(UUID), "user_id": matches(UUID), "transaction_type": one_of("DEPOSIT", "PAYOUT"),
    "transaction_mode": one_of("CREDIT", "DEBIT"), "amount": matches(AMOUNT), "asset_code": one_of("USDC", "USDT"),
    "network": maybe(text), "status": one_of("PROCESSING", "COMPLETED", "FAILED"), "balance": matches(AMOUNT),
    "transaction_id": matches(REFERENCE), "crypto_transaction_id": maybe(text), "reference_id": matches(UUID),
    "sender_user": USER,
    "sender_wallet_details": {"address": maybe(text), "network": maybe(text), "currency": maybe(text), **BANK_DETAILS},
    "receiver_user": USER,
    "receiver_wallet_details": {"address": maybe(text), "network": maybe(text), "currency": maybe(text),
                                "country": maybe(text), **BANK_DETAILS},
}


def run_webhooks(secret, expected):
    """Waits until each type in `expected` has come as often as it says."""
    seen = {}
    deadline = time.time() + 60
    while any(seen.get(kind, 0) < count for kind, count in expected.items()) and time.time() < deadline:
        try:
            body = received.get(timeout=1)
        except queue.Empty:
            continue
        check("webhook: signature", True, is_signed(body, secret))
        check("webhook: a signature with another secret", False, is_signed(body, secret + "x"))
        check("webhook: a changed body", False, is_signed(body.replace(b'"amount":"', b'"amount":"9', 1), secret))
        event = json.loads(body)
        kind = event["event_type"]
        seen[kind] = seen.get(kind, 0) + 1
        members("webhook", {
            "id": lambda each: re.match(r"^evt_[0-9a-f-]{36}$", each), "timestamp": integer, "event_type": text,
            "signature": text, "data": lambda each: isinstance(each, dict),
        }, event)
        # The documents break off after these members.
        members("webhook: data", EVENT_DATA, dict(list(event["data"].items())[:len(EVENT_DATA)]))
        status = {"payout.initiated": "PROCESSING", "payout.failed": "FAILED"}.get(kind, "COMPLETED")
        check(f"webhook: status of {kind}", status, event["data"]["status"])
        if kind == "wallet.transaction.inbound":
            check("webhook: receiver of a deposit", True, event["data"]["receiver_user"]["role"] is not None)
    check("webhook: types", expected, seen)


# ---- The story -------------------------------------------------------------------------------------------------------


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    secret = ask_dashboard(do="webhook", url=url)["secret"]

    individual = run_customers()
    run_payout_methods(individual)
    run_wallets(individual)
    run_lookups()
    wallets = call("GET", "/wallets", query={"currency": "USDC", "limit": 100}).data
    for owner in (None, individual):
        wallet_id = next(each["id"] for each in wallets if each["customer_id"] == owner)
        ask_dashboard(do="deposit", wallet_id=wallet_id, amount="1000")
    first, number, owned = run_payouts(individual)
    run_transactions(individual, first, number, owned)
    ask_dashboard(do="settle", payout_id=first["id"], outcome="completed")
    ask_dashboard(do="settle", payout_id=number["id"], outcome="failed")
    for payout, status in [(first, "COMPLETED"), (number, "FAILED")]:
        settled = call("GET", f"/customers/transactions/by_txid/{payout['transaction_id']}").data
        check(f"by_txid: {status}", status, settled["status"])
    run_errors()
    run_webhooks(secret, {
        "wallet.transaction.inbound": 2, "payout.initiated": 3, "payout.completed": 1, "payout.failed": 1,
    })
    server.shutdown()
    print(json.dumps({"checks": checks, "differences": differences}), flush=True)


main()
